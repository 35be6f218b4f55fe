"""Figures of repeated reads: the whole service, answering from memory, beside a bare route.

`python -m benchmarks.speed.service.cached_reads [--seconds 3] [--rounds 5]`. Both serve the same
bytes under the same server configuration, each alone on one core while the client has the other;
they take turns, so that what else the machine does falls on both. The ratio is taken of requests
per second of the server's own processor time, which no neighbour can slow down, and told beside
that of the clock.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast, override

import httpx2
import psutil
import uvicorn
import uvloop
from fastapi import FastAPI, Request
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from api.cli.processes.child_processes import find_port
from api.responses.envelope import conditional_response, record_parameters
from api.server.access.sessions import SessionsInMemory
from api.server.metrics import Metrics
from api.server.middleware import RequestLogger
from api.server.middleware_stack import wrap
from api.server.response_cache import cache_response
from api.settings import ApiSettings
from benchmarks.speed.running import Figure, RowOutput, Workspace, run_alone
from pipelines.logs import buffered_logging
from tests.deployment import wait_for
from tests.stored_results import result

PATH = "/api/v1/vidplat/app/v3/fetch_music_video_list?music_id=12345&count=20"
TOKEN = "of-the-bench"  # of nothing else
LINES = 16
SERVER_CORE, CLIENT_CORE = 0, 1


@dataclass(frozen=True)
class Rate:
    """Requests per second, by the clock and by the server's processor time."""

    by_clock: float
    by_processor: float


def measure_cached_reads(
    space: Workspace, *, seconds: float = 1.5, rounds: int = 5
) -> Iterator[RowOutput]:
    """The whole service beside a bare route, in turns."""
    yield f"starting both, then {rounds} rounds of {seconds} s each"
    with _serving("bare") as bare, _serving("whole") as whole:
        size = _warm(whole)
        _warm(bare)
        pairs = [(_load(bare, seconds), _load(whole, seconds)) for _ in range(rounds)]
    yield from _figures(size, pairs)


def _figures(size: int, pairs: list[tuple[Rate, Rate]]) -> Iterator[Figure]:
    best = max(b.by_processor for b, _ in pairs), max(w.by_processor for _, w in pairs)
    ratios = [whole.by_processor / bare.by_processor for bare, whole in pairs]
    clocks = [whole.by_clock / bare.by_clock for bare, whole in pairs]
    yield f"a bare route serving {size / 1000:.0f} kB", f"{best[0]:,.0f} / CPU s", ""
    yield "the whole service, from memory", f"{best[1]:,.0f} / CPU s", ""
    yield "  of the bare route, by processor", f"{statistics.median(ratios):.2f}", "0.5, reach 0.7"
    yield "  of the bare route, by the clock", f"{statistics.median(clocks):.2f}", ""


@dataclass(frozen=True)
class Server:
    """One process and its port."""

    process: psutil.Process
    port: int

    def spent_s(self) -> float:
        spent = self.process.cpu_times()
        return spent.user + spent.system


@contextmanager
def _serving(which: str) -> Iterator[Server]:
    port = find_port()
    command = [sys.executable, "-m", "benchmarks.speed.service.cached_reads", "--serve", which]
    with subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            yield Server(psutil.Process(process.pid), port)
        finally:
            process.terminate()


def _ask(server: Server) -> httpx2.Response | None:
    try:
        return httpx2.get(f"http://127.0.0.1:{server.port}{PATH}", headers={"x-api-key": TOKEN})
    except httpx2.TransportError:
        return None


def _warm(server: Server) -> int:
    answer = wait_for(lambda: _ask(server))
    for _ in range(3):
        answer = _ask(server) or answer
        assert answer.status_code == 200, answer.text
    return len(answer.content)


class Line(asyncio.Protocol):
    """One kept connection that asks again as soon as an answer is whole."""

    def __init__(self, request: bytes, size: int) -> None:
        self._request, self._size, self._left = request, size, size
        self.answers = 0

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self._request)

    @override
    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0:
            assert self._left == 0, "an answer of another size"
            self.answers += 1
            self._left = self._size
            self.transport.write(self._request)


def _load(server: Server, seconds: float) -> Rate:
    return uvloop.run(_load_async(server, seconds))


async def _load_async(server: Server, seconds: float) -> Rate:
    request = f"GET {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {TOKEN}\r\n\r\n".encode()
    size = await _size_of(server, request)
    loop = asyncio.get_running_loop()
    lines = [Line(request, size) for _ in range(LINES)]
    spent, began = server.spent_s(), time.perf_counter()
    for line in lines:
        await loop.create_connection(lambda line=line: line, "127.0.0.1", server.port)  # type: ignore[misc]  # bound at once
    await asyncio.sleep(seconds)
    answers = sum(line.answers for line in lines)
    by_clock = answers / (time.perf_counter() - began)
    by_processor = answers / (server.spent_s() - spent)
    for line in lines:
        line.transport.abort()
    return Rate(by_clock, by_processor)


async def _size_of(server: Server, request: bytes) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return len(head) + int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])


def build_whole(note: RequestLogger | None = None) -> ASGIApp:
    """The layers of the service around one route that reads a page of 20."""
    app = FastAPI()
    data = {"aweme_list": result(20)["ranked"], "has_more": True, "coverage_complete": False}

    async def page(request: Request) -> Response:
        record_parameters(request.scope, {"music_id": "12345", "count": 20})
        cache_response(request.scope)
        return conditional_response(request.scope, data)

    app.add_api_route(PATH.partition("?")[0], page)
    settings = ApiSettings(
        _env_file=None,
        own_api_token=TOKEN,
        rate_limit_per_s=1e9,  # counted, never reached
        rate_limit_burst=1_000_000_000,
    )
    sessions = SessionsInMemory()
    return wrap(
        app, settings=settings, sessions=sessions, clock=_now, observe=Metrics().observe, note=note
    )


def _now() -> datetime:
    return datetime.now(UTC)


def build_bare(body: bytes) -> ASGIApp:
    """One route with nothing around it."""

    async def page(_request: Request) -> Response:
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route(PATH.partition("?")[0], page)])


async def _body() -> bytes:
    transport = httpx2.ASGITransport(build_whole())
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return (await client.get(PATH, headers={"x-api-key": TOKEN})).content


def _serve(which: str, port: int) -> None:
    os.sched_setaffinity(0, {SERVER_CORE})
    with buffered_logging() as lines:
        app = build_whole(lines.note) if which == "whole" else build_bare(asyncio.run(_body()))
        uvicorn.run(
            app, port=port, log_level="warning", access_log=False, server_header=False,
            proxy_headers=False,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=["bare", "whole"])
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    if options.serve:
        _serve(options.serve, options.port)
        return
    os.sched_setaffinity(0, {CLIENT_CORE})
    run_alone(
        "cached",
        lambda space: measure_cached_reads(space, seconds=options.seconds, rounds=options.rounds),
    )


if __name__ == "__main__":
    main()
