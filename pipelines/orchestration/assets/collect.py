"""Assets that read the platform: track, first screens, candidates, details.

Holds only the calls and the reported metadata. Not here: reading (`pipelines/scan/collect.py`).
"""

from functools import partial

from dagster import AssetKey, MaterializeResult, ResourceParam

from pipelines.orchestration.assets.decorators import READS_PLATFORM, Result, scan_asset
from pipelines.orchestration.assets.metadata import (
    checkpoint_metadata,
    coverage_metadata,
    step_metadata,
    track_metadata,
)
from pipelines.orchestration.resources import CurrentScan
from pipelines.scan import collect, screens, search
from pipelines.scan.scan_run import ScanRun

TRACK = AssetKey(["raw", "tracks"])
MUSIC_FIRST_SCREEN = AssetKey(["raw", "music_first_screen"])
AUTHOR_FIRST_SCREENS = AssetKey(["raw", "author_first_screens"])
HASHTAG_FIRST_SCREENS = AssetKey(["raw", "hashtag_first_screens"])
SEARCH_PAGES = AssetKey(["raw", "search_pages"])
CANDIDATES = AssetKey(["marts", "candidates"])
VIDEO_DETAILS = AssetKey(["raw", "video_details"])


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
        counts = session.complete_step("music_first_screen", partial(_read_first_screen, session))
        return MaterializeResult(
            metadata=counts
            | coverage_metadata(session)
            | step_metadata(session, "music_first_screen")
        )


def _read_first_screen(session: ScanRun) -> dict[str, int]:
    new = collect.read_music_screen(session, session.music_id)
    collect.fill_pool(session)
    return {"new_videos": new, "details_read": len(collect.read_details(session))}


@scan_asset(AUTHOR_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=READS_PLATFORM)
def author_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the accounts that use the track, where re-uploads are found."""
    with scan.stage("author_first_screens") as session:
        counts = session.complete_step(
            "author_first_screens", lambda: {"new_videos": _read_authors(session)}
        )
        return MaterializeResult(
            metadata=counts
            | coverage_metadata(session)
            | step_metadata(session, "author_first_screens")
        )


def _read_authors(session: ScanRun) -> int:
    videos = session.state.videos() if session.verifies_audio else []
    return screens.read_author_screens(session, videos)


@scan_asset(HASHTAG_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=READS_PLATFORM)
def hashtag_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the hashtags that videos of the track share or that name the song."""
    with scan.stage("hashtag_first_screens") as session:
        counts = session.complete_step(
            "hashtag_first_screens", lambda: {"new_videos": _read_hashtags(session)}
        )
        return MaterializeResult(
            metadata=counts
            | coverage_metadata(session)
            | step_metadata(session, "hashtag_first_screens")
        )


def _read_hashtags(session: ScanRun) -> int:
    videos = session.state.videos() if session.verifies_audio else []
    return screens.read_hashtag_screens(session, videos)


@scan_asset(SEARCH_PAGES, deps=[TRACK], kinds=READS_PLATFORM)
def search_pages(scan: ResourceParam[CurrentScan]) -> Result:
    """Guest search results for the song's name: candidates, never confirmations."""
    with scan.stage("search_pages") as session:
        counts = session.complete_step(
            "search_pages", lambda: {"new_videos": search.read_search(session)}
        )
        return MaterializeResult(metadata=counts | coverage_metadata(session))


@scan_asset(CANDIDATES, deps=[AUTHOR_FIRST_SCREENS, HASHTAG_FIRST_SCREENS, SEARCH_PAGES])
def candidates(scan: ResourceParam[CurrentScan]) -> Result:
    """The candidate pool, with verified music ids and posts that name the song first.

    Its rows follow with `marts/confirmed_videos`, whose rounds widen the pool and decide outcomes.
    """
    with scan.stage("candidates") as session:
        counts = session.complete_step("candidates", partial(_choose, session))
        return MaterializeResult(metadata=counts | checkpoint_metadata(session))


def _choose(session: ScanRun) -> dict[str, int]:
    chosen = collect.fill_pool(session)
    return {
        "pool_size": len(session.state.pool),
        "new_candidates": len(chosen),
        "videos_seen": len(session.state.seen_ids),
    }


@scan_asset(VIDEO_DETAILS, deps=[CANDIDATES], kinds=READS_PLATFORM)
def video_details(scan: ResourceParam[CurrentScan]) -> Result:
    """Detail pages of the candidates: music id, author and the four exact counts."""
    with scan.stage("video_details") as session:
        counts = session.complete_step("video_details", partial(_read_details, session))
        return MaterializeResult(
            metadata=counts | coverage_metadata(session) | step_metadata(session, "video_details")
        )


def _read_details(session: ScanRun) -> dict[str, int]:
    read = collect.read_details(session)
    return {"details_read": len(read), "unavailable": len(session.state.unavailable)}
