"""Bad input to endpoints 5 and 7: a named error at once, and nothing is stored."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
MUSIC_ID = "7300000000000000001"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "missing_parameter"),
        ({"input": "https://evil.example/music/7300000000000000001"}, "invalid_music_input"),
        ({"input": "1" * 31}, "invalid_music_input"),
        ({"input": "1234"}, "invalid_music_input"),
        ({"input": "just words"}, "invalid_music_input"),
        ({"input": "https://vidplat.example/user/MS4w"}, "invalid_music_input"),
        ({"input": MUSIC_ID, "url": "12345"}, "invalid_parameter"),
        ({"input": 7300000000000000001}, "invalid_parameter"),
        ({"input": MUSIC_ID, "candidat_limit": 15}, "unknown_parameter"),
        ({"input": MUSIC_ID, "count": 0}, "invalid_parameter"),
        ({"input": MUSIC_ID, "viral_threshold": 10**25}, "invalid_parameter"),
        ({"input": MUSIC_ID, "viral_only": 1}, "invalid_parameter"),
        ({"input": "\ud800"}, "invalid_parameter"),
        ({"search_only": True}, "missing_parameter"),
        ({"keyword": "Paper Boats"}, "invalid_parameter"),
        ({"keyword": "", "search_only": True}, "invalid_parameter"),
        ({"keyword": " ", "search_only": True}, "invalid_parameter"),
        ({"keyword": "\u3000\n", "search_only": True}, "invalid_parameter"),
        ({"keyword": "a", "search_only": True, "input": MUSIC_ID}, "invalid_parameter"),
        ({"keyword": "a", "search_only": True, "music_id": MUSIC_ID}, "invalid_parameter"),
        ({"keyword": "a", "search_only": True, "url": MUSIC_ID}, "invalid_parameter"),
        ([], "invalid_parameter"),
        ("text", "invalid_parameter"),
        (None, "invalid_parameter"),
    ],
)
def test_bad_bodies_are_400_with_what_to_do(
    service: Any, client: TestClient, body: object, kind: str
) -> None:
    content = json.dumps(body).encode()
    answer = client.post(JOBS, content=content, headers={"content-type": "application/json"})
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (400, kind)
    assert error["detail"]
    assert error["hint"]
    assert service.control.jobs(limit=1) == []


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("", "missing_parameter"),
        ("music_id=1234", "invalid_music_input"),
        (f"music_id={MUSIC_ID}&cuont=3", "unknown_parameter"),
        (f"music_id={MUSIC_ID}&count=3&count=4", "invalid_parameter"),
        (f"music_id={MUSIC_ID}&count=３", "invalid_parameter"),
        (f"music_id={MUSIC_ID}&count=%2B3", "invalid_parameter"),
        (f"music_id={MUSIC_ID}&sort_by=hottest", "invalid_parameter"),
        (f"music_id={MUSIC_ID}&input={MUSIC_ID}", "unknown_parameter"),
        ("music_id=%FF%FE", "invalid_music_input"),
        ("music_id=%00", "invalid_parameter"),
    ],
)
def test_bad_queries_are_400_with_what_to_do(client: TestClient, query: str, kind: str) -> None:
    answer = client.get(f"{HOT}?{query}")
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (400, kind)


def test_a_misspelt_name_is_told_the_nearest(client: TestClient) -> None:
    answer = client.get(HOT, params={"music_id": MUSIC_ID, "candidate_limt": "20"})
    assert "`candidate_limit`" in answer.json()["data"]["error"]["hint"]
