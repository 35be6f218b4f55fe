"""Which Host and which Origin may ask for work: the whole service, and what a page could send."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Scope

from api.responses.errors import error_spec
from api.server.middleware import Guard
from warehouse.control import jobs
from warehouse.records.errors import SametrackError

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
OWN = "127.0.0.1:8780"
RAW = {b"host": OWN.encode(), b"content-type": b"application/json"}

SERVED = [
    "127.0.0.1", "127.0.0.1:8780", "127.0.0.1:1", "localhost", "LOCALHOST", "LocalHost:8780",
    "localhost.", "localhost.:8780", "[::1]", "[::1]:8780", "box.example", "BOX.example:80",
    "box.example.", "127.0.0.1:65535",
]  # fmt: skip
FOREIGN = [
    "evil.example", "evil.example:8780", "localhost.evil.example", "box.example.evil.example",
    "evilbox.example", "x.box.example", "127.0.0.1.evil.example", "127.0.0.1.nip.example",
    "127.0.0.2", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
    "017700000001", "127.0.0.01", "0.0.0.0", "0", "[::]", "::1", "[::1", "::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1%lo]", "[fe80::1]", "user@localhost",
    "user:word@127.0.0.1", "localhost@evil.example", "localhost:80@evil.example", "localhost:",
    "localhost:0x50", "localhost:99999", "localhost:-1", "localhost:80:80", "localhost:8 0",
    "localhost..", ".localhost", "..", ".", "", " ", "localhost/", "localhost?", "localhost#",
    "localhost\\", "localhost,evil.example", "localhost evil.example", "localhost%00",
    "localhost%2eevil.example", "xn--lcalhost-94a", "http://localhost", "169.254.169.254",
    "192.168.0.1:8780", "*", "null", "localhost\t", "_localhost",
]  # fmt: skip
OWN_ORIGINS = [f"http://{OWN}", f"https://{OWN}", f"HTTP://{OWN}"]
FOREIGN_ORIGINS = [
    "null", "", "http://evil.example", "https://evil.example", "http://localhost:8780",
    "http://127.0.0.1", "http://127.0.0.1:8781", "http://127.0.0.1:87800", f"http://{OWN}.",
    f"http://{OWN}.evil.example", f"http://{OWN}@evil.example", f"http://evil.example@{OWN}",
    f"http://{OWN}/", f"http://{OWN}/x", f"http://{OWN}?x", f"http://{OWN}#x", f"ftp://{OWN}",
    f"file://{OWN}", f"ws://{OWN}", f"//{OWN}", OWN, "http://[::1]:8780", "http://[::1",
    "http://2130706433:8780", "http://0x7f.1:8780", "http://127.1:8780", f"http://{OWN} ,x",
    f"http://{OWN}, http://evil.example", "http://127.0.0.1:8780\\@evil.example",
    f"http://user:word@{OWN}", "javascript:alert(1)", "about:blank", "data:,x",
    "chrome-extension://abcdef", "http://evil.example\uff0f127.0.0.1:8780",
]  # fmt: skip


@pytest.fixture
def boxed(service: Any) -> TestClient:
    found: TestClient = service.client(allowed_hosts="box.example")
    return found


def test_guard_matrix_has_sixty_hosts_and_origins() -> None:
    assert len(SERVED) + len(FOREIGN) + len(OWN_ORIGINS) + len(FOREIGN_ORIGINS) >= 60


def test_our_own_names_are_served(service: Any, boxed: TestClient) -> None:
    for number, host in enumerate(SERVED):
        answer = boxed.post(JOBS, json={"input": f"1234{number}"}, headers={"host": host})
        assert answer.status_code == 202, host
    assert len(jobs.newest(service.control, limit=100)) == len(SERVED)


@pytest.mark.parametrize("path", [JOBS, "/healthz", "/metrics"])
def test_foreign_hosts_are_refused_with_421(service: Any, boxed: TestClient, path: str) -> None:
    for host in FOREIGN:
        answer = boxed.post(path, json={"input": "12345"}, headers={b"host": host.encode()})
        assert answer.status_code == 421, host
        assert answer.json()["data"]["error"]["type"] == "host_not_allowed"
    assert jobs.newest(service.control, limit=1) == []


async def test_a_name_that_was_served_opens_nothing_elsewhere() -> None:
    guard = Guard(
        PlainTextResponse("in"), allowed_hosts=["localhost"], reject=refuse, private_paths=("/",)
    )
    own = (b"host", b"localhost")
    assert await status(guard, [own]) == 200
    for headers in (
        [],
        [(b"origin", b"localhost")],
        [(b"sec-fetch-site", b"localhost")],
        [own, own],
        [(b"host", b"evil.example"), own],
    ):
        assert await status(guard, headers) == 421, headers


def refuse(_scope: Scope, error: SametrackError) -> Response:
    return PlainTextResponse(error.type, status_code=error_spec(error.type).status)


async def status(app: ASGIApp, headers: list[tuple[bytes, bytes]]) -> int:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    await app({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive, send)
    return int(sent[0]["status"])


def test_our_own_pages_may_ask(client: TestClient) -> None:
    for origin in OWN_ORIGINS:
        headers = {"host": OWN, "origin": origin, "sec-fetch-site": "same-origin"}
        answer = client.post(JOBS, json={"input": "12345"}, headers=headers)
        assert answer.status_code == 202, origin


def test_pages_of_others_may_not(service: Any, client: TestClient) -> None:
    for origin in FOREIGN_ORIGINS:
        headers = {**RAW, b"origin": origin.encode()}
        answer = client.post(JOBS, content=b'{"input": "12345"}', headers=headers)
        assert answer.status_code == 403, origin
        assert answer.json()["data"]["error"]["type"] == "cross_site_request"
    assert jobs.newest(service.control, limit=1) == []


def test_pages_of_others_start_nothing_by_a_read_either(service: Any, client: TestClient) -> None:
    app = "/api/v1/vidplat/app/v3"
    reads = (
        f"{app}/fetch_music_hot_videos?music_id=12345",
        f"{app}/discover_music_related_videos?music_id=12345",
        f"{app}/fetch_music_video_list?music_id=12345&refresh=true",
        f"{app}/handler_user_profile?sec_user_id=a",
        "/api/v1/sametrack/jobs",
        "/api/v1/sametrack/jobs/none/events",
        "/metrics",
    )
    for path in reads:
        for origin in FOREIGN_ORIGINS:
            answer = client.get(path, headers={b"host": OWN.encode(), b"origin": origin.encode()})
            assert answer.status_code == 403, (path, origin)
            assert answer.json()["data"]["error"]["type"] == "cross_site_request"
    assert jobs.newest(service.control, limit=1) == []
    for origin in OWN_ORIGINS:
        headers = {"host": OWN, "origin": origin}
        assert client.get(reads[0], headers=headers).status_code == 202, origin


def test_a_browser_that_says_so_is_believed(client: TestClient) -> None:
    for site in ("cross-site", "same-site", "", "other", "Same-Origin"):
        for method in ("POST", "DELETE", "PUT", "PATCH", "GET", "HEAD", "OPTIONS"):
            answer = client.request(method, f"{JOBS}/none", headers={"sec-fetch-site": site})
            assert answer.status_code == 403, (site, method)


def test_service_sends_no_cors_headers(client: TestClient) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    for answer in (client.options(JOBS, headers=headers), client.get("/healthz", headers=headers)):
        assert not [name for name in answer.headers if name.startswith("access-control")]
