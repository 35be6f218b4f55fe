"""The world's own door: tracks, truth, hardness, log, clock and CPU."""

import pytest

from sandbox.server.access_log import AccessLog
from sandbox.world.ground_truth import GroundTruth

from .conftest import Sandbox

pytestmark = pytest.mark.full


def test_tracks_are_listed_with_links_prose_and_expected_counts(sandbox: Sandbox) -> None:
    tracks = sandbox.get("/_world/tracks").json()["tracks"]
    first = tracks[0]
    truth = GroundTruth(sandbox.world, first["music_id"])
    assert len(tracks) == 24
    assert first["short_link"] in first["prose"]
    assert first["title"] in first["prose"]
    assert first["expected"]["same"] == len(truth.wanted())
    assert first["expected"]["reachable"] == len(truth.reachable())
    assert {"variant", "cover", "other_same_title", "not_public"} <= set(first["expected"])
    assert "expected" not in sandbox.get("/_world/tracks?counts=0").json()["tracks"][0]
    listed = sandbox.world.music_list(sandbox.world.tracks[0].index)
    assert first["listed_count"] == len(listed)
    assert len(sandbox.get("/_world/tracks?limit=3").json()["tracks"]) == 3


def test_truth_is_told_per_work(sandbox: Sandbox) -> None:
    music_id = sandbox.world.tracks[4].music_id
    reported = sandbox.get(f"/_world/truth/{music_id}").json()
    wanted = {
        work["aweme_id"]
        for work in reported["works"]
        if work["carries_recording"] and work["is_public"]
    }
    everything = sandbox.get(f"/_world/truth/{music_id}?all=1").json()
    assert wanted == GroundTruth(sandbox.world, music_id).wanted()
    assert len(everything["works"]) == len(sandbox.world.works)
    assert {
        "speed", "semitones", "mix", "round", "in_music_list", "in_author_screen", "relation",
        "sound", "heard",
    } <= set(reported["works"][0])  # fmt: skip


def test_truth_of_an_unknown_id_is_not_found(sandbox: Sandbox) -> None:
    assert sandbox.get("/_world/truth/123").status_code == 404


def test_control_endpoint_shows_hardness_with_its_limits(sandbox: Sandbox) -> None:
    reported = sandbox.get("/_world/hardness").json()
    assert reported["cover_ratio"] >= reported["floors"]["cover_ratio"]
    assert reported["nearest_stranger"] <= reported["ceilings"]["nearest_stranger"]


def test_the_log_counts_surfaces_statuses_and_hosts(sandbox: Sandbox) -> None:
    music_id = sandbox.world.tracks[0].music_id
    for _ in range(3):
        sandbox.get(f"/web/api/v2/music/info/?music_id={music_id}")
    sandbox.get("/img/x.png", host="media.vidplat.localhost")
    sandbox.get("/nowhere/at/all", host="www.vidplat.localhost")
    summary = sandbox.get("/_world/access-log/summary").json()
    assert summary["surfaces"] == {"image": 1, "music_info": 3, "unknown": 1}
    assert summary["statuses"] == {"image 200": 1, "music_info 200": 3, "unknown 404": 1}
    assert summary["hosts"]["share.vidplat.localhost"]["requests"] == 3
    assert summary["hosts"]["share.vidplat.localhost"]["max_in_flight"] == 1
    assert set(summary["hosts"]) == {
        "media.vidplat.localhost", "share.vidplat.localhost", "www.vidplat.localhost",
    }  # fmt: skip


def test_the_log_knows_the_fastest_second_of_a_host() -> None:
    log = AccessLog()
    for at in (10.0, 10.2, 10.4, 11.1, 11.15, 13.0):
        entry = log.begin("music_info", "share", at=at)
        log.end(entry, status=200, fault=None)
    hosts = log.summary()["hosts"]
    assert hosts == {"share": {"requests": 6, "max_per_second": 4, "max_in_flight": 1}}


def test_control_endpoint_separates_server_and_rendering_cpu(sandbox: Sandbox) -> None:
    reported = sandbox.get("/_world/cpu").json()
    assert reported["server_s"] > 0
    assert reported["total_s"] == pytest.approx(reported["server_s"] + reported["rendering_s"])


def test_the_clock_stands_still_until_it_is_moved(sandbox: Sandbox) -> None:
    before = sandbox.get("/_world/clock").json()["now"]
    assert before == sandbox.world.now
    sandbox.client.post("/_world/clock", json={"advance_s": 60})
    assert sandbox.get("/_world/clock").json() == {"now": before + 60, "offset_s": 60}
    sandbox.client.post("/_world/clock", json={"advance_s": -60})
