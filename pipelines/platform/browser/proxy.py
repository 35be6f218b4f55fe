"""Loopback proxy that applies the link gate to all of the browser's traffic.

It knows hosts, ports and bytes. A request to a refused host gets no response at all, so that ours
is never mistaken for the platform's; refusals are counted by host. Not here: the browser, pages.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pipelines.platform.http.link_gate import CheckedAddress, Dialler, check_address
from pipelines.platform.profiles import PlatformProfile
from warehouse.records.errors import UpstreamError

SURFACE = "browser"
MAX_HEAD = 64 * 1024
MAX_REFUSED = 100
HEAD_S = 10.0
CONNECT_S = 5.0
_CHUNK = 64 * 1024
_FIRST_LINE = re.compile(r"(?P<method>[A-Z]{1,16}) (?P<target>[!-~]+) HTTP/1\.[01]", re.ASCII)
_DROPPED = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)

type StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy: a tunnel, or one plain request."""

    method: str
    address: str
    is_tunnel: bool
    headers: tuple[tuple[str, str], ...]


def parse_proxy_request(head: bytes) -> ProxyRequest | None:
    """Parse the head of a proxy request; None if it is malformed.

    Only CONNECT, and GET and HEAD with an absolute URL are accepted: a guest posts nothing.
    """
    try:
        first, *lines = head.decode("ascii").removesuffix("\r\n\r\n").split("\r\n")
    except UnicodeDecodeError:
        return None
    first_line = _FIRST_LINE.fullmatch(first)
    parts = [line.partition(":") for line in lines]
    headers = tuple((name, value.strip()) for name, colon, value in parts if colon)
    if first_line is None or len(headers) != len(lines):
        return None
    method, target = first_line["method"], first_line["target"]
    # A tunnel names host and port alone; the gate checks them as an https address.
    if method == "CONNECT":
        return ProxyRequest(method, f"https://{target}/", is_tunnel=True, headers=headers)
    if method in {"GET", "HEAD"} and target.startswith("http://"):
        return ProxyRequest(method, target, is_tunnel=False, headers=headers)
    return None


@dataclass(slots=True)
class Traffic:
    """Traffic since the last page began. `refused` counts by host."""

    connections: int = 0
    received_bytes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def refuse(self, host: str) -> None:
        """Count a refusal; hosts beyond the first `MAX_REFUSED` share one counter."""
        has_counter = host in self.refused or len(self.refused) < MAX_REFUSED
        self.refused[host if has_counter else "?"] += 1


class GateProxy:
    """One proxy for one browser. `allowed` are the hosts that pages may need.

    Args:
        profile: Schemes, ports and pins of the platform.
        allowed: Rules of hosts that may be reached.
        limit_bytes: Bytes that one page may load in all; more closes its connections.
        dialler: Turns a host into the checked address to dial.
    """

    def __init__(
        self,
        profile: PlatformProfile,
        *,
        allowed: Iterable[str],
        limit_bytes: int,
        dialler: Dialler | None = None,
    ) -> None:
        self.traffic = Traffic()
        self._profile = profile
        self._allowed = tuple(allowed)
        self._limit_bytes = limit_bytes
        self._dialler = dialler or Dialler(profile)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """URL of the proxy."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Listen on a free loopback port, unless it does already."""
        if self._server is not None:
            return
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD)

    async def aclose(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is None:
            return
        self._server.close()
        await end_tasks(self._open)
        await self._server.wait_closed()
        self._server = None

    def begin(self) -> None:
        """Reset the counters for a new page."""
        self.traffic = Traffic()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._serve((reader, writer))
        except (TimeoutError, asyncio.CancelledError):
            pass  # a silent browser, or our own shutdown; asyncio would log either
        finally:
            self._open.discard(task)
            await _close(writer)

    async def _serve(self, browser: StreamPair) -> None:
        """Connect one request of the browser to its host, if the gate permits it."""
        async with asyncio.timeout(HEAD_S):
            order = parse_proxy_request(await browser[0].readuntil(b"\r\n\r\n"))
        if order is None:
            self.traffic.refuse("?")
            return
        try:
            address = check_address(
                order.address, allowed=self._allowed, profile=self._profile, surface=SURFACE
            )
        except UpstreamError:
            address = None
        # A tunnel hides what is in it, so it must lead to a host that speaks https.
        if address is None or (address.scheme == "https") != order.is_tunnel:
            self.traffic.refuse(order.address.split("/")[2].partition(":")[0])
            return
        try:
            ip = await self._dialler.dial_address(address.host, surface=SURFACE)
        except UpstreamError:
            self.traffic.refuse(address.host)
            return
        async with asyncio.timeout(CONNECT_S):
            host = await asyncio.open_connection(ip, address.port)
        self.traffic.connections += 1
        try:
            await self._exchange(order, address, browser, host)
        finally:
            await _close(host[1])

    async def _exchange(
        self, order: ProxyRequest, address: CheckedAddress, browser: StreamPair, host: StreamPair
    ) -> None:
        """Forward a request, and copy the response to the browser up to the page's size limit."""
        if order.is_tunnel:
            browser[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await browser[1].drain()
        else:
            kept = [
                f"{name}: {value}" for name, value in order.headers if name.lower() not in _DROPPED
            ]
            # One request per connection: a second one would pass unchecked.
            own = [f"Host: {address.url.split('/')[2]}", "Connection: close"]
            lines = [f"{order.method} {address.target} HTTP/1.1", *own, *kept, "", ""]
            host[1].write("\r\n".join(lines).encode("ascii"))
            await host[1].drain()
        # On a plain connection only the one checked request is forwarded.
        sending = [asyncio.create_task(_pipe(browser[0], host[1]))] if order.is_tunnel else []
        # A connection of an earlier page must not count against the next one.
        traffic = self.traffic
        try:
            while not traffic.over.is_set() and (chunk := await host[0].read(_CHUNK)):
                traffic.received_bytes += len(chunk)
                if traffic.received_bytes > self._limit_bytes:
                    traffic.over.set()
                browser[1].write(chunk)
                await browser[1].drain()
        finally:
            await end_tasks(sending)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy what the browser sends; when it disconnects, disconnect too."""
    try:
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()


async def end_tasks(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
