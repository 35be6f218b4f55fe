"""What the server answers before any application: malformed, slow and silent connections."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from api.server.http_protocol import LimitedHttpProtocol, server_options
from api.settings import ApiSettings

PATIENCE_S = 600
LONG = 3600.0
KEYS = {
    "code", "request_id", "message", "message_zh", "time", "time_stamp", "time_zone", "docs",
    "router", "params", "data",
}  # fmt: skip
GET = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx"


async def answer_in(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("in")(scope, receive, send)


async def answer_body_size(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await PlainTextResponse(str(size))(scope, receive, send)


async def answer_late(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer only when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    await answer_in(scope, receive, send)


async def begin_answer(_scope: Scope, receive: Receive, send: Send) -> None:
    """Begin to answer, and wait for the rest of the body."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def listening(
    app: Callable[..., Awaitable[None]] = answer_in,
    *,
    request_s: float = LONG,
    idle_s: float = LONG,
) -> AsyncIterator[int]:
    """A port whose connections have these limits."""
    config = Config(app, lifespan="off", server_header=False)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()

    def connect() -> LimitedHttpProtocol:
        return LimitedHttpProtocol(
            request_timeout_s=request_s, idle_timeout_s=idle_s, config=config,
            server_state=state, app_state={}, _loop=loop,
        )  # fmt: skip

    server = await loop.create_server(connect, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def told(port: int, *parts: bytes) -> bytes:
    """What a connection answers until it is closed from the other side."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), PATIENCE_S)
    finally:
        writer.close()


def envelope(raw: bytes, status: int, kind: str) -> Any:
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    document = json.loads(body)
    assert set(document) == KEYS
    assert document["code"] == status
    assert document["data"]["error"]["type"] == kind
    headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"content-length"] == str(len(body)).encode()
    assert headers[b"connection"] == b"close"
    assert headers[b"x-request-id"].decode() == document["request_id"]
    assert headers[b"x-content-type-options"] == b"nosniff"
    return document


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/1.1\r\nHost : a\r\nx\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n",
    ],
)  # fmt: skip
async def test_malformed_http_is_answered_in_the_envelope(raw: bytes) -> None:
    async with listening() as port:
        document = envelope(await told(port, raw), 400, "malformed_request")
    assert document["data"]["error"]["hint"]


async def test_the_path_is_told_when_it_was_understood() -> None:
    async with listening() as port:
        raw = b"GET /api/v1/x?token=secret HTTP/1.1\r\nContent-Length: x\r\n\r\n"
        document = envelope(await told(port, raw), 400, "malformed_request")
    assert document["router"] == "/api/v1/x"
    assert "secret" not in json.dumps(document)


async def test_headers_are_at_most_64_kb() -> None:
    head = b"GET / HTTP/1.1\r\nA: "
    async with listening() as port:
        for parts in ([b"x" * 10_000] * 7, [b"x" * 70_000 + b"\r\n\r\n"]):
            document = envelope(await told(port, head, *parts), 400, "malformed_request")
            assert "64 kB" in document["data"]["error"]["hint"]


async def test_a_large_body_is_no_header() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n"
    async with listening(answer_body_size) as port:
        raw = await told(port, head + b"x" * 20_000, b"x" * 80_000)
    assert raw.endswith(b"100000")


@pytest.mark.parametrize("begun", [b"G", b"GET / HTTP/1.1\r\nHost: a\r\n", b"\r\n"])
async def test_a_request_that_never_ends_is_ended(begun: bytes) -> None:
    async with listening(request_s=0.05) as port:
        document = envelope(await told(port, begun), 408, "request_timeout")
    assert "0.05 seconds" in document["data"]["error"]["detail"]


async def test_a_second_request_has_the_same_limit() -> None:
    async with listening(request_s=0.05) as port:
        raw = await told(port, GET, b"GET /y HTTP/1.1\r\n")
    first, _, second = raw.partition(b"\r\n\r\nin")
    assert first.startswith(b"HTTP/1.1 200")
    envelope(second, 408, "request_timeout")


@pytest.mark.parametrize(
    "app", [answer_body_size, answer_late], ids=["waits for the body", "is still at work"]
)
async def test_a_body_that_never_ends_is_ended(app: Any) -> None:
    async with listening(app, request_s=0.05) as port:
        document = envelope(await told(port, BEGUN), 408, "request_timeout")
    assert document["router"] == "/x"


async def test_a_malformed_body_is_answered_in_the_envelope() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with listening(answer_body_size) as port:
        document = envelope(await told(port, head, b"no number\r\n"), 400, "malformed_request")
    assert document["router"] == "/"


async def test_an_answer_that_has_begun_is_the_only_one_to_a_body_that_never_ends() -> None:
    async with listening(begin_answer, request_s=0.05) as port:
        raw = await told(port, BEGUN)
    assert raw.count(b"HTTP/1.1") == 1
    assert raw.startswith(b"HTTP/1.1 200")


async def test_a_finished_answer_is_the_only_one_to_a_body_that_never_ends() -> None:
    async with listening(request_s=0.05) as port:
        raw = await told(port, BEGUN)
    assert raw.count(b"HTTP/1.1") == 1
    assert raw.endswith(b"in")


async def test_a_slow_request_behind_an_unanswered_one_gets_no_answer_in_its_place() -> None:
    async with listening(answer_late, request_s=0.05) as port:
        assert await told(port, GET + BEGUN) == b""


async def test_a_body_after_an_answered_request_is_ended_too() -> None:
    async with listening(answer_body_size, request_s=0.05) as port:
        raw = await told(port, GET, BEGUN)
    first, _, second = raw.partition(b"\r\n\r\n0")
    assert first.startswith(b"HTTP/1.1 200")
    envelope(second, 408, "request_timeout")


async def test_a_connection_that_sends_nothing_is_closed() -> None:
    async with listening(idle_s=0.05) as port:
        assert await told(port) == b""


async def test_ordinary_requests_share_a_connection() -> None:
    last = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    async with listening() as port:
        raw = await told(port, GET, GET[:10], GET[10:], last)
    assert raw.count(b"HTTP/1.1 200") == 3


def test_every_listener_gets_these_limits() -> None:
    options = server_options(ApiSettings(_env_file=None, idle_timeout_s=7))
    assert options["http"].func is LimitedHttpProtocol
    assert options["http"].keywords == {"request_timeout_s": 20.0, "idle_timeout_s": 7}
    assert options["timeout_keep_alive"] == 7
