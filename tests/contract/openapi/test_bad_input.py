"""Bad input to endpoints 5 and 7: a named error at once, and nothing is stored."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.settings import ApiSettings
from warehouse.control import jobs

HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
DISCOVERY = "/api/v1/vidplat/app/v3/discover_music_related_videos"
HISTORY = "/api/v1/music/chartsrc/top500/history"
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
        ({"keyword": "a", "search_only": True, "search_keywords": "b"}, "invalid_parameter"),
        ({"keyword": "a", "search_only": True, "search_keywords": ["b"]}, "invalid_parameter"),
        ({"keyword": "a", "search_only": True, "search_enabled": False}, "invalid_parameter"),
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
    assert jobs.newest(service.control, limit=1) == []


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


@pytest.mark.parametrize(
    "parameters",
    [
        {"search_keywords": []},
        {"search_keywords": ""},
        {"search_enabled": True},
        {"verify_audio": False},
        {"verify_audio": True, "match_threshold": 0.65, "account_profile_limit": 30},
        {"account_profile_limit": 0, "count": 5},
        {"sort_by": "latest", "viral_threshold": 5, "viral_only": True},
    ],
)
def test_parameters_that_do_not_contradict_a_keyword_are_accepted(
    client: TestClient, parameters: dict[str, Any]
) -> None:
    answer = client.post(JOBS, json={"keyword": "Paper Boats", "search_only": True, **parameters})
    assert answer.status_code == 202


@pytest.mark.parametrize("number", ["15.0", "1.5e1", "150e-1"])
def test_a_whole_number_is_an_integer_in_whatever_form_json_writes_it(
    client: TestClient, number: str
) -> None:
    answer = client.post(
        JOBS,
        content=f'{{"input": "{MUSIC_ID}", "count": {number}}}',
        headers={"content-type": "application/json"},
    )
    assert (answer.status_code, answer.json()["params"]["count"]) == (202, 15)


LARGE = ["9" * 30, "-" + "9" * 30, "9" * 31, "9" * 5_000, "1e400", "-1e400", "1e30", "15.5"]


@pytest.mark.parametrize("number", LARGE, ids=lambda text: text[:6] + str(len(text)))
@pytest.mark.parametrize("name", ["count", "viral_threshold", "candidate_limit", "match_threshold"])
def test_a_number_beyond_all_limits_is_an_invalid_parameter_of_a_body(
    client: TestClient, name: str, number: str
) -> None:
    answer = client.post(
        JOBS,
        content=f'{{"input": "{MUSIC_ID}", "{name}": {number}}}',
        headers={"content-type": "application/json"},
    )
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_parameter")
    assert f"`{name}`" in error["detail"]


@pytest.mark.parametrize("number", [*LARGE, "NaN", "Infinity"], ids=lambda t: t[:6] + str(len(t)))
@pytest.mark.parametrize("name", ["count", "viral_threshold", "match_threshold"])
def test_a_number_beyond_all_limits_is_an_invalid_parameter_of_a_query(
    client: TestClient, name: str, number: str
) -> None:
    answer = client.get(HOT, params={"music_id": MUSIC_ID, name: number})
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (
        400, "invalid_parameter",
    )  # fmt: skip


JOB = f"{JOBS}/1abbaab6-7450-4fdc-abb2-046bd34603d5"


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "kind"),
    [
        ("GET", JOB, {}, 404, "job_not_found"),
        ("DELETE", JOB, {}, 404, "job_not_found"),
        ("GET", f"{HISTORY}?start_date=2019-01-01&end_date=2022-01-01", {}, 400,
         "invalid_date_range"),
        ("GET", f"{HISTORY}?start_date=2022-01-01&end_date=2022-02-01", {}, 503,
         "profile_not_chosen"),
        ("GET", HOT, {}, 400, "missing_parameter"),
        ("GET", f"{HOT}?music_id={MUSIC_ID}&count=0", {}, 400, "invalid_parameter"),
        ("GET", f"{HOT}?music_id={MUSIC_ID}", {}, 503, "profile_not_chosen"),
        ("GET", f"{HOT}?music_id=1234", {}, 400, "invalid_music_input"),
        ("GET", f"{HOT}?url=%20", {}, 400, "invalid_music_input"),
        ("GET", f"{DISCOVERY}?music_id={'1' * 31}", {}, 400, "invalid_music_input"),
        ("POST", JOBS, {"json": {"input": "1234"}}, 400, "invalid_music_input"),
        ("GET", "/api/v1/vidplat/app/v3/fetch_user_post_videos?sec_user_id=a&count=99", {}, 400,
         "invalid_parameter"),
        ("GET", "/api/v1/vidplat/app/v3/fetch_hashtag_video_list?ch_id=1", {}, 400,
         "invalid_parameter"),
        ("POST", JOBS, {"json": {"input": MUSIC_ID, "count": 0}}, 400, "invalid_parameter"),
        ("POST", JOBS, {"json": {"input": MUSIC_ID}}, 503, "profile_not_chosen"),
        ("POST", "/api/v1/vidplat/web/fetch_multi_video", {"json": ["a"]}, 422,
         "invalid_video_ids"),
        ("GET", "/api/v1/sametrack/watchlists/a/runs?limit=0", {}, 400, "invalid_parameter"),
        ("GET", "/api/v1/sametrack/watchlists", {}, 503, "profile_not_chosen"),
        ("GET", "/api/v1/sametrack/catalogs", {}, 503, "profile_not_chosen"),
    ],
)  # fmt: skip
def test_parameters_and_jobs_are_checked_before_the_profile(
    method: str, path: str, sent: dict[str, Any], status: int, kind: str
) -> None:
    app = create_app(Services(readiness=Readiness({})), settings=ApiSettings(_env_file=None))
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
    answer = client.request(method, path, **sent)
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (status, kind)
