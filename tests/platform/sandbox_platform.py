"""A platform of a few lines that answers with the bytes a test gives it, and the real sandbox."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.session import Captures
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.providers.music_service import MusicServicePublic
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.settings import Settings
from tests.fake_clock import FakeClock
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake

PATIENCE_S = 300.0  # a machine may be busy with other things
PATIENT = HttpLimits(
    connect_s=PATIENCE_S, read_s=PATIENCE_S, total_s=PATIENCE_S, media_total_s=PATIENCE_S,
    robots_s=PATIENCE_S, body_bytes=100_000, media_bytes=300_000,
    attempts=3, wait_initial_s=0, wait_max_s=0, wait_jitter_s=0,
)  # fmt: skip


@dataclass
class Request:
    """What the client sent: first line, and headers with lower-case names."""

    target: str
    headers: dict[str, str]


Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class ScriptedServer:
    """A server on loopback. `answers` by path are used up; the last of a path stays. An answer
    that never ends is dropped when the client hangs up.
    """

    port: int = 0
    done: str = "/done"  # what a page of this test asks for last
    answers: dict[str, list[Reply]] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(request.target.partition("?")[0] == path for request in self.seen)

    async def asked(self, path: str, times: int = 1) -> None:
        """Return once a path was asked for so many times."""
        async with asyncio.timeout(PATIENCE_S):
            while self.count(path) < times:
                self._arrived.clear()
                await self._arrived.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.split(": ", 1) for line in head[1:] if line)
            target = head[0].split(" ")[1]
            self.seen.append(Request(target, {k.lower(): v for k, v in headers.items()}))
            self._arrived.set()
            queue = self.answers[target.partition("?")[0]]
            answer = queue.pop(0) if len(queue) > 1 else queue[0]
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                await _until_hung_up(reader, answer(writer))
            await writer.drain()
        writer.close()


async def never(_writer: asyncio.StreamWriter) -> None:
    """Answer nothing for as long as the client waits."""
    await asyncio.Event().wait()


async def _until_hung_up(reader: asyncio.StreamReader, answer: Awaitable[None]) -> None:
    answering = asyncio.ensure_future(answer)
    hanging_up = asyncio.ensure_future(reader.read())
    try:
        await asyncio.wait({answering, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
    finally:
        for task in (answering, hanging_up):
            task.cancel()
        await asyncio.wait({answering, hanging_up})


@pytest.fixture
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    scripted_server = ScriptedServer()
    server = await asyncio.start_server(scripted_server.serve, "127.0.0.1", 0)
    scripted_server.port = server.sockets[0].getsockname()[1]
    async with server:
        yield scripted_server


@pytest.fixture
def control_store(tmp_path: Path, clock: FakeClock) -> Iterator[ControlStore]:
    """A control store for rate limits, pauses and budgets."""
    url = f"sqlite:///{tmp_path / 'hosts.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as store:
        yield store


@pytest.fixture
def scripted_profile(scripted_server: ScriptedServer) -> PlatformProfile:
    return load_profile("sandbox", sandbox_port=scripted_server.port)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def client(
    scripted_profile: PlatformProfile, control_store: ControlStore, clock: FakeClock
) -> AsyncIterator[GuestClient]:
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, clock=clock),
        circuits=NoCircuits(),
    )
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(GuestClient(scripted_profile, policy, limits=PATIENT))


@dataclass(frozen=True)
class Sandbox:
    """The running stand-in platform."""

    port: int

    @property
    def profile(self) -> PlatformProfile:
        return load_profile("sandbox", sandbox_port=self.port)


def run_sandbox(cache: Path) -> Iterator[Sandbox]:
    """Start a sandbox, and end it when the caller goes on."""
    command = [
        sys.executable, "-m", "sandbox", "--seed", "11", "--size", "0.1",
        "--port", "0", "--cache", str(cache),
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ}, cwd=Path.cwd()
    )
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    try:
        yield Sandbox(ready["port"])
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        process.stdout.close()


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


LIMITS = replace(PATIENT, body_bytes=HttpLimits().body_bytes, media_bytes=HttpLimits().media_bytes)
JOB = "0b3e0f3e-1111-4222-8333-444455556666"


class Stores:
    """Lake, engine and control store of one test."""

    def __init__(self, root: Path, unix: Callable[[], float] = time.time) -> None:
        self.lake = open_lake(str(root / "lake"), world="sandbox")
        url = f"sqlite:///{root / 'control.sqlite'}"
        self.control = open_control(url, world="sandbox", clock=unix)
        self.engine = Engine(self.lake)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        self.engine.refresh()
        return self.engine.rows(sql)


@pytest.fixture
def stores(tmp_path: Path, clock: FakeClock) -> Any:
    stores = Stores(tmp_path, clock.unix)
    yield stores
    stores.engine.close()
    stores.control.close()


Start = Callable[..., AbstractAsyncContextManager[Captures]]


@pytest.fixture
def start(sandbox: Any, stores: Stores, tmp_path: Path, clock: FakeClock) -> Start:
    """Open captures; `cancelled` and `flush_every` may be given."""

    def begin(**options: Any) -> Captures:
        dependencies = ProviderDependencies(
            settings=Settings(_env_file=None, sandbox_port=sandbox.port),
            profile=sandbox.profile,
            control=stores.control,
            limits=LIMITS,
            clock=clock,
        )
        return Captures(
            provider=VidplatPublic(dependencies.guest(), name="public-graph"),
            songs=MusicServicePublic(dependencies.guest()),
            lake=stores.lake,
            engine=stores.engine,
            control=stores.control,
            job_id=JOB,
            sounds_dir=tmp_path / "sounds",
            **options,
        )

    return begin


@pytest.fixture
def track(sandbox: Any) -> dict[str, Any]:
    """The first track of the world with its links."""
    return ask_control(sandbox, "/_world/tracks?counts=0")["tracks"][0]  # type: ignore[no-any-return]  # JSON


@pytest.fixture
def faults(sandbox: Any) -> Any:
    yield lambda **fault: ask_control(sandbox, "/_world/faults", method="POST", body=fault)
    ask_control(sandbox, "/_world/faults", method="DELETE")


@pytest.fixture
def switches(sandbox: Any) -> Any:
    yield lambda *names: ask_control(
        sandbox, "/_world/switches", method="POST", body={"switches": list(names)}
    )
    ask_control(sandbox, "/_world/switches", method="DELETE")


def ask_control(sandbox: Any, path: str, *, method: str = "GET", body: Any = None) -> Any:
    """Ask the control surface of the sandbox."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{sandbox.port}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
