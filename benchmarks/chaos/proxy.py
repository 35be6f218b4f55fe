"""A fault proxy on loopback, between the service and the sandbox.

Each request is forwarded on a connection of its own; its response is rewritten to name the proxy's
port, and then sent as the fault that is due says. It runs in a thread with an event loop.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx2

from api.cli.processes.child_processes import LOOPBACK
from benchmarks.chaos.faults import ProxyFault, TrueResponse, reset, send_true

type Choose = Callable[[str, str], ProxyFault | None]
"""The fault of a request to a host and a path; None for none."""

_OF_THE_CONNECTION = {b"content-length", b"transfer-encoding", b"connection", b"keep-alive"}
_START_TIMEOUT_S = 900.0  # a machine may be busy with other things


class FaultProxy:
    """Counts what it applied; `choose` decides on each request, and may be replaced at any time."""

    def __init__(self, upstream_port: int) -> None:
        self.choose: Choose = lambda _host, _path: None
        self.applied: Counter[str] = Counter()
        self.requests = 0
        self.port = 0
        self.open_connections = 0
        self._upstream = upstream_port
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> asyncio.Server:
        """Listen on a free port."""
        self._client = httpx2.AsyncClient(
            trust_env=False,
            timeout=60,
            follow_redirects=False,
            limits=httpx2.Limits(max_keepalive_connections=0),
        )
        server = await asyncio.start_server(self._accept, LOOPBACK, 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def close(self) -> None:
        """End every connection."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.open_connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await task
        self.open_connections -= 1
        with suppress(OSError):
            writer.close()
            await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *rest = head.decode("latin-1").split("\r\n")
        target = line.split(" ")[1]
        sent = dict(one.split(": ", 1) for one in rest if ": " in one)
        host = sent.get("Host", sent.get("host", ""))
        fault = self.choose(host.partition(":")[0], target)
        self.requests += 1
        gone = asyncio.ensure_future(reader.read())  # ends when the client leaves
        answer = asyncio.ensure_future(self._answer(writer, fault, target, sent))
        await asyncio.wait({gone, answer}, return_when=asyncio.FIRST_COMPLETED)
        for one in (gone, answer):
            one.cancel()
        if fault is not None:
            self.applied[fault.name] += 1
        await asyncio.gather(gone, answer, return_exceptions=True)

    async def _answer(
        self,
        writer: asyncio.StreamWriter,
        fault: ProxyFault | None,
        target: str,
        headers: dict[str, str],
    ) -> None:
        try:
            true = await self._forward(target, headers)
        except httpx2.TransportError:
            reset(writer)  # the sandbox itself does not answer
            return
        if fault is None:
            await send_true(writer, true, 0.0)
        else:
            await fault.apply(writer, true, fault.seconds)
        with suppress(OSError):
            await writer.drain()

    async def _forward(self, target: str, headers: dict[str, str]) -> TrueResponse:
        names = {name: value for name, value in headers.items() if name.lower() != "connection"}
        url = f"http://{LOOPBACK}:{self._upstream}{target}"
        async with self._client.stream("GET", url, headers=names) as response:
            body = b"".join([chunk async for chunk in response.aiter_raw()])
        kept = [
            (name.lower(), self._renamed(value))
            for name, value in response.headers.raw
            if name.lower() not in _OF_THE_CONNECTION
        ]
        return TrueResponse(
            status=response.status_code, headers=tuple(kept), body=self._renamed(body)
        )

    def _renamed(self, text: bytes) -> bytes:
        """Let addresses lead to the proxy; both ports have five digits, so no length changes."""
        for colon in (b":", b"%3A"):
            text = text.replace(
                colon + str(self._upstream).encode(), colon + str(self.port).encode()
            )
        return text


@contextmanager
def open_proxy(upstream_port: int) -> Iterator[FaultProxy]:
    """Run a proxy in front of a sandbox."""
    proxy = FaultProxy(upstream_port)
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def run() -> None:
        server = await proxy.start()
        started.set()
        await stop.wait()
        server.close()
        await proxy.close()
        await server.wait_closed()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), name="fault proxy")
    thread.start()
    try:
        assert started.wait(_START_TIMEOUT_S)
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
