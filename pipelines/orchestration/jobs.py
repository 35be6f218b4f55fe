"""Dagster jobs: the named launch targets. Those of the chart, watchlists and catalogues are in
`chart_runs.py`, `watchlist_runs.py` and `catalog_runs.py`.

The worker runs `scan`; `request_scan` is for users of Dagster's UI: it submits a job to the scan
service as the API and the command line do, so that there is one queue.
"""

from dataclasses import asdict

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

from pipelines.orchestration.assets import scan_steps
from pipelines.orchestration.assets.decorators import SCAN_GROUPS, RunMetadata
from pipelines.orchestration.assets.health import SURFACE_HEALTH
from pipelines.orchestration.assets.reports import DATABASE
from pipelines.orchestration.checks import TABLE_CHECKS
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import MaintenanceResource, ScanServiceResource
from pipelines.parameters.scan import ScanParameters, check_limits, scan_parameters
from pipelines.reports.catalogue import read_catalogue

_OF_TABLES = AssetSelection.checks(*TABLE_CHECKS)


def _only(*keys: AssetKey) -> AssetSelection:
    """Select assets with the checks of their own step; table checks have a job of their own."""
    return AssetSelection.assets(*keys) - _OF_TABLES


scan = define_asset_job(
    "scan",
    selection=AssetSelection.groups(*SCAN_GROUPS).materializable() - _OF_TABLES,
    description="Scan one track. The worker starts it for a queued job.",
)


keyword_search = define_asset_job(
    "keyword_search",
    selection=_only(
        scan_steps.SEARCH_PAGES,
        scan_steps.CANDIDATE_POOL,
        scan_steps.VIDEO_DETAILS,
        scan_steps.SEARCH_RELATED,
        scan_steps.JOB_RESULTS,
    ),
    description="Search by a song's name alone. It relates videos by text and confirms nothing.",
)


discovery = define_asset_job(
    "discovery",
    selection=_only(scan_steps.DISCOVERED),
    description="Discover videos related to a track. The worker starts it for a queued job.",
)


canaries = define_asset_job(
    "canaries",
    selection=_only(SURFACE_HEALTH),
    description="Probe every surface of the platform once. Starts no scan.",
)


publish_database = define_asset_job(
    "publish_database",
    selection=_only(DATABASE),
    description="Write all marts into one DuckDB file for other tools.",
)


render_reports = define_asset_job(
    "render_reports",
    selection=_only(*(AssetKey(["reports", report.name]) for report in read_catalogue())),
    description="Render every report as a page with its tables; set parameters in the launchpad.",
)


check_tables = define_asset_job(
    "check_tables",
    selection=_OF_TABLES,
    description="Check the rows of every lake table against the data contract.",
)


DEFAULTS = ScanParameters()


class ScanRequest(Config):
    """What to scan: a music id, a music link, a video link, or text that contains a link."""

    input: str
    candidate_limit: int = DEFAULTS.candidate_limit
    count: int = DEFAULTS.count
    refresh: bool = False


@op
def hand_in_scan(
    context: OpExecutionContext,
    config: ScanRequest,
    scan_service: ResourceParam[ScanServiceResource],
) -> str:
    """Create a job, join an equal open one, or find a stored result."""
    parameters = config.model_dump(exclude={"input"})
    with reasons_as_failures(), scan_service.open() as service:
        check_limits(parameters)
        job = service.ask(config.input, scan_parameters(parameters), origin="launchpad").job
    context.add_output_metadata({"job_id": job.job_id, "status": job.status})
    return job.job_id


@job(description="Request a scan of a track; the worker runs it as the job `scan`.")
def request_scan() -> None:
    """Submit one scan."""
    hand_in_scan()


@op
def maintain_stores(
    context: OpExecutionContext, maintenance: ResourceParam[MaintenanceResource]
) -> None:
    """Delete expired data, sort and compact files, free disk space."""
    with reasons_as_failures():
        report = maintenance.maintain(context.instance)
    context.add_output_metadata(asdict(report))


@job(
    description="Run maintenance once: delete expired data, sort and compact files. The same as "
    "`sametrack maintain`."
)
def maintain() -> None:
    """Maintain all stores."""
    maintain_stores()


@op
def examine_machine(
    context: OpExecutionContext, maintenance: ResourceParam[MaintenanceResource]
) -> None:
    """Check the machine, the stores and the workers; a failed check fails the run."""
    with reasons_as_failures():
        report = maintenance.examine()
    columns = ("name", "state", "says", "advice")
    lines = [
        TableRecord({name: str(line[name] or "") for name in columns}) for line in report["machine"]
    ]
    metadata: RunMetadata = {
        "verdict": MetadataValue.text(report["verdict"]),
        "looks": MetadataValue.table(lines),
    }
    if report["exit_code"]:
        raise Failure(report["verdict"], metadata=metadata)
    context.add_output_metadata(metadata)


@job(description="Check this machine and its stores like `sametrack doctor`, without requests.")
def doctor() -> None:
    """Examine the machine."""
    examine_machine()
