"""COMPOSITION ROOT of Dagster: everything that the orchestrator sees is assembled here.

Reading the environment belongs to `pipelines/settings.py`, opening stores to the caller.
"""

from dagster import Definitions, in_process_executor

from pipelines import checks, jobs
from pipelines.assets import collecting, concluding
from pipelines.resources import DeskResource, ScanSlot

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
)


def build_definitions(**overrides: object) -> Definitions:
    """Assemble the definitions; `overrides` replace resources by name (`scan`, `desk`)."""
    return Definitions(
        assets=ASSETS,
        asset_checks=checks.CHECKS,
        jobs=[jobs.scan, jobs.keyword_search, jobs.request_scan],
        executor=in_process_executor,
        resources={"scan": ScanSlot(), "desk": DeskResource()} | overrides,
    )


defs = build_definitions()
