"""Assets that read the platform: track, first screens, candidates, details.

Holds only the calls and the reported metadata. Not here: reading (`pipelines/scan/collect.py`).
"""

from collections.abc import Callable
from functools import partial

from dagster import AssetKey, MaterializeResult, ResourceParam

from pipelines.orchestration.assets.decorators import READS_PLATFORM, Result, scan_asset
from pipelines.orchestration.assets.metadata import (
    ROWS,
    coverage_metadata,
    step_metadata,
    track_metadata,
)
from pipelines.orchestration.runs.current_scan import CurrentScan
from pipelines.scan import collect, search
from pipelines.scan import marts as mart_rows
from pipelines.scan.scan_run import ScanRun
from warehouse.records.videos import Video

TRACK = AssetKey(["raw", "tracks"])
MUSIC_FIRST_SCREEN = AssetKey(["marts", "music_first_screen"])
AUTHOR_FIRST_SCREENS = AssetKey(["marts", "author_first_screens"])
HASHTAG_FIRST_SCREENS = AssetKey(["marts", "hashtag_first_screens"])
SEARCH_PAGES = AssetKey(["raw", "search_pages"])
CANDIDATE_POOL = AssetKey(["marts", "candidate_pool"])
VIDEO_DETAILS = AssetKey(["marts", "video_details"])


@scan_asset(TRACK, kinds=READS_PLATFORM)
def track(scan: ResourceParam[CurrentScan]) -> Result:
    """The track as the platform currently describes it."""
    with scan.stage("track") as session:
        session.complete_step("tracks", partial(_read_track, session))
        assert session.state.track is not None, "a scan without a track fails earlier"
        return MaterializeResult(metadata=track_metadata(session, session.state.track))


def _read_track(session: ScanRun) -> dict[str, int]:
    collect.read_track(session)
    return {}


@scan_asset(MUSIC_FIRST_SCREEN, deps=[TRACK], kinds=READS_PLATFORM)
def music_first_screen(scan: ResourceParam[CurrentScan]) -> Result:
    """Videos that the platform lists under the track's own music id, with their detail pages."""
    with scan.stage("music_first_screen") as session:
        counts = session.complete_step("music_first_screen", partial(_read_music, session))
        return MaterializeResult(
            metadata=step_metadata(session, counts) | coverage_metadata(session)
        )


def _read_music(session: ScanRun) -> dict[str, int]:
    read = partial(collect.read_music_screen, session, session.music_id)
    counts = _read_screens(session, "music_first_screen", read)
    collect.begin_pool(session)
    return {**counts, "details_read": len(collect.read_details(session))}


def _read_screens(session: ScanRun, noun: str, read: Callable[[], int]) -> dict[str, int]:
    """Read lists, write what they showed, and return how many videos and rows are new."""
    before = len(session.state.sightings)
    new = read()
    rows = mart_rows.screen_rows(session.state.sightings[before:])
    session.append(noun, rows)
    return {"new_videos": new, ROWS: len(rows)}


@scan_asset(AUTHOR_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=READS_PLATFORM)
def author_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the accounts that use the track, where re-uploads are found."""
    return _first_screens(scan, "author_first_screens", collect.read_author_screens)


@scan_asset(HASHTAG_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=READS_PLATFORM)
def hashtag_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the hashtags that videos of the track share or that name the song."""
    return _first_screens(scan, "hashtag_first_screens", collect.read_hashtag_screens)


def _first_screens(
    scan: CurrentScan, step: str, read: Callable[[ScanRun, list[Video]], int]
) -> Result:
    """Read the first screens that the videos of the track lead to."""
    with scan.stage(step) as session:
        videos = session.state.videos() if session.verifies_audio else []
        counts = session.complete_step(
            step, partial(_read_screens, session, step, partial(read, session, videos))
        )
        return MaterializeResult(
            metadata=step_metadata(session, counts) | coverage_metadata(session)
        )


@scan_asset(SEARCH_PAGES, deps=[TRACK], kinds=READS_PLATFORM)
def search_pages(scan: ResourceParam[CurrentScan]) -> Result:
    """Guest search results for the song's name: candidates, never confirmations."""
    with scan.stage("search_pages") as session:
        counts = session.complete_step(
            "search_pages", lambda: {"new_videos": search.read_search(session)}
        )
        return MaterializeResult(metadata=counts | coverage_metadata(session))


@scan_asset(CANDIDATE_POOL, deps=[AUTHOR_FIRST_SCREENS, HASHTAG_FIRST_SCREENS, SEARCH_PAGES])
def candidate_pool(scan: ResourceParam[CurrentScan]) -> Result:
    """The first candidates, with verified music ids and posts that name the song first.

    Rounds of `marts/confirmed_videos` widen the pool; `marts/candidates` has what became of each.
    """
    with scan.stage("candidates") as session:
        counts = session.complete_step("candidate_pool", partial(_choose, session))
        return MaterializeResult(metadata=step_metadata(session, counts))


def _choose(session: ScanRun) -> dict[str, int]:
    collect.add_known_matches(session)
    chosen = collect.fill_pool(session)
    rows = mart_rows.pool_rows(session)
    session.append("candidate_pool", rows)
    return {
        "new_candidates": len(chosen),
        "videos_seen": len(session.state.seen_ids),
        ROWS: len(rows),
    }


@scan_asset(VIDEO_DETAILS, deps=[CANDIDATE_POOL], kinds=READS_PLATFORM)
def video_details(scan: ResourceParam[CurrentScan]) -> Result:
    """Detail pages of the candidates: music id, author and the four exact counts."""
    with scan.stage("video_details") as session:
        counts = session.complete_step("video_details", partial(_read_details, session))
        return MaterializeResult(
            metadata=step_metadata(session, counts) | coverage_metadata(session)
        )


def _read_details(session: ScanRun) -> dict[str, int]:
    read = collect.read_details(session)
    rows = mart_rows.detail_rows(session)
    session.append("video_details", rows)
    return {
        "details_read": len(read),
        "unavailable": len(session.state.unavailable),
        ROWS: len(rows),
    }
