"""The sensor that launches the runs of due watchlists.

Not here: the rules and the work (`pipelines/watchlists`).
"""

from datetime import datetime
from itertools import islice

from dagster import (
    AddDynamicPartitionsRequest,
    DagsterInstance,
    DefaultSensorStatus,
    DeleteDynamicPartitionsRequest,
    ResourceParam,
    RunConfig,
    RunRequest,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from pipelines.clock import MachineClock
from pipelines.orchestration.assets.watchlists import (
    WATCH_DIGESTS,
    WATCHED_SCREENS,
    BegunRun,
    EndedRun,
)
from pipelines.orchestration.jobs import conclude_watchlist, run_watchlist
from pipelines.orchestration.partitions import watchlists as watchlist_partitions
from pipelines.orchestration.resources import WatchlistResource
from pipelines.orchestration.runs.repeated_launches import find_ended_launches
from pipelines.watchlists.run import WatchlistRunner
from warehouse.control.watchlists import read_all as read_watchlists
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.watchlists import WatchlistRun

WATCH_SENSOR_INTERVAL_S = 20
LAUNCHED_AT_ONCE = 4
"""Launches per evaluation; each starts a process for a few seconds, the rest waits."""

WATCH_RUN_TAG = "sametrack/watch_run"

type PartitionRequest = AddDynamicPartitionsRequest | DeleteDynamicPartitionsRequest


@sensor(
    name="watchlists",
    jobs=[run_watchlist, conclude_watchlist],
    minimum_interval_seconds=WATCH_SENSOR_INTERVAL_S,
    default_status=DefaultSensorStatus.RUNNING,
    description="Begins the runs of watchlists when they are due, and concludes those whose scans "
    "have ended.",
)
def watchlists(
    context: SensorEvaluationContext, watches: ResourceParam[WatchlistResource]
) -> SensorResult | SkipReason:
    """Claim due watchlists in the control store, once over all processes, and launch their runs."""
    try:
        with watches.open() as watcher:
            names = {kept.plan.name for kept in read_watchlists(watcher.control)}
            watcher.take_due()
            requests = _requests(context.instance, watcher, MachineClock().now())
    except ProfileNotChosenError as error:
        return SkipReason(error.detail)
    return SensorResult(
        run_requests=list(islice(requests, LAUNCHED_AT_ONCE)),
        dynamic_partitions_requests=_partitions(context, names),
    )


def _requests(
    instance: DagsterInstance, watcher: WatchlistRunner, now: datetime
) -> list[RunRequest]:
    """Request the launches that need not pause; those that failed least often come first."""
    open_runs = [
        *((run, conclude_watchlist.name) for run in watcher.ready()),
        *((run, run_watchlist.name) for run in watcher.not_begun()),
    ]
    found: list[tuple[int, RunRequest]] = []
    for run, job_name in open_runs:
        ended = find_ended_launches(instance, job_name, {WATCH_RUN_TAG: run.run_id})
        if not ended.is_pausing(now):
            found.append((ended.count, _request(run, job_name, ended.count)))
    return [request for _, request in sorted(found, key=lambda one: one[0])]


def _request(run: WatchlistRun, job_name: str, ended_count: int) -> RunRequest:
    """Request one launch per try: a run whose process died is tried again once it is free.

    A launch that ended before it held the run was no try, so ended launches count, too: the run
    would otherwise stay open, and each later one be skipped.
    """
    is_begin = job_name == run_watchlist.name
    key = WATCHED_SCREENS if is_begin else WATCH_DIGESTS
    config = BegunRun(run_id=run.run_id) if is_begin else EndedRun(run_id=run.run_id)
    return RunRequest(
        run_key=f"{job_name}:{run.run_id}:{run.tries}:{ended_count}",
        job_name=job_name,
        partition_key=run.watchlist,
        run_config=RunConfig(ops={"__".join(key.path): config}),
        tags={WATCH_RUN_TAG: run.run_id},
    )


def _partitions(context: SensorEvaluationContext, names: set[str]) -> list[PartitionRequest]:
    known = set(context.instance.get_dynamic_partitions(watchlist_partitions.name or ""))
    wanted: list[PartitionRequest] = []
    if names - known:
        wanted.append(watchlist_partitions.build_add_request(sorted(names - known)))
    if known - names:
        wanted.append(watchlist_partitions.build_delete_request(sorted(known - names)))
    return wanted
