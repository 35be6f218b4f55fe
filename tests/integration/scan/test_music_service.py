"""Scans whose first reference is the song of the platform's music service."""

from typing import Any

import pytest

from tests.stage import Stage
from warehouse.queries.results import read_result_document

SMALL: dict[str, Any] = {"candidate_limit": 30, "search_enabled": False}


def songs(stage: Stage, *, is_paid: bool) -> list[dict[str, Any]]:
    """The tracks of the world with their song's page, of songs that are paid for or free."""
    tracks: list[dict[str, Any]] = stage.world("/_world/tracks")["tracks"]
    return [track for track in tracks if track["track_id"] and track["is_paid"] is is_paid]


def evidence(stage: Stage, job_id: str) -> list[dict[str, Any]]:
    stage.engine.refresh()
    return stage.rows("select * from marts.audio_comparisons where job_id = $id", id=job_id)


@pytest.mark.parametrize("is_paid", [False, True], ids=["whole song", "preview of a paid song"])
def test_the_song_of_the_music_service_is_the_first_reference(town: Stage, is_paid: bool) -> None:
    stage, track = town, songs(town, is_paid=is_paid)[0]
    job = stage.ended(stage.ask(track["music_id"], music_id=track["music_id"], **SMALL))
    assert (job.status, job.error) == ("completed", None)

    pairs = evidence(stage, job.job_id)
    of_song = [pair for pair in pairs if pair["reference_source"] == "music_service"]
    assert {pair["reference_aweme_id"] for pair in of_song} == {track["track_id"]}
    assert any(pair["verdict"] == "confirmed" for pair in of_song)
    document = read_result_document(stage.engine, job.job_id)
    assert document is not None
    stops = {source["surface"]: source for source in document["coverage"]["sources"]}
    assert stops["service_track"]["stop_reason"] == "completed"
    assert stops["service_audio"]["stop_reason"] == "completed"
    assert document["confirmed_count"] > 0


def test_a_scan_goes_on_where_the_page_of_the_song_gives_nothing(town: Stage) -> None:
    stage, track = town, songs(town, is_paid=False)[1]
    stage.fault(surface="service_track", kind="500", times=0)
    job = stage.ended(stage.ask(track["music_id"], music_id=track["music_id"], **SMALL))
    assert (job.status, job.error) == ("completed", None)
    pairs = evidence(stage, job.job_id)
    assert pairs
    assert {pair["reference_source"] for pair in pairs} == {"platform"}
