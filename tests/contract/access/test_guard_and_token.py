"""What stands in front of the routes: token, size, headers, health."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import api
from warehouse.control import jobs

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
SEARCH = "/api/v1/vidplat/search/fetch_music_search"
TOKEN = "sesam-42"
VENDOR = Path(api.__file__).parent / "console" / "vendor"


@pytest.mark.parametrize(
    "headers", [{"Authorization": f"Bearer {TOKEN}"}, {"x-api-key": TOKEN}], ids=["bearer", "key"]
)
def test_a_valid_token_opens_in_either_header(service: Any, headers: dict[str, str]) -> None:
    client = service.client(own_api_token=TOKEN)
    assert client.get(f"{JOBS}/none", headers=headers).status_code == 404


@pytest.mark.parametrize("path", [f"{JOBS}/none", "/api/v1/nothing", "/api/v1/sametrack/jobs"])
@pytest.mark.parametrize("headers", [{}, {"x-api-key": "wrong"}, {"Authorization": TOKEN}])
def test_api_paths_without_a_valid_token_are_401(
    service: Any, path: str, headers: dict[str, str]
) -> None:
    answer = service.client(own_api_token=TOKEN).get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["data"]["error"]["type"] == "unauthorized"


def test_the_token_comes_before_the_body(service: Any) -> None:
    client = service.client(own_api_token=TOKEN)
    assert client.post(SEARCH, content=b"x").status_code == 401
    assert client.post(JOBS, content=b"{").status_code == 401


def test_the_token_is_in_no_answer_and_no_log(service: Any, log: list[Any]) -> None:
    client = service.client(own_api_token=TOKEN)
    for path in ("/openapi.json", "/docs", "/readyz", f"{JOBS}/none"):
        assert TOKEN not in client.get(path, headers={"x-api-key": TOKEN}).text
    assert log
    assert TOKEN not in repr(log)


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/openapi.json"])
def test_health_and_description_need_no_token(service: Any, path: str) -> None:
    assert service.client(own_api_token=TOKEN).get(path).status_code == 200


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("content", [b"x" * 70_000, chunks(70_000)], ids=["declared", "chunked"])
def test_a_body_is_at_most_64_kb(client: TestClient, content: Any) -> None:
    answer = client.post(JOBS, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["data"]["error"]["type"] == "body_too_large"


@pytest.mark.parametrize("chunk", [b"x" * 1000, b"{"], ids=["no JSON", "malformed"])
def test_protected_search_keeps_the_size_limit(client: TestClient, chunk: bytes) -> None:
    for path in (SEARCH, "/api/v1/vidplat/search/fetch_video_search_v1"):
        for size, status in ((60_000, 501), (70_000, 413)):
            declared = chunk * (size // len(chunk))
            assert client.post(path, content=declared).status_code == status
            chunked = (declared[at : at + 10_000] for at in range(0, size, 10_000))
            assert client.post(path, content=chunked).status_code == status


async def test_a_client_that_leaves_while_it_sends_is_no_mistake_of_the_service(
    service: Any, log: list[Any]
) -> None:
    sent: list[Any] = []
    parts = iter(
        [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive() -> Any:
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": JOBS,
        "raw_path": JOBS.encode(), "query_string": b"", "root_path": "", "headers": headers,
    }  # fmt: skip
    await service.app()(scope, receive, send)
    assert sent[0]["status"] == 400
    assert json.loads(sent[1]["body"])["data"]["error"]["type"] == "malformed_request"
    assert [line["event"] for line in log] == ["request"]


def test_a_line_break_at_the_end_of_a_path_opens_nothing(service: Any, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"read {hashlib.sha256(TOKEN.encode()).hexdigest()}")
    client = service.client(own_api_tokens=file)
    for path in (
        "/api/v1/vidplat/app/v3/fetch_music_hot_videos%0A?music_id=12345",
        "/api/v1/sametrack/settings%0A",
        "/metrics%0a",
    ):
        answer = client.get(path, headers={"x-api-key": TOKEN})
        assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (404, "not_found")
    assert jobs.newest(service.control, limit=1) == []


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/openapi.json", f"{JOBS}/none", "/none"])
def test_every_answer_has_the_strict_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_a_cross_site_post_changes_nothing(service: Any, client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "content-type": "application/json"}
    assert client.post(JOBS, json={"input": "12345"}, headers=headers).status_code == 403
    assert jobs.newest(service.control, limit=1) == []


def test_a_cross_site_page_cannot_start_a_scan_by_reading(service: Any, client: TestClient) -> None:
    url = "/api/v1/vidplat/app/v3/fetch_music_hot_videos?music_id=12345"
    assert client.get(url, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert jobs.newest(service.control, limit=1) == []


def test_the_host_is_never_reflected(service: Any) -> None:
    client = service.client(allowed_hosts="box.example")
    answer = client.post(JOBS, json={"input": "12345"}, headers={"host": "box.example:1"})
    assert answer.status_code == 202
    assert "box.example" not in answer.text + str(answer.headers)


def test_the_page_uses_our_own_files_only(client: TestClient) -> None:
    page = client.get("/docs").text
    assert "://" not in page
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "reference.js"):
        assert f'"/docs/{name}"' in page
        assert client.get(f"/docs/{name}").status_code == 200
    assert client.get("/docs/manifest.json").status_code == 404


def test_vendored_files_are_those_of_the_manifest() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    for name, package in manifest.items():
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (VENDOR / name).iterdir()
        }
        assert files == package["sha256"]
        assert set(package["licence_files"]) <= set(files)


def test_readiness_tells_what_is_wrong(service: Any, client: TestClient) -> None:
    assert client.get("/readyz").json() == {
        "ready": True,
        "checks": [{"name": "lake", "reason": None}],
        "surfaces": [],
    }
    service.problems["lake"] = "no space"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == [{"name": "lake", "reason": "no space"}]
