"""A catalogue's scan takes a video that only the scan of another track has fetched."""

from collections import Counter
from typing import Any

from pipelines.catalog.reference_sounds import CatalogReferenceSounds
from pipelines.catalog.sound_matches import SoundMatches
from tests.stage import Stage
from warehouse.queries.results import read_result_document
from warehouse.records.catalog.tracks import CatalogTrack, ImportedTrack
from warehouse.records.evidence import MatchThresholds

SMALL: dict[str, Any] = {"candidate_limit": 15, "search_enabled": False}


def copies(stage: Stage, music_id: str) -> Counter[str]:
    """The other music ids of a recording, with how many public videos play it under them."""
    works = stage.world(f"/_world/truth/{music_id}")["works"]
    return Counter(
        work["music_id"]
        for work in works
        if work["music_id"] != music_id
        and work["relation"] == "same"
        and work["carries_recording"]
        and work["is_public"]
    )


def refuse_lists_of_accounts(stage: Stage) -> None:
    for surface in ("user_posts", "web_user_page"):
        stage.fault(surface=surface, kind="captcha", times=0)


def scan(stage: Stage, music_id: str, **parameters: Any) -> dict[str, Any]:
    """Scan a track; return its result."""
    job = stage.ended(stage.ask(music_id, music_id=music_id, **SMALL, **parameters))
    assert (job.status, job.error) == ("completed", None)
    stage.engine.refresh()
    document = read_result_document(stage.engine, job.job_id)
    assert document is not None
    return document


def confirmed_ids(document: dict[str, Any]) -> set[str]:
    return {video["source_music_id"] for video in document["ranked"]}


def look_up(stage: Stage, *music_ids: str) -> None:
    tracks = [
        CatalogTrack(
            given=ImportedTrack(key=f"music:{one}", input=one), position=place, music_id=one
        )
        for place, one in enumerate(music_ids)
    ]
    references = CatalogReferenceSounds(stage.engine, tracks, None)
    SoundMatches(references, None, limits=MatchThresholds()).find(lambda *_: None)


def test_the_next_scan_confirms_what_was_heard_in_the_scan_of_another_track(town: Stage) -> None:
    tracks = [track["music_id"] for track in town.world("/_world/tracks")["tracks"]]
    music_id = max(tracks, key=lambda one: len(copies(town, one)))
    refuse_lists_of_accounts(town)
    before = scan(town, music_id)
    copy = next(one for one in copies(town, music_id) if one not in confirmed_ids(before))

    town.settle()
    scan(town, copy)
    look_up(town, music_id, copy)
    refuse_lists_of_accounts(town)
    after = scan(town, music_id, refresh=True)

    assert copy in confirmed_ids(after)
    sources = {one["surface"]: one for one in after["coverage"]["sources"]}
    assert sources["catalog_matches"]["items"] > 0
    assert sources["catalog_matches"]["requests"] == 0
