"""COMPOSITION ROOT of Dagster: assembles assets, checks, jobs, schedules, sensors and resources.

Not here: reading the environment (`pipelines/settings.py`), opening stores (the caller).
"""

from collections.abc import Mapping

from dagster import Definitions, in_process_executor

from pipelines.orchestration import catalog_runs, chart_runs, jobs, resources, watchlist_runs
from pipelines.orchestration.assets import scan_steps
from pipelines.orchestration.assets.automation import automation_rules, follow_tables
from pipelines.orchestration.assets.health import surface_health
from pipelines.orchestration.assets.reports import REPORTS, database
from pipelines.orchestration.assets.tables import described, lake_tables
from pipelines.orchestration.checks import TABLE_CHECKS, confirmed_set
from pipelines.orchestration.failures import run_log
from pipelines.orchestration.runs.launched_job import read_graph
from pipelines.orchestration.runs.run_session import scan_of_run
from pipelines.orchestration.schedules import build_schedules
from warehouse.records.jobs import DISCOVERY, KEYWORD_SEARCH, SCAN

LOCATION = "sametrack"
"""Name of the code location, the same as in `workspace.yaml`."""

_SCAN_STEPS = (
    scan_steps.track,
    scan_steps.music_first_screen,
    scan_steps.author_first_screens,
    scan_steps.hashtag_first_screens,
    scan_steps.search_pages,
    scan_steps.candidate_pool,
    scan_steps.video_details,
    scan_steps.confirmed_videos,
    scan_steps.account_profiles,
    scan_steps.coverage,
    scan_steps.rankings,
    scan_steps.job_results,
)
_KEYWORD_STEPS = (
    scan_steps.search_pages,
    scan_steps.candidate_pool,
    scan_steps.video_details,
    scan_steps.job_results,
)
GRAPHS = {
    SCAN: read_graph(_SCAN_STEPS),
    KEYWORD_SEARCH: read_graph(_KEYWORD_STEPS),
    DISCOVERY: read_graph([scan_steps.discovered_videos]),
}
"""The steps of each kind of job."""


ASSETS = (
    *_SCAN_STEPS,
    scan_steps.discovered_videos,
    surface_health,
    database,
    watchlist_runs.watched_screens,
    watchlist_runs.watch_digests,
    catalog_runs.catalog_runs,
    chart_runs.chart_issues,
    chart_runs.chart_platform,
    *REPORTS,
)

JOBS = (
    jobs.scan,
    jobs.keyword_search,
    jobs.discovery,
    jobs.request_scan,
    jobs.canaries,
    jobs.publish_database,
    jobs.render_reports,
    watchlist_runs.run_watchlist,
    watchlist_runs.conclude_watchlist,
    catalog_runs.run_catalog,
    jobs.check_tables,
    jobs.maintain,
    jobs.doctor,
    chart_runs.read_chart,
    chart_runs.judge_chart,
)


def build_definitions(
    *,
    hours: Mapping[str, int] | None = None,
    chart_daily: bool = False,
    console_url: str | None = None,
    **overrides: object,
) -> Definitions:
    """Assemble the definitions; `overrides` replace resources by name (`scan`, `chart`, …).

    Args:
        hours: Interval of each schedule in hours, by name; 0 or absent leaves it stopped.
        chart_daily: Whether the chart's schedule and sensor are on.
        console_url: Public address of the console for links; None makes no links.
        overrides: Resources by name.
    """
    tables = lake_tables({key for asset in ASSETS for key in asset.keys})
    rules = automation_rules(ASSETS, hours or {}, chart_daily=chart_daily)
    return Definitions(
        assets=described(rules.applied_to([*ASSETS, *tables]), console_url=console_url),
        asset_checks=[confirmed_set, *TABLE_CHECKS],
        jobs=JOBS,
        schedules=[*build_schedules(hours or {}), chart_runs.chart_schedule(is_on=chart_daily)],
        sensors=[
            watchlist_runs.watchlists,
            catalog_runs.catalog_partitions,
            chart_runs.chart_sensor(is_on=chart_daily),
            follow_tables(),
        ],
        executor=in_process_executor,
        loggers={"console": run_log},
        resources={
            "scan": scan_of_run(GRAPHS),
            "chart": resources.ChartResource(),
            "scan_service": resources.ScanServiceResource(),
            "health": resources.HealthResource(),
            "publishing": resources.PublishingResource(),
            "reports": resources.ReportResource(),
            "reviews": resources.reviews_of_run,
            "maintenance": resources.MaintenanceResource(),
            "watches": resources.WatchlistResource(),
            "catalog": resources.CatalogResource(),
        }
        | overrides,
    )
