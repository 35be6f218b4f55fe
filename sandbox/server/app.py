"""Composition and life cycle of the sandbox server; prints one line of JSON when it listens.

What belongs here: options, the table of surfaces, start and clean stop.
"""

import asyncio
import json
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from pipelines.settings import last_day_of
from sandbox.server.addresses import SandboxUrls
from sandbox.server.device.phone import SimulatedPhone
from sandbox.server.device.server import AdbServer
from sandbox.server.gateway import SandboxGateway
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import to_routes
from sandbox.server.surfaces import (
    charts,
    control,
    control_facts,
    lists,
    media,
    music_service,
    search,
    short_links,
    users,
    video_pages,
)
from sandbox.world.growth import DAY_S, HORIZON_DAYS
from sandbox.world.hardness import check_hardness
from sandbox.world.world import SandboxWorld

SURFACES = (
    *control.SURFACES, *control_facts.SURFACES, *video_pages.SURFACES, *lists.SURFACES,
    *music_service.SURFACES, *users.SURFACES, *search.SURFACES, *charts.SURFACES, *media.SURFACES,
    *short_links.SURFACES,
)  # fmt: skip
"""All surfaces. Short links come last: they match any path."""
LOOPBACK = "127.0.0.1"
PERIOD_DAYS = 30
"""A calendar that ends today starts anew after this many days. Within them, ids stay the same."""
_GROWN_DAYS = HORIZON_DAYS - PERIOD_DAYS
_HOUR_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOptions:
    """Options of the sandbox.

    Attributes:
        seed: Seed of the world.
        size: Size of the world, 1.0 for some 5,000 videos.
        port: Port on loopback, 0 for a free one.
        cache_dir: Folder of rendered sounds.
        latency_ms: Minimum response time.
        tracks: Number of tracks, None for the default of the size.
        adb_port: Port of the adb server with the simulated device; None for no device.
        switches: The switches that are on at first, see `switches.py`.
        calendar: When its world starts, see `span_of`.
    """

    seed: int = 1
    size: float = 1.0
    port: int = 8790
    cache_dir: Path
    latency_ms: float = 0.0
    tracks: int | None = None
    adb_port: int | None = None
    switches: tuple[str, ...] = ()
    calendar: str = "fixed"


def create_sandbox(options: SandboxOptions) -> ASGIApp:
    """Build the application over a new world; its URLs have the port of the options.

    Raises:
        WorldTooEasyError: The world is too easy to be a meaningful test.
    """
    start, passed_s = span_of(options.calendar, now=time.time())
    world = SandboxWorld(options.seed, options.size, tracks=options.tracks, start=start)
    check_hardness(world)
    platform = SandboxPlatform(
        world.at(passed_s) if passed_s else world,
        cache_dir=options.cache_dir, switches=options.switches, addresses=SandboxUrls(options.port),
    )  # fmt: skip
    phone = SimulatedPhone(platform)
    routes = control.device_routes(phone) + to_routes(SURFACES, platform)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        device = AdbServer(phone)
        if options.adb_port is not None:
            await device.start(options.adb_port)
        try:
            yield
        finally:
            await device.close()
        platform.close()

    surfaces = Starlette(routes=routes, lifespan=running)
    surfaces.router.redirect_slashes = False
    return SandboxGateway(surfaces, routes, platform, latency_s=options.latency_ms / 1000)


def span_of(calendar: str, *, now: float) -> tuple[int | None, int]:
    """Return the start of a world in unix seconds, and the seconds that have passed since.

    `fixed` depends on the seed alone, so that equal seeds give equal worlds on every day; `today`
    ends now, so that posts, digests and the chart show life; a date ends with that day.

    Args:
        calendar: `fixed`, `today`, or a date as in 2026-02-28.
        now: The machine's time in unix seconds.

    Raises:
        ValueError: There is no such calendar.
    """
    day = last_day_of(calendar)
    if calendar == "fixed":
        return None, 0
    if day is not None:
        now = datetime.combine(day + timedelta(days=1), time_of_day(), UTC).timestamp() - 1
    full_hour = int(now) // _HOUR_S * _HOUR_S
    period = full_hour // (PERIOD_DAYS * DAY_S)
    start = (period * PERIOD_DAYS - _GROWN_DAYS) * DAY_S
    return start, full_hour - start


def serve(options: SandboxOptions) -> None:
    """Run until SIGTERM or SIGINT; prints one line of JSON when it listens.

    Raises:
        OSError: The port is taken.
    """
    listener = socket.create_server((LOOPBACK, options.port))
    # asyncio does not set TCP_NODELAY on such a socket: each short response would take 40 ms more
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    port = int(listener.getsockname()[1])
    application = create_sandbox(replace(options, port=port))
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    device = {} if options.adb_port is None else {"adb_port": options.adb_port}
    ready = {"port": port, "seed": options.seed, "size": options.size, "ready": True, **device}
    asyncio.run(_run(_Server(config, ready), listener))


class _Server(uvicorn.Server):
    """Reports when it listens, and leaves signals to us: uvicorn re-raises them after its stop."""

    def __init__(self, config: uvicorn.Config, ready: Mapping[str, float]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then print the ready line."""
        await super().startup(sockets=sockets)
        sys.stdout.write(json.dumps(self._ready) + "\n")
        sys.stdout.flush()


async def _run(server: uvicorn.Server, listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    await server.serve(sockets=[listener])
