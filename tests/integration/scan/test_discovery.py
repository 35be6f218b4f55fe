"""A discovery against the world's truth: verified matches only, every candidate with its reason."""

from typing import Any

from api.schemas.result import DiscoveryAnswer
from tests.stage import PATIENCE_S, Stage

PATH = "/api/v1/vidplat/app/v3/discover_music_related_videos"


def test_related_videos_are_verified_and_every_candidate_says_why(stage: Stage) -> None:
    stage.start_platform(seed=11, size=0.2)
    stage.start_worker()
    client = stage.start_api()
    tracks = stage.world("/_world/tracks")["tracks"]
    answers: list[dict[str, Any]] = []
    for track in tracks[:2]:
        query = {"url": track["share_link"], "author_limit": 10, "candidate_limit": 30}
        answer = client.get(PATH, params=query, timeout=PATIENCE_S)
        assert answer.status_code == 200, answer.text
        data = answer.json()["data"]
        DiscoveryAnswer.model_validate(data)
        truth = stage.world(f"/_world/truth/{track['music_id']}")["works"]
        same = {work["aweme_id"] for work in truth if work["relation"] == "same"}
        assert {video["aweme_id"] for video in data["aweme_list"]} <= same
        answers.append(data)

    candidates = [entry for data in answers for entry in data["candidates"]]
    assert all(entry["verdict"] != "pooled" for entry in candidates)
    rejected = [entry for entry in candidates if entry["verdict"] == "rejected"]
    assert rejected
    assert all(entry["reason"] for entry in rejected)
    found = {video["association_type"] for data in answers for video in data["aweme_list"]}
    assert found
    for data in answers:
        assert data["reference_works"]
        assert data["layer_counts"]["layer2_text_candidates"] == len(data["candidates"])
        assert len(data["candidates"]) <= 30
