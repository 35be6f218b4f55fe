"""What a network or a platform may do to one response, as a function of the true response.

A fault writes what the client receives. Here: the table of faults. When one is due is decided by
the campaign, and `proxy.py` applies it.
"""

import asyncio
import gzip
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from sandbox.server.faults import CHALLENGE_PAGE

TRICKLE_S = 0.25
"""Pause between two bytes: no single read times out, the whole request does."""
BOMB_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueResponse:
    """What the platform answered, its body as it was sent."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""

    @property
    def is_page(self) -> bool:
        return any(name == b"content-type" and b"html" in value for name, value in self.headers)


type Apply = Callable[[asyncio.StreamWriter, TrueResponse, float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyFault:
    """A fault. `errors`: types of the error that a read may end with, as documented.

    A read that found another way, or kept what it had, succeeds; `is_fatal` is False where it may.
    `seconds` is how long the fault delays.
    """

    name: str
    effect: str
    apply: Apply = field(repr=False)
    errors: frozenset[str]
    is_fatal: bool = True
    seconds: float = 0.0


def encode(
    status: int, body: bytes, headers: Mapping[str, str] | None = None, *, length: int | None = None
) -> bytes:
    """A response that ends its connection; `length` states another one than the body has."""
    lines = {"Content-Type": "application/json", **(headers or {})}
    lines |= {"Content-Length": str(len(body) if length is None else length)}
    lines |= {"Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode("latin-1") + body


def encode_true(response: TrueResponse, *, body: bytes | None = None, longer: int = 0) -> bytes:
    """The true response, or its head with another body; `longer` is added to its length."""
    sent = response.body if body is None else body
    lines = [*response.headers, (b"content-length", str(len(sent) + longer).encode())]
    head = b"".join(b"%s: %s\r\n" % line for line in lines)
    return b"HTTP/1.1 %d X\r\n%sconnection: close\r\n\r\n%s" % (response.status, head, sent)


async def send_true(writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float) -> None:
    writer.write(encode_true(response))


async def _late(writer: asyncio.StreamWriter, response: TrueResponse, seconds: float) -> None:
    await asyncio.sleep(seconds)
    writer.write(encode_true(response))


async def _silent(_writer: asyncio.StreamWriter, _response: TrueResponse, seconds: float) -> None:
    await asyncio.sleep(seconds)


async def _trickle(writer: asyncio.StreamWriter, response: TrueResponse, seconds: float) -> None:
    for _, byte in zip(range(int(seconds / TRICKLE_S)), encode_true(response), strict=False):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(TRICKLE_S)


async def _reset(writer: asyncio.StreamWriter, _response: TrueResponse, _seconds: float) -> None:
    reset(writer)


async def _reset_within(
    writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float
) -> None:
    writer.write(encode_true(response)[: -max(1, len(response.body) // 2)])
    await writer.drain()
    reset(writer)


async def _cut(writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float) -> None:
    writer.write(encode_true(response)[: -max(1, len(response.body) // 2)])


async def _longer(writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float) -> None:
    writer.write(encode_true(response, longer=1000))


async def _shorter(writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float) -> None:
    writer.write(encode_true(response, longer=-len(response.body) // 2))


async def _changed(writer: asyncio.StreamWriter, response: TrueResponse, _seconds: float) -> None:
    page = b"<!doctype html><html><body><div id='app'></div></body></html>"
    body = page if response.is_page else b'{"status_code":0,"version":9,"payload":{"rows":[1]}}'
    writer.write(encode_true(TrueResponse(status=200, headers=response.headers), body=body))


async def _no_http(writer: asyncio.StreamWriter, _response: TrueResponse, _seconds: float) -> None:
    writer.write(b"\x16\x03\x01\x00\x05hello\r\n\r\n")


async def _bomb(writer: asyncio.StreamWriter, _response: TrueResponse, _seconds: float) -> None:
    writer.write(encode(200, _packed_zeros(), {"Content-Encoding": "gzip"}))


def _packed_zeros() -> bytes:
    if not _PACKED:
        _PACKED.append(gzip.compress(bytes(BOMB_BYTES), compresslevel=6))
    return _PACKED[0]


_PACKED: list[bytes] = []


def _fixed(status: int, body: bytes = b"", **headers: str) -> Apply:
    whole = encode(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    async def apply(writer: asyncio.StreamWriter, _true: TrueResponse, _seconds: float) -> None:
        writer.write(whole)

    return apply


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection with RST instead of FIN."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _fault(
    name: str, effect: str, apply: Apply, *errors: str, is_fatal: bool = True, seconds: float = 0.0
) -> ProxyFault:
    return ProxyFault(
        name=name,
        effect=effect,
        apply=apply,
        errors=frozenset(errors),
        is_fatal=is_fatal,
        seconds=seconds,
    )


_UNREACHABLE = "upstream_unreachable"
_CHANGED = "upstream_structure_changed"
_HTML = {"Content_Type": "text/html"}
# fmt: off
# ruff: noqa: E501  # one row per line reads as a table
FAULTS: tuple[ProxyFault, ...] = (
    _fault("latency", "the response comes 1 s late", _late, is_fatal=False, seconds=1.0),
    _fault("silence", "no response for 30 s", _silent, _UNREACHABLE, seconds=30.0),
    _fault("trickle", "four bytes a second, for 30 s", _trickle, _UNREACHABLE, seconds=30.0),
    _fault("reset", "the connection is reset before the response", _reset, _UNREACHABLE),
    _fault("reset_within", "the connection is reset within the body", _reset_within, _UNREACHABLE),
    _fault("cut", "the connection ends within the body", _cut, _UNREACHABLE),
    _fault("length_long", "Content-Length states 1,000 bytes more than come", _longer, _UNREACHABLE),
    _fault("length_short", "Content-Length states half of the body", _shorter, _CHANGED),
    _fault("no_http", "the response is not HTTP", _no_http, _UNREACHABLE),
    _fault("status_429", "429 with `Retry-After: 1`", _fixed(429, Retry_After="1"), "upstream_rate_limited"),
    _fault("status_500", "500", _fixed(500, b"error"), _UNREACHABLE),
    _fault("status_503", "503 with `Retry-After: 1`", _fixed(503, Retry_After="1"), _UNREACHABLE),
    _fault("status_403", "403", _fixed(403, b"no"), "upstream_forbidden"),
    _fault("empty", "200 without a body", _fixed(200), "upstream_empty"),
    _fault("changed", "200 with another structure", _changed, _CHANGED, "upstream_page_without_data"),
    _fault("text", "200 with a text", _fixed(200, b"service is busy"), _CHANGED),
    _fault("challenge", "200 with a script challenge", _fixed(200, CHALLENGE_PAGE.encode(), **_HTML), "upstream_verification"),
    _fault("bomb", "gzip of 256 MB of zeros", _bomb, _CHANGED),
)
# fmt: on
BY_NAME = {fault.name: fault for fault in FAULTS}
