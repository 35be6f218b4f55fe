"""What a listener answers to malformed, large and slow requests."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.server.listener import MAX_HEADER_BYTES, server_options
from api.settings import ApiSettings

pytestmark = pytest.mark.full

PATIENCE_S = 600
SEARCH = b"POST /api/v1/vidplat/web/fetch_multi_video HTTP/1.1\r\nHost: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"


@asynccontextmanager
async def listening(tmp_path: Path, **settings: Any) -> AsyncIterator[int]:
    """The port of a service whose listener has the options of every listener."""
    chosen = ApiSettings(_env_file=None, data_home=tmp_path, rate_limit_per_s=0, **settings)
    app = create_app(Services(readiness=Readiness({})), settings=chosen)
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_config=None, lifespan="off", **server_options(chosen))
    )
    with running(server):
        yield server.servers[0].sockets[0].getsockname()[1]


@contextmanager
def running(server: uvicorn.Server) -> Iterator[None]:
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive()
        yield
    finally:
        server.should_exit = True
        thread.join()


async def send(port: int, *parts: bytes) -> bytes:
    """What a connection answers until it is closed from the other side."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), PATIENCE_S)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\nx\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n",
    ],
)  # fmt: skip
async def test_malformed_http_is_refused(tmp_path: Path, raw: bytes) -> None:
    async with listening(tmp_path) as port:
        assert (await send(port, raw)).startswith(b"HTTP/1.1 400 ")


async def test_headers_without_an_end_are_refused(tmp_path: Path) -> None:
    async with listening(tmp_path) as port:
        parts = [b"x" * 10_000] * (MAX_HEADER_BYTES // 10_000 + 1)
        raw = await send(port, b"GET / HTTP/1.1\r\nA: ", *parts)
    assert raw.startswith(b"HTTP/1.1 400 ")


async def test_a_body_that_never_ends_is_refused_in_the_envelope(tmp_path: Path) -> None:
    async with listening(tmp_path, request_timeout_s=0.05, idle_timeout_s=1) as port:
        raw = await send(port, SEARCH + JSON + b"Content-Length: 10\r\n\r\n[")
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    document = json.loads(body)
    assert document["data"]["error"]["type"] == "request_timeout"
    assert "0.05 seconds" in document["data"]["error"]["detail"]
    assert document["router"] == "/api/v1/vidplat/web/fetch_multi_video"


async def test_a_sign_in_that_never_ends_is_refused_too(tmp_path: Path) -> None:
    head = b"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    async with listening(tmp_path, request_timeout_s=0.05, idle_timeout_s=1) as port:
        assert (await send(port, head)).startswith(b"HTTP/1.1 408 ")


async def test_ordinary_requests_share_a_connection(tmp_path: Path) -> None:
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = get.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    async with listening(tmp_path) as port:
        raw = await send(port, get, get[:10], get[10:], last)
    assert raw.count(b"HTTP/1.1 200") == 3
