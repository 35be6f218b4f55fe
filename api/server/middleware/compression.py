"""Compresses JSON and text responses with zstd or gzip for clients that accept it.

Not compressed: streams (an event must not wait in a compressor), partial content, and what is
already compressed. The framework's own middleware supports neither zstd nor q values.
"""

import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

import zstandard
from anyio.to_thread import run_sync
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.errors import PARTIAL_CONTENT

MIN_COMPRESSED_BYTES = 600
IN_THREAD_BYTES = 128 * 1024  # larger bodies would block the event loop
_GZIP_LEVEL = 4
_ZSTD_LEVEL = 3
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_TYPES = frozenset({b"application/json", b"application/javascript", b"image/svg+xml"})
_EVENTS = b"text/event-stream"
_VARY = (b"vary", b"Accept-Encoding")

type Compress = Callable[[bytes], bytes]


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return packer.compress(body) + packer.flush()


def _zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(body)


CODINGS: dict[str, Compress] = {"zstd": _zstd, "gzip": _gzip}
"""Supported codings in order of preference, for clients without a preference."""


@dataclass(frozen=True, eq=False)
class Compression:
    """Compresses responses where it saves bytes."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        coding = None
        if scope["type"] == "http":
            asked = [value for name, value in scope["headers"] if name == b"accept-encoding"]
            coding = choose_coding(b",".join(asked)) if asked else None
        answer = _CompressedResponse(send, coding) if coding is not None else None
        await self.app(scope, receive, send if answer is None else answer.send)


@lru_cache(maxsize=64)
def choose_coding(header: bytes, *, among: Collection[str] = tuple(CODINGS)) -> str | None:
    """Return the coding of these that an Accept-Encoding header prefers, or None."""
    weights = dict(filter(None, map(_weight, header.decode("latin-1").lower().split(","))))
    anything = weights.get("*", 0.0)
    best = max(among, key=lambda name: weights.get(name, anything))  # the first one wins a tie
    weight = weights.get(best, anything)
    return best if weight > 0 and weight >= weights.get("identity", 0.0) else None


def _weight(part: str) -> tuple[str, float] | None:
    name, *parameters = (piece.strip() for piece in part.split(";"))
    weight = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                weight = float(value)
            except ValueError:
                return None  # ignore malformed weights
    return (name, weight) if name and 0 <= weight <= 1 else None


class _CompressedResponse:
    """One response in flight. Its head is held back until the body shows whether to compress."""

    def __init__(self, send: Send, coding: str) -> None:
        self._send = send
        self._coding = coding
        self._head: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_compressible(message):
            self._head = message
            return
        head, self._head = self._head, None
        if head is not None:
            message = await self._pack(head, message)
            await self._send(head)
        await self._send(message)

    async def _pack(self, head: Message, message: Message) -> Message:
        body = message.get("body", b"")
        if message["type"] != "http.response.body" or message.get("more_body"):
            return message  # a stream
        _vary(head)
        # `Vary` is set all the same: the next response under this address may be compressed.
        if len(body) < MIN_COMPRESSED_BYTES:
            return message
        compress = CODINGS[self._coding]
        packed = compress(body) if len(body) < IN_THREAD_BYTES else await run_sync(compress, body)
        if len(packed) >= len(body):
            return message
        kept = [header for header in head["headers"] if header[0] != b"content-length"]
        coding = (b"content-encoding", self._coding.encode())
        head["headers"] = [*kept, coding, (b"content-length", b"%d" % len(packed))]
        return {**message, "body": packed}


def _vary(head: Message) -> None:
    if not any(name == b"vary" and b"ccept-" in value for name, value in head["headers"]):
        head["headers"] = [*head["headers"], _VARY]


def _is_compressible(head: Message) -> bool:
    headers = dict(head["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    is_text = kind in _TYPES or (kind.startswith(b"text/") and kind != _EVENTS)
    return is_text and b"content-encoding" not in headers and head["status"] != PARTIAL_CONTENT
