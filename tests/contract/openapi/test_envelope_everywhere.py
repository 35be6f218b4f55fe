"""One envelope for every JSON answer under `/api/v1/`, whatever went right or wrong."""

import re
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope, ErrorData
from api.responses.errors import ERROR_SPECS
from warehouse.records.errors import RateLimitedError, SametrackError

KEYS = (
    "code", "request_id", "message", "message_zh", "time", "time_stamp", "time_zone", "docs",
    "router", "params", "data",
)  # fmt: skip
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
JSON = {"content-type": "application/json"}
CHINESE = re.compile(r"[\u4e00-\u9fff]")

FAILURES = [
    ("GET", "/api/v1/nothing", {}, 404, "not_found"),
    ("GET", f"{JOBS}/", {}, 404, "not_found"),
    ("GET", f"{HOT}/", {}, 404, "not_found"),
    ("GET", JOBS, {}, 405, "method_not_allowed"),
    ("HEAD", HOT, {}, 405, "method_not_allowed"),
    ("OPTIONS", JOBS, {}, 405, "method_not_allowed"),
    ("POST", JOBS, {"content": b"x" * 70_000, "headers": JSON}, 413, "body_too_large"),
    ("POST", JOBS, {"content": b"{}"}, 415, "unsupported_media_type"),
    ("POST", JOBS, {}, 415, "unsupported_media_type"),
    ("POST", JOBS, {"content": b"{", "headers": JSON}, 400, "malformed_json"),
    ("POST", JOBS, {"content": b"\xff\xfe", "headers": JSON}, 400, "malformed_json"),
    ("POST", JOBS, {"content": b"", "headers": JSON}, 400, "malformed_json"),
    ("POST", JOBS, {"content": b"[" * 60_000, "headers": JSON}, 400, "malformed_json"),
    ("POST", f"{JOBS}?a=b", {"content": b"{}", "headers": JSON}, 400, "unknown_parameter"),
    ("GET", f"{JOBS}/none?a=b", {}, 400, "unknown_parameter"),
    ("GET", HOT, {}, 400, "missing_parameter"),
    ("GET", HOT, {"headers": {"host": "evil.example"}}, 421, "host_not_allowed"),
    ("POST", JOBS, {"headers": {"origin": "http://evil.example"}}, 403, "cross_site_request"),
    ("GET", HOT, {"headers": {"sec-fetch-site": "cross-site"}}, 403, "cross_site_request"),
    ("GET", "/api/v1/%ed%a0%80%00%0a", {}, 404, "not_found"),
]


def envelope_of(answer: Any) -> Any:
    document = answer.json()
    assert tuple(document) == KEYS
    assert document["code"] == answer.status_code
    assert (
        document["request_id"]
        == answer.headers["x-request-id"]
        == str(UUID(document["request_id"]))
    )
    assert document["message"].isascii()
    assert CHINESE.search(document["message_zh"])
    return document


@pytest.mark.parametrize(("method", "path", "more", "status", "kind"), FAILURES)
def test_failures_come_in_the_envelope(
    client: TestClient, method: str, path: str, more: dict[str, Any], status: int, kind: str
) -> None:
    answer = client.request(method, path, **more)
    assert answer.status_code == status
    if method != "HEAD":
        document = envelope_of(answer)
        Envelope[ErrorData].model_validate(document)
        assert document["data"]["error"]["type"] == kind


def test_successes_come_in_the_envelope(client: TestClient) -> None:
    document = envelope_of(client.get("/api/v1/sametrack/jobs"))
    assert document["time"] == "2026-01-31 12:00:00"
    assert (document["time_zone"], document["time_stamp"]) == ("UTC", 1769860800)
    assert document["router"] == "/api/v1/sametrack/jobs"


def test_time_is_told_in_the_chosen_zone(service: Any) -> None:
    document = service.client(time_zone="Asia/Shanghai").get("/api/v1/sametrack/jobs").json()
    assert (document["time"], document["time_zone"]) == ("2026-01-31 20:00:00", "Asia/Shanghai")


def test_405_names_every_method_of_the_path(client: TestClient) -> None:
    watchlists = "/api/v1/sametrack/watchlists"
    for path, allowed in (
        (JOBS, "POST"),
        (HOT, "GET"),
        (f"{JOBS}/x", "DELETE, GET"),  # methods of one path, in two routes
        (watchlists, "GET, POST"),
        (f"{watchlists}/x", "DELETE, GET, PATCH"),
    ):
        assert client.put(path).headers["allow"] == allowed, path


def operations(client: TestClient) -> list[tuple[str, str, str]]:
    paths = client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), path, operation["operationId"])
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


def test_every_operation_answers_and_points_to_its_description(client: TestClient) -> None:
    """Seventeen operations are the interface's; ours live under a prefix of their own."""
    found = [entry for entry in operations(client) if entry[1].startswith("/api/v1/")]
    ours = [entry for entry in found if entry[1].startswith("/api/v1/sametrack/")]
    assert len(found) - len(ours) == 17
    for method, path, operation_id in found:
        answer = client.request(method, path.replace("{job_id}", "none"))
        document = envelope_of(answer)
        assert document["docs"].endswith(operation_id), path


@pytest.mark.parametrize("name", ["fetch_music_search", "fetch_video_search_v1"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"keyword": 1}', b"[" * 1000])
def test_protected_search_is_501_whatever_the_body_says(
    client: TestClient, name: str, content: bytes
) -> None:
    answer = client.post(f"/api/v1/vidplat/search/{name}", content=content)
    assert answer.status_code == 501
    assert envelope_of(answer)["data"]["error"]["type"] == "platform_verification_required"


class BrokenScanService:
    """A scan service that raises a given error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, _name: str) -> Any:
        raise self.error


def broken(service: Any, error: Exception) -> Any:
    service.scan_service = lambda: BrokenScanService(error)
    return service.client().get(f"{JOBS}/none")


def test_a_crash_is_a_500_that_shows_nothing_of_the_inside(service: Any) -> None:
    answer = broken(service, RuntimeError("secret /home/somebody/file"))
    document = envelope_of(answer)
    assert document["data"]["error"]["type"] == "internal_error"
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("kind", ERROR_SPECS)
def test_every_type_is_answered_with_its_status(service: Any, kind: str) -> None:
    error = SametrackError("what was wrong")
    error.type = kind  # type: ignore[misc]  # every word of the table, without a class for each
    answer = broken(service, error)
    document = envelope_of(answer)
    assert answer.status_code == ERROR_SPECS[kind].status
    assert document["data"]["error"] == {
        "type": kind,
        "detail": "what was wrong",
        "hint": ERROR_SPECS[kind].hint,
        "retry_after": None,
        "upstream": None,
    }


def test_when_to_ask_again_is_a_header_too(service: Any) -> None:
    error = RateLimitedError("slow down", surface="music_list", status=429, retry_after=1.2)
    answer = broken(service, error)
    assert answer.headers["retry-after"] == "2"
    assert answer.json()["data"]["error"]["upstream"]["surface"] == "music_list"


def test_error_without_a_profile_names_the_setting_in_its_hint(service: Any) -> None:
    service.scan_service = lambda: None
    answer = service.client().get(HOT, params={"music_id": "12345"})
    assert answer.status_code == 503
    assert "PROFILE" in envelope_of(answer)["data"]["error"]["hint"]


def test_a_request_has_an_id_of_its_own_whatever_the_client_sends(client: TestClient) -> None:
    given = "0b1f3c1e-9c57-4f0a-8d0e-2f6f1a5f7c11"
    answers = [client.get("/healthz", headers={"x-request-id": given}) for _ in range(2)]
    ids = [answer.headers.get_list("x-request-id") for answer in answers]
    assert [len(one) for one in ids] == [1, 1]
    assert len({given, *ids[0], *ids[1]}) == 3
