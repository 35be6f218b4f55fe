"""Named things that can be launched.

`scan` is what the worker runs; `request_scan` is how a person starts one from the orchestrator's
UI: it hands a job in at the desk, like the API and the command line do, so there is one queue.
"""

from dagster import (
    AssetSelection,
    Config,
    OpExecutionContext,
    ResourceParam,
    define_asset_job,
    job,
    op,
)
from pydantic import Field

from pipelines.assets.collecting import CANDIDATES, SEARCH_PAGES, VIDEO_DETAILS
from pipelines.assets.concluding import JOB_RESULTS
from pipelines.assets.discovering import DISCOVERED
from pipelines.assets.health import SURFACE_HEALTH
from pipelines.assets.publishing import DATABASE
from pipelines.assets.watching import WATCH_DIGESTS, WATCHED_SCREENS
from pipelines.domain.parameters import scan_parameters
from pipelines.resources import DeskResource

scan = define_asset_job(
    "scan",
    selection=AssetSelection.groups("scan"),
    description="One scan of one track. Started by the worker for a job of the queue.",
)


keyword_search = define_asset_job(
    "keyword_search",
    selection=AssetSelection.assets(SEARCH_PAGES, CANDIDATES, VIDEO_DETAILS, JOB_RESULTS),
    description="One search by a song's name alone. It relates works by words, confirms nothing.",
)


discovery = define_asset_job(
    "discovery",
    selection=AssetSelection.assets(DISCOVERED),
    description="One discovery of videos related to a track. Started by the worker.",
)


canaries = define_asset_job(
    "canaries",
    selection=AssetSelection.assets(SURFACE_HEALTH),
    description="Ask every surface of the platform one question. Starts no scan.",
)


publish_database = define_asset_job(
    "publish_database",
    selection=AssetSelection.assets(DATABASE),
    description="Write all marts into one DuckDB file for other tools.",
)


run_watchlist = define_asset_job(
    "run_watchlist",
    selection=AssetSelection.assets(WATCHED_SCREENS),
    description="Begin a run of a watchlist: choose its partition. Without a run_id it is a new "
    "one, now; the sensor `watchlists` concludes it.",
)


conclude_watchlist = define_asset_job(
    "conclude_watchlist",
    selection=AssetSelection.assets(WATCH_DIGESTS),
    description="Write the digest of a watchlist's run whose scans have ended.",
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
