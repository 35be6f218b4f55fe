"""Answers are compressed for who asks for it, when it is worth it, and never when it would hurt."""

import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.server.middleware.compression import Compression, choose_coding

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
    "/events": lambda: StreamingResponse(stream(), media_type="text/event-stream"),
    "/stream": lambda: StreamingResponse(stream(), media_type="application/json"),
    "/picture": lambda: Response(b"ab" * 2_000, media_type="image/png"),
    "/packed": lambda: Response(
        b"ab" * 2_000, media_type="text/plain", headers={"content-encoding": "br"}
    ),
    "/part": lambda: Response("ab" * 2_000, status_code=206, media_type="text/plain"),
}


def build(path: str) -> Any:
    async def answer(_request: Request) -> Response:
        return ANSWERS[path]()

    return Compression(Starlette(routes=[Route(path, answer)]))


async def ask(path: str, accept: str) -> tuple[httpx2.Response, bytes]:
    """The answer, and its body as it came over the wire."""
    transport = httpx2.ASGITransport(build(path))
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://x") as client,
        client.stream("GET", path, headers={"accept-encoding": accept}) as answer,
    ):
        return answer, b"".join([chunk async for chunk in answer.aiter_raw()])


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("path", ["/long", "/huge", "/page"])
async def test_whole_text_is_compressed_as_asked(path: str, coding: str) -> None:
    answer, body = await ask(path, coding)
    assert answer.headers["content-encoding"] == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(body)
    assert UNPACK[coding](body) == ANSWERS[path]().body
    assert len(body) < 1_000


async def test_the_tag_stays_weak_and_the_same() -> None:
    answer, _ = await ask("/long", "gzip")
    assert answer.headers["etag"] == 'W/"x"'


@pytest.mark.parametrize("path", ["/short", "/events", "/stream", "/picture", "/packed", "/part"])
async def test_what_gains_nothing_or_must_not_wait_stays_as_it_is(path: str) -> None:
    plain, body = await ask(path, "identity")
    answer, packed = await ask(path, "gzip, zstd")
    assert packed == body
    assert answer.headers.get("content-encoding") == plain.headers.get("content-encoding")


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        (b"gzip", "gzip"),
        (b"gzip, deflate, br, zstd", "zstd"),
        (b"gzip;q=1.0, zstd;q=0.5", "gzip"),
        (b"GZIP", "gzip"),
        (b"gzip ; q = 0.8", "gzip"),
        (b"*", "zstd"),
        (b"*;q=0.5, zstd;q=0", "gzip"),
        (b"gzip;q=0", None),
        (b"*;q=0", None),
        (b"identity, gzip;q=0.5", None),
        (b"identity;q=0.5, gzip", "gzip"),
        (b"gzip;q=nan", None),
        (b"gzip;q=2", None),
        (b"gzip;q=x", None),
        (b"br", None),
        (b"", None),
        (b",;,", None),
    ],
)
def test_the_header_decides(header: bytes, coding: str | None) -> None:
    assert choose_coding(header) == coding


def test_where_only_some_codings_are_at_hand_the_best_of_them_is_chosen() -> None:
    assert choose_coding(b"gzip;q=0.5, zstd", among=("gzip",)) == "gzip"
    assert choose_coding(b"gzip;q=0, zstd", among=("gzip",)) is None


@given(st.binary(max_size=80))
def test_any_header_has_an_answer(header: bytes) -> None:
    assert choose_coding(header) in {None, "gzip", "zstd"}
