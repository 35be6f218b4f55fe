"""Assets of watchlists: the checked entries of a run, and its digest.

One partition per watchlist. Scans of tracks are submitted to the scan service and run as jobs of
their own; nothing waits for them here, so a run of these assets is short. Not here: the rules and
the work (`pipelines/watchlists`).
"""

from collections import Counter

from dagster import (
    AssetExecutionContext,
    AssetKey,
    Config,
    Failure,
    MetadataValue,
    ResourceParam,
    TableColumn,
    TableRecord,
    TableSchema,
    asset,
)
from pydantic import Field

from pipelines.documents.videos import to_time
from pipelines.orchestration.assets.decorators import OWNERS, Result
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.partitions import watchlists as watchlist_partitions
from pipelines.orchestration.resources import WatchlistResource
from pipelines.watchlists.run import WatchlistRunner
from warehouse.control import watchlists
from warehouse.records.values import Document
from warehouse.records.watchlists import WatchlistRun

WATCHED_SCREENS = AssetKey(["raw", "watched_screens"])
WATCH_DIGESTS = AssetKey(["marts", "watch_digests"])
GROUP = "watching"
_COLUMNS = ("kind", "input", "title", "status", "work_count", "change_count", "error")
SCHEMA = TableSchema(columns=[TableColumn(name, "string") for name in _COLUMNS])
"""One row per entry of a digest."""


class BegunRun(Config):
    """The run to begin; by default a new one that is due now."""

    run_id: str = Field("", description="id of a run of this watchlist; empty: start a new run")


class EndedRun(Config):
    """The run to conclude; by default the open one."""

    run_id: str = Field("", description="id of a run of this watchlist; empty: the open run")


@asset(
    key=WATCHED_SCREENS,
    partitions_def=watchlist_partitions,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"delta"},
)
def watched_screens(
    context: AssetExecutionContext, config: BegunRun, watches: ResourceParam[WatchlistResource]
) -> Result:
    """First screens and profiles of a watchlist's accounts and hashtags; submits its tracks."""
    name = context.partition_key
    with reasons_as_failures(), watches.open() as watcher:
        run_id = config.run_id or watchlists.request_run(watcher.control, name, origin="launchpad")
        run = None if run_id is None else watcher.begin(run_id)
        if run is None:
            raise Failure(f"Watchlist {name} does not exist, or another process has its run")
        checks = watchlists.read_checks(watcher.control, run.run_id)
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


@asset(
    key=WATCH_DIGESTS,
    deps=[WATCHED_SCREENS],
    partitions_def=watchlist_partitions,
    group_name=GROUP,
    owners=OWNERS,
    metadata={"dagster/column_schema": SCHEMA},
    kinds={"json", "html"},
)
def watch_digests(
    context: AssetExecutionContext, config: EndedRun, watches: ResourceParam[WatchlistResource]
) -> Result:
    """Changes since the previous run: one grouped digest as JSON and HTML."""
    with reasons_as_failures(), watches.open() as watcher:
        run_id = config.run_id or _open_run(watcher, context.partition_key)
        run = None if run_id is None else watcher.conclude(run_id)
    if run is None or run.digest is None:
        raise Failure("Nothing to conclude yet: no run is open, or its scans are still running")
    return Result(metadata=_metadata(run, run.digest))


def _open_run(watcher: WatchlistRunner, name: str) -> str | None:
    """Return the open run of a watchlist that no process holds; newer ones may be skipped."""
    runs = watchlists.unheld_runs(watcher.control)
    return next((run.run_id for run in runs if run.watchlist == name), None)


def _metadata(run: WatchlistRun, digest: Document) -> dict[str, MetadataValue]:
    """Convert to metadata; text from outside is shown as text, never as markup."""
    records = [
        TableRecord({name: str(_cell(entry, name)) for name in _COLUMNS})
        for entry in digest["entries"]
    ]
    counts = {name: digest[name] for name in ("change_count", "completed_count", "failed_count")}
    return {
        "run_id": MetadataValue.text(run.run_id),
        **{name: MetadataValue.int(count) for name, count in counts.items()},
        "entries": MetadataValue.table(records=records, schema=SCHEMA),
        "page": MetadataValue.text(digest["files"]["html"]),
        "is_demo_data": MetadataValue.bool(digest["is_demo_data"]),
    }


def _cell(entry: Document, name: str) -> object:
    if name == "change_count":
        return "" if entry["changes"] is None else entry["changes"][name]
    if name == "error":
        return "" if entry["error"] is None else entry["error"]["type"]
    return "" if entry[name] is None else entry[name]
