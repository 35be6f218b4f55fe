"""Answers are compressed for who asks for it, when it is worth it, and never when it would hurt."""

import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
import zstandard
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.server.middleware_stack import compressed

LONG = {"text": "ab" * 2_000}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
}


async def stream() -> AsyncIterator[bytes]:
    yield b"data: 1\n\n" * 200
    yield b"data: 2\n\n" * 200


ANSWERS: dict[str, Callable[[], Response]] = {
    "/long": lambda: JSONResponse(LONG, headers={"etag": 'W/"x"'}),
    "/huge": lambda: JSONResponse({"text": "ab" * 200_000}),
    "/short": lambda: JSONResponse({"text": "ab"}),
    "/page": lambda: Response("ab" * 2_000, media_type="text/html; charset=utf-8"),
    "/table": lambda: Response("a,b\n" * 2_000, media_type="text/csv; charset=utf-8"),
    "/events": lambda: StreamingResponse(stream(), media_type="text/event-stream"),
    "/picture": lambda: Response(b"ab" * 2_000, media_type="image/png"),
    "/packed": lambda: Response(
        b"ab" * 2_000, media_type="text/plain", headers={"content-encoding": "br"}
    ),
    "/part": lambda: Response(
        "ab" * 2_000,
        status_code=206,
        media_type="text/plain",
        headers={"content-range": "bytes 0-3999/9000"},
    ),
}


def build(path: str) -> Any:
    async def answer(_request: Request) -> Response:
        return ANSWERS[path]()

    return compressed(Starlette(routes=[Route(path, answer)]))


async def ask(path: str, accept: str) -> tuple[httpx2.Response, bytes]:
    """The answer, and its body as it came over the wire."""
    transport = httpx2.ASGITransport(build(path))
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://x") as client,
        client.stream("GET", path, headers={"accept-encoding": accept}) as answer,
    ):
        return answer, b"".join([chunk async for chunk in answer.aiter_raw()])


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("path", ["/long", "/huge", "/page", "/table"])
async def test_whole_text_is_compressed_as_asked(path: str, coding: str) -> None:
    answer, body = await ask(path, coding)
    assert answer.headers["content-encoding"] == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(body)
    assert UNPACK[coding](body) == ANSWERS[path]().body
    assert len(body) < 2_000


async def test_the_tag_stays_weak_and_the_same() -> None:
    answer, _ = await ask("/long", "gzip")
    assert answer.headers["etag"] == 'W/"x"'


@pytest.mark.parametrize("path", ["/short", "/events", "/picture", "/packed", "/part"])
async def test_short_streamed_and_packed_answers_are_not_compressed(path: str) -> None:
    plain, body = await ask(path, "identity")
    answer, packed = await ask(path, "gzip, zstd")
    assert packed == body
    assert answer.headers.get("content-encoding") == plain.headers.get("content-encoding")


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("GZIP", "gzip"),
        ("gzip ; q = 0.8", "gzip"),
        ("*", "zstd"),
        ("*;q=0.5, zstd;q=0", "gzip"),
        ("gzip;q=0", None),
        ("*;q=0", None),
        ("identity", None),
        ("gzip;q=nan", None),
        ("gzip;q=x", None),
        ("br", None),
        ("", None),
        (",;,", None),
    ],
)
async def test_only_a_coding_that_the_client_takes_is_used(header: str, coding: str | None) -> None:
    answer, _ = await ask("/long", header)
    assert answer.headers.get("content-encoding") == coding
