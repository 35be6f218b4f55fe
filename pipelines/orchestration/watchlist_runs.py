"""Watchlists in Dagster: the assets of a run and its digest, their jobs, and the sensor.

One partition per watchlist. Scans of tracks are submitted to the scan service and run as jobs of
their own; nothing waits for them here, so a run of these assets is short. Not here: the rules and
the work (`pipelines/watchlists`).
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import dagster as dg
from pydantic import Field

from pipelines.clock import MachineClock
from pipelines.documents.videos import to_time
from pipelines.orchestration.assets.decorators import OWNERS, Result
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.partitions import watchlists as watchlist_partitions
from pipelines.orchestration.resources import WatchlistResource
from pipelines.orchestration.runs.reconciliation import find_ended_launches
from pipelines.watchlists.run import WatchlistRunner
from warehouse.control import watchlists as stored_watchlists
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.values import Document
from warehouse.records.watchlists import WatchlistRun

WATCHED_SCREENS = dg.AssetKey(["raw", "watched_screens"])
WATCH_DIGESTS = dg.AssetKey(["marts", "watch_digests"])
GROUP = "watching"
_COLUMNS = ("kind", "input", "title", "status", "work_count", "change_count", "error")
SCHEMA = dg.TableSchema(columns=[dg.TableColumn(name, "string") for name in _COLUMNS])
"""One row per entry of a digest."""

WATCH_SENSOR_INTERVAL_S = 20
LAUNCHED_AT_ONCE = 4
"""Launches per evaluation; each starts a process for a few seconds, the rest waits."""

WATCH_RUN_TAG = "sametrack/watch_run"


class BegunRun(dg.Config):
    """The run to begin; by default a new one that is due now."""

    run_id: str = Field("", description="id of a run of this watchlist; empty: start a new run")


class EndedRun(dg.Config):
    """The run to conclude; by default the open one."""

    run_id: str = Field("", description="id of a run of this watchlist; empty: the open run")


@dg.asset(
    key=WATCHED_SCREENS,
    partitions_def=watchlist_partitions,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"delta"},
)
def watched_screens(
    context: dg.AssetExecutionContext,
    config: BegunRun,
    watches: dg.ResourceParam[WatchlistResource],
) -> Result:
    """First screens and profiles of a watchlist's accounts and hashtags; submits its tracks."""
    name = context.partition_key
    with reasons_as_failures(), watches.open() as watcher:
        run_id = config.run_id or stored_watchlists.request_run(
            watcher.control, name, origin="launchpad"
        )
        run = None if run_id is None else watcher.begin(run_id)
        if run is None:
            raise dg.Failure(f"Watchlist {name} does not exist, or another process has its run")
        checks = stored_watchlists.read_checks(watcher.control, run.run_id)
    counts = Counter(check.status for check in checks)
    return Result(
        metadata={
            "run_id": run.run_id,
            "due_at": to_time(run.due_at) or "",
            "missed_count": run.missed_count,
            "handed_in": counts["waiting"],
            "looked_at": counts["completed"],
            "failed": counts["failed"],
        }
    )


@dg.asset(
    key=WATCH_DIGESTS,
    deps=[WATCHED_SCREENS],
    partitions_def=watchlist_partitions,
    group_name=GROUP,
    owners=OWNERS,
    metadata={"dagster/column_schema": SCHEMA},
    kinds={"json", "html"},
)
def watch_digests(
    context: dg.AssetExecutionContext,
    config: EndedRun,
    watches: dg.ResourceParam[WatchlistResource],
) -> Result:
    """Changes since the previous run: one grouped digest as JSON and HTML."""
    with reasons_as_failures(), watches.open() as watcher:
        run_id: str | None = config.run_id
        if not run_id:
            # The open run that no process holds; newer ones may be skipped.
            runs = stored_watchlists.unheld_runs(watcher.control)
            of_watchlist = (run.run_id for run in runs if run.watchlist == context.partition_key)
            run_id = next(of_watchlist, None)
        run = None if run_id is None else watcher.conclude(run_id)
    if run is None or run.digest is None:
        raise dg.Failure("Nothing to conclude yet: no run is open, or its scans are still running")
    return Result(metadata=_digest_metadata(run, run.digest))


def _digest_metadata(run: WatchlistRun, digest: Document) -> dict[str, dg.MetadataValue]:
    """Convert to metadata; text from outside is shown as text, never as markup."""
    records = []
    for entry in digest["entries"]:
        cells = {name: entry.get(name) for name in _COLUMNS}
        cells["change_count"] = entry["changes"] and entry["changes"]["change_count"]
        cells["error"] = entry["error"] and entry["error"]["type"]
        records.append(
            dg.TableRecord(
                {name: "" if value is None else str(value) for name, value in cells.items()}
            )
        )
    counts = {name: digest[name] for name in ("change_count", "completed_count", "failed_count")}
    return {
        "run_id": dg.MetadataValue.text(run.run_id),
        **{name: dg.MetadataValue.int(count) for name, count in counts.items()},
        "entries": dg.MetadataValue.table(records=records, schema=SCHEMA),
        "page": dg.MetadataValue.text(digest["files"]["html"]),
        "is_demo_data": dg.MetadataValue.bool(digest["is_demo_data"]),
    }


run_watchlist = dg.define_asset_job(
    "run_watchlist",
    selection=dg.AssetSelection.assets(WATCHED_SCREENS).without_checks(),
    description="Begin a run of a watchlist: choose its partition. Without a run_id it starts a "
    "new run; the sensor `watchlists` concludes it.",
)

conclude_watchlist = dg.define_asset_job(
    "conclude_watchlist",
    selection=dg.AssetSelection.assets(WATCH_DIGESTS).without_checks(),
    description="Write the digest of a watchlist's run whose scans have ended.",
)


@dg.sensor(
    name="watchlists",
    jobs=[run_watchlist, conclude_watchlist],
    minimum_interval_seconds=WATCH_SENSOR_INTERVAL_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Begins the runs of watchlists when they are due, and concludes those whose scans "
    "have ended.",
)
def watchlists(
    context: dg.SensorEvaluationContext, watches: dg.ResourceParam[WatchlistResource]
) -> dg.SensorResult | dg.SkipReason:
    """Claim due watchlists in the control store, once over all processes, and launch their runs."""
    try:
        with watches.open() as watcher:
            stored = stored_watchlists.read_all(watcher.control)
            watcher.take_due()
            requests = list(_requests(context.instance, watcher, MachineClock().now()))
    except ProfileNotChosenError as error:
        return dg.SkipReason(error.detail)
    names = {watchlist.plan.name for watchlist in stored}
    partitions = set(context.instance.get_dynamic_partitions(watchlist_partitions.name or ""))
    changes: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    if names - partitions:
        changes.append(watchlist_partitions.build_add_request(sorted(names - partitions)))
    if partitions - names:
        changes.append(watchlist_partitions.build_delete_request(sorted(partitions - names)))
    # Those that failed least often come first, so that a broken one does not hold up the others.
    requests.sort(key=lambda request: request[0])
    return dg.SensorResult(
        run_requests=[request for _, request in islice(requests, LAUNCHED_AT_ONCE)],
        dynamic_partitions_requests=changes,
    )


def _requests(
    instance: dg.DagsterInstance, watcher: WatchlistRunner, now: datetime
) -> Iterator[tuple[int, dg.RunRequest]]:
    """Yield the launches that need not pause, each with the number of launches that have ended."""
    open_runs = [
        *((run, conclude_watchlist.name) for run in watcher.ready()),
        *((run, run_watchlist.name) for run in watcher.not_begun()),
    ]
    for run, job_name in open_runs:
        tags = {WATCH_RUN_TAG: run.run_id}
        ended = find_ended_launches(instance, job_name, tags)
        if ended.is_pausing(now):
            continue
        is_begin = job_name == run_watchlist.name
        key = WATCHED_SCREENS if is_begin else WATCH_DIGESTS
        config = BegunRun(run_id=run.run_id) if is_begin else EndedRun(run_id=run.run_id)
        # One launch per try: a run whose process died is tried again once it is free. A launch that
        # ended before it held the run was no try, so ended launches count, too: the run would
        # otherwise stay open, and each later one be skipped.
        request = dg.RunRequest(
            run_key=f"{job_name}:{run.run_id}:{run.tries}:{ended.count}",
            job_name=job_name,
            partition_key=run.watchlist,
            run_config=dg.RunConfig(ops={"__".join(key.path): config}),
            tags=tags,
        )
        yield ended.count, request
