"""COMPOSITION ROOT of Dagster: everything that the orchestrator sees is assembled here.

Reading the environment belongs to `pipelines/settings.py`, opening stores to the caller.
"""

from dagster import Definitions, in_process_executor

from pipelines import checks, jobs
from pipelines.assets import collecting, concluding, discovering, health, publishing, watching
from pipelines.remote_scan import scan_of_run
from pipelines.resources import DeskResource, HealthResource, PublishingResource, WatchResource
from pipelines.schedules import canary_schedule, database_schedule
from pipelines.sensors import watchlists
from pipelines.settings import Settings

LOCATION = "sametrack"
"""Name of the code location, here and in `workspace.yaml`."""

ASSETS = (
    collecting.track,
    collecting.music_first_screen,
    collecting.author_first_screens,
    collecting.hashtag_first_screens,
    collecting.search_pages,
    collecting.candidates,
    collecting.video_details,
    concluding.confirmed_videos,
    concluding.account_profiles,
    concluding.coverage,
    concluding.rankings,
    concluding.job_results,
    discovering.discovered_videos,
    health.surface_health,
    publishing.database,
    watching.watched_screens,
    watching.watch_digests,
)


def build_definitions(
    *, canaries_every_h: int = 0, database_every_h: int = 0, **overrides: object
) -> Definitions:
    """Assemble the definitions; `overrides` replace resources by name (`scan`, `desk`, …).

    `canaries_every_h`, `database_every_h`: 0 leaves the schedule stopped.
    """
    return Definitions(
        assets=ASSETS,
        asset_checks=checks.CHECKS,
        jobs=[
            jobs.scan,
            jobs.keyword_search,
            jobs.discovery,
            jobs.request_scan,
            jobs.canaries,
            jobs.publish_database,
            jobs.run_watchlist,
            jobs.conclude_watchlist,
        ],
        schedules=[canary_schedule(canaries_every_h), database_schedule(database_every_h)],
        sensors=[watchlists],
        executor=in_process_executor,
        resources={
            "scan": scan_of_run,
            "desk": DeskResource(),
            "health": HealthResource(),
            "publishing": PublishingResource(),
            "watches": WatchResource(),
        }
        | overrides,
    )


_settings = Settings()
defs = build_definitions(
    canaries_every_h=_settings.canaries_every_h, database_every_h=_settings.database_every_h
)
