"""Endpoints 10 and 11 over HTTP: which bodies are taken, what the answer holds."""

import json
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.lists import ManyVideos
from sandbox.mock.provider import open_world
from sandbox.world.content.tables import VideoState
from tests.scripted_reads import ReadService
from warehouse.records.errors import PageWithoutDataError

WEB = "/api/v1/vidplat/web/fetch_multi_video"
APP = "/api/v1/vidplat/app/v3/fetch_multi_video"
BOTH = pytest.mark.parametrize("path", [WEB, APP])
ID = "7300000000000000001"
REFUSED = "7300000000000000002"


@pytest.fixture(scope="module")
def open_client(stored_reads: ReadService) -> TestClient:
    return stored_reads.client()


@pytest.fixture
def client(open_client: TestClient, reads: ReadService) -> TestClient:
    return open_client


def shown(count: int) -> list[str]:
    works = open_world(11, 0.1).works
    public = (work for work in map(works.row, range(len(works))) if work.state is VideoState.PUBLIC)
    return [next(public).aweme_id for _ in range(count)]


@BOTH
def test_videos_come_in_the_order_asked_each_once(client: TestClient, path: str) -> None:
    first, second = shown(2)
    answer = client.post(path, json=[second, first, second])
    found = Envelope[ManyVideos].model_validate(answer.json())
    assert answer.status_code == 200
    assert found.params == {"aweme_ids": [second, first]}
    assert [video["aweme_id"] for video in found.data["aweme_list"]] == [second, first]
    assert all(video["statistics_complete"] for video in found.data["aweme_list"])
    assert found.data["is_demo_data"] is True


def test_unreadable_video_is_filtered_and_does_not_fail_the_request(
    client: TestClient, reads: ReadService
) -> None:
    reads.script.errors = {
        f"fetch_video {REFUSED}": PageWithoutDataError("no", surface="video_page")
    }
    answer = client.post(WEB, json=[REFUSED, *shown(1)])
    found = Envelope[ManyVideos].model_validate(answer.json()).data
    assert (answer.status_code, len(found["aweme_list"])) == (200, 1)
    assert [(one["aweme_id"], one["reason"]) for one in found["filter_list"]] == [
        (REFUSED, "upstream_page_without_data")
    ]


@BOTH
@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[", b"null", b"{}", b'"7300000000000000001"', b"[]", b"[[]]",
        b"[7300000000000000001]", b'["1234"]', b'["1234a"]', b"[null]", b"\xff\xfe",
        b'{"aweme_ids": ["7300000000000000001"]}', b'["7300000000000000001",]', b"[NaN]",
        b"[" * 5000, json.dumps(["１２３４５"]).encode(), b'["7300000000000000001"] x',
    ],
)  # fmt: skip
def test_invalid_video_id_body_is_422(client: TestClient, path: str, content: bytes) -> None:
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (422, "invalid_video_ids")
    assert error["hint"]


@pytest.mark.parametrize(("path", "most"), [(WEB, 50), (APP, 10)])
def test_the_size_is_judged_before_doubles_are_dropped(
    client: TestClient, path: str, most: int
) -> None:
    assert client.post(path, json=[ID] * (most + 1)).status_code == 422
    assert client.post(path, json=[ID] * most).status_code == 200


@BOTH
@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"headers": {"host": "evil.example"}}, 421),
        ({"headers": {"origin": "http://evil.example"}}, 403),
        ({"content": b"[" * 70_000, "headers": {"content-type": "application/json"}}, 413),
        ({"content": b"[]", "headers": {"content-type": "text/plain"}}, 415),
        ({"content": b"[]"}, 415),
    ],
)
def test_guard_runs_before_the_video_id_body_is_read(
    client: TestClient, path: str, more: dict[str, Any], status: int
) -> None:
    assert client.post(path, **more).status_code == status


@BOTH
def test_a_missing_token_comes_before_the_body(reads: ReadService, path: str) -> None:
    client = reads.client(own_api_token=SecretStr("sesam"))
    assert client.post(path, content=b"{").status_code == 401


def test_the_example_runs_as_it_stands(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for path in (WEB, APP):
        body = paths[path]["post"]["requestBody"]["content"]["application/json"]
        assert client.post(path, json=body["example"]).status_code == 200
        assert body["schema"]["type"] == "array"
