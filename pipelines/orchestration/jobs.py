"""Named things that can be launched.

`scan` is what the worker runs; `request_scan` is how a person starts one from the orchestrator's
UI: it hands a job in at the desk, like the API and the command line do, so there is one queue.
"""

from dataclasses import asdict
from typing import Any

from dagster import (
    AssetKey,
    AssetSelection,
    Config,
    Failure,
    MetadataValue,
    OpExecutionContext,
    ResourceParam,
    TableRecord,
    define_asset_job,
    job,
    op,
)
from pydantic import Field

from pipelines.orchestration.assets.collect import CANDIDATES, SEARCH_PAGES, VIDEO_DETAILS
from pipelines.orchestration.assets.conclude import JOB_RESULTS
from pipelines.orchestration.assets.discovery import DISCOVERED
from pipelines.orchestration.assets.health import SURFACE_HEALTH
from pipelines.orchestration.assets.published_database import DATABASE
from pipelines.orchestration.assets.watchlists import WATCH_DIGESTS, WATCHED_SCREENS
from pipelines.orchestration.checks.tables import TABLE_CHECKS
from pipelines.orchestration.resources import DeskResource, UpkeepResource
from pipelines.parameters.scan import scan_parameters
from pipelines.reports.catalogue import read_catalogue

_OF_TABLES = AssetSelection.checks(*TABLE_CHECKS)


def _only(*keys: AssetKey) -> AssetSelection:
    """Assets with the checks of their own step; those of their tables have a job to themselves."""
    return AssetSelection.assets(*keys) - _OF_TABLES


scan = define_asset_job(
    "scan",
    selection=AssetSelection.groups("scan") - _OF_TABLES,
    description="One scan of one track. Started by the worker for a job of the queue.",
)


keyword_search = define_asset_job(
    "keyword_search",
    selection=_only(SEARCH_PAGES, CANDIDATES, VIDEO_DETAILS, JOB_RESULTS),
    description="One search by a song's name alone. It relates works by words, confirms nothing.",
)


discovery = define_asset_job(
    "discovery",
    selection=_only(DISCOVERED),
    description="One discovery of videos related to a track. Started by the worker.",
)


canaries = define_asset_job(
    "canaries",
    selection=_only(SURFACE_HEALTH),
    description="Ask every surface of the platform one question. Starts no scan.",
)


publish_database = define_asset_job(
    "publish_database",
    selection=_only(DATABASE),
    description="Write all marts into one DuckDB file for other tools.",
)


render_reports = define_asset_job(
    "render_reports",
    selection=_only(*(AssetKey(["reports", one.name]) for one in read_catalogue())),
    description="Make every report as a page with its tables; parameters by the launchpad.",
)


run_watchlist = define_asset_job(
    "run_watchlist",
    selection=_only(WATCHED_SCREENS),
    description="Begin a run of a watchlist: choose its partition. Without a run_id it is a new "
    "one, now; the sensor `watchlists` concludes it.",
)


conclude_watchlist = define_asset_job(
    "conclude_watchlist",
    selection=_only(WATCH_DIGESTS),
    description="Write the digest of a watchlist's run whose scans have ended.",
)


check_tables = define_asset_job(
    "check_tables",
    selection=_OF_TABLES,
    description="Look once at every table of the lake: do its rows keep the data contract?",
)


class ScanRequest(Config):
    """What to scan: a music id, a music link, a video link or prose around a link."""

    input: str
    candidate_limit: int = Field(150, ge=15, le=2000)
    count: int = Field(30, ge=1, le=500)
    refresh: bool = False


@op
def hand_in_scan(
    context: OpExecutionContext, config: ScanRequest, desk: ResourceParam[DeskResource]
) -> str:
    """Insert a job, join the equal one that waits or runs, or find the stored result."""
    given = config.model_dump(exclude={"input"})
    with desk.open() as open_desk:
        found = open_desk.ask(config.input, scan_parameters(given), origin="launchpad")
    context.add_output_metadata({"job_id": found.job.job_id, "status": found.job.status})
    return found.job.job_id


@job(description="Ask for a scan of a track; the worker runs it as the job `scan`.")
def request_scan() -> None:
    """Hand in one scan."""
    hand_in_scan()


@op
def maintain_stores(context: OpExecutionContext, upkeep: ResourceParam[UpkeepResource]) -> None:
    """Remove what is kept no longer, arrange and merge files, give the disk its space back."""
    context.add_output_metadata(asdict(upkeep.maintain(context.instance)))


@job(
    description="One round of upkeep: what is kept no longer goes, and what is kept is written so "
    "that it is found quickly. The same as `sametrack maintain`."
)
def maintain() -> None:
    """Keep all stores."""
    maintain_stores()


_SHOWN = ("name", "state", "says", "advice")


@op
def examine_machine(context: OpExecutionContext, upkeep: ResourceParam[UpkeepResource]) -> None:
    """Look at the machine, the stores and the workers; what is not fit fails the run."""
    report = upkeep.examine()
    lines = [
        TableRecord({name: str(line[name] or "") for name in _SHOWN}) for line in report["machine"]
    ]
    told: dict[str, Any] = {
        "verdict": MetadataValue.text(report["verdict"]),
        "looks": MetadataValue.table(lines),
    }
    if report["exit_code"]:
        raise Failure(report["verdict"], metadata=told)
    context.add_output_metadata(told)


@job(description="Look at this machine and its stores, as `sametrack doctor` does; ask no surface.")
def doctor() -> None:
    """Examine the machine."""
    examine_machine()
