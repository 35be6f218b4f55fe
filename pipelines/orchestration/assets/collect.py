"""Assets that read the platform: track, first screens, candidates, details.

Holds only the calls and the reported metadata. Not here: reading (`pipelines/scan/collect.py`).
"""

from dagster import AssetKey, MaterializeResult, ResourceParam

from pipelines.orchestration.assets.decorators import Result, scan_asset
from pipelines.orchestration.assets.metadata import coverage_metadata, track_metadata
from pipelines.orchestration.resources import CurrentScan
from pipelines.scan import collect, screens, search

TRACK = AssetKey(["raw", "tracks"])
MUSIC_FIRST_SCREEN = AssetKey(["raw", "music_first_screen"])
AUTHOR_FIRST_SCREENS = AssetKey(["raw", "author_first_screens"])
HASHTAG_FIRST_SCREENS = AssetKey(["raw", "hashtag_first_screens"])
SEARCH_PAGES = AssetKey(["raw", "search_pages"])
CANDIDATES = AssetKey(["marts", "candidates"])
VIDEO_DETAILS = AssetKey(["raw", "video_details"])


@scan_asset(TRACK)
def track(scan: ResourceParam[CurrentScan]) -> Result:
    """The track as the platform currently describes it."""
    with scan.stage("track") as session:
        found = collect.read_track(session)
        return MaterializeResult(metadata=track_metadata(session, found))


@scan_asset(MUSIC_FIRST_SCREEN, deps=[TRACK])
def music_first_screen(scan: ResourceParam[CurrentScan]) -> Result:
    """Videos that the platform lists under the track's own music id, with their detail pages."""
    with scan.stage("music_first_screen") as session:
        new = collect.read_music_screen(session, session.music_id)
        collect.fill_pool(session)
        details = collect.read_details(session)
        counts = {"new_videos": new, "details_read": len(details)}
        return MaterializeResult(metadata=counts | coverage_metadata(session))


@scan_asset(AUTHOR_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN])
def author_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the accounts that use the track, where re-uploads are found."""
    with scan.stage("author_first_screens") as session:
        videos = session.findings.videos() if session.verifies_audio else []
        new = screens.read_author_screens(session, videos)
        return MaterializeResult(metadata={"new_videos": new} | coverage_metadata(session))


@scan_asset(HASHTAG_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN])
def hashtag_first_screens(scan: ResourceParam[CurrentScan]) -> Result:
    """First screens of the hashtags that videos of the track share or that name the song."""
    with scan.stage("hashtag_first_screens") as session:
        videos = session.findings.videos() if session.verifies_audio else []
        new = screens.read_hashtag_screens(session, videos)
        return MaterializeResult(metadata={"new_videos": new} | coverage_metadata(session))


@scan_asset(SEARCH_PAGES, deps=[TRACK])
def search_pages(scan: ResourceParam[CurrentScan]) -> Result:
    """Guest search results for the song's name: candidates, never confirmations."""
    with scan.stage("search_pages") as session:
        new = search.read_search(session)
        return MaterializeResult(metadata={"new_videos": new} | coverage_metadata(session))


@scan_asset(CANDIDATES, deps=[AUTHOR_FIRST_SCREENS, HASHTAG_FIRST_SCREENS, SEARCH_PAGES])
def candidates(scan: ResourceParam[CurrentScan]) -> Result:
    """The candidate pool, with verified music ids and posts that name the song first."""
    with scan.stage("candidates") as session:
        chosen = collect.fill_pool(session)
        return MaterializeResult(
            metadata={
                "pool_size": len(session.findings.pool),
                "new_candidates": len(chosen),
                "videos_seen": len(session.findings.seen_ids),
            }
        )


@scan_asset(VIDEO_DETAILS, deps=[CANDIDATES])
def video_details(scan: ResourceParam[CurrentScan]) -> Result:
    """Detail pages of the candidates: music id, author and the four exact counts."""
    with scan.stage("video_details") as session:
        read = collect.read_details(session)
        counts = {"details_read": len(read), "unavailable": len(session.findings.unavailable)}
        return MaterializeResult(metadata=counts | coverage_metadata(session))
