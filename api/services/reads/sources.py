"""What a synchronous read has: its sources, opened for one request, and its deadline.

Opening a source costs 0.05 ms (a guest client connects on first use), so sources are not shared:
each request has its own guest cookies and waits, and a browser ends with its request. Decides which
source serves what, how many are open at once, and what happens to unfinished reads. Not here: what
is read, and how a response reports what is missing.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from anyio.to_thread import run_sync

from api.settings import ApiSettings
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.captures.stored_captures import is_fresh
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform import providers
from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import is_demo_world
from warehouse.queries.captures import read_last_outcome
from warehouse.records.errors import SametrackError, UnreachableError

TASK = "read in time:"
AGAIN_AFTER_S = 5.0
"""Recommended wait after a missed deadline; reads in progress are usually stored by then."""


_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(?P<seconds>[0-9]{1,6})\b", re.IGNORECASE)


def preferred_wait(header: str) -> float | None:
    """Return the seconds of `wait` in a `Prefer` header (RFC 7240); None if it has none."""
    wait = _WAIT.search(header)
    return None if wait is None else float(wait["seconds"])


@dataclass(frozen=True, slots=True)
class ReadOutcomes[K: Hashable, V]:
    """Outcomes of many reads by key. Each key is in exactly one of the three."""

    values: dict[K, V] = field(default_factory=dict)
    errors: dict[K, SametrackError] = field(default_factory=dict)
    late: list[K] = field(default_factory=list)


class Deadline:
    """The time by which a request must be answered.

    Args:
        seconds: Time limit from now on.
        clock: Clock that measures the limit.
    """

    def __init__(self, seconds: float, *, clock: Clock = MACHINE_CLOCK) -> None:
        self._clock = clock
        self._begun = clock.monotonic()
        self._until = self._begun + seconds

    @property
    def left_s(self) -> float:
        """Remaining seconds, 0 when the deadline has passed."""
        return max(0.0, self._until - self._clock.monotonic())

    @asynccontextmanager
    async def guard(self, surface: str) -> AsyncIterator[None]:
        """Run the block within the deadline, for data that a response cannot do without.

        Raises:
            UnreachableError: The deadline passed, reason `deadline`.
        """
        with open_call_trace() as call_trace:
            try:
                async with asyncio.timeout(None) as limit:
                    # The given clock ends it, not that of the event loop.
                    ending = asyncio.create_task(self._end(limit))
                    try:
                        yield
                    finally:
                        ending.cancel()
            except TimeoutError as error:
                raise self._too_late(surface, call_trace.request_count) from error

    def _too_late(self, surface: str, request_count: int) -> UnreachableError:
        """Return the error of a missed deadline, with what was measured."""
        spent_s = round(self._clock.monotonic() - self._begun, 1)
        requests = {
            0: "no request for it was made: its turn, or robots.txt, took that long",
            1: "1 request for it was made",
        }.get(request_count, f"{request_count} requests for it were made")
        return UnreachableError(
            f"The platform did not answer within {spent_s:g} s; {requests}",
            surface=surface,
            reason="deadline",
            hint="Try again in a moment, or raise SYNC_REQUEST_TIMEOUT",
            retry_after=AGAIN_AFTER_S,
        )

    async def _end(self, limit: asyncio.Timeout) -> None:
        """Let a time limit pass when the deadline has passed."""
        await self._clock.sleep(self.left_s)
        limit.reschedule(asyncio.get_running_loop().time())

    async def each[K: Hashable, V](
        self, keys: Iterable[K], read: Callable[[K], Awaitable[V]], *, parallel: int = 8
    ) -> ReadOutcomes[K, V]:
        """Read all keys, `parallel` at a time, and cancel reads that miss the deadline.

        Raises:
            Exception: Any error that is not a `SametrackError`; the other reads are cancelled.
        """
        slots = asyncio.Semaphore(parallel)

        async def in_turn(key: K) -> V:
            async with slots:
                return await read(key)

        tasks = {key: asyncio.create_task(in_turn(key), name=f"{TASK} {key}") for key in keys}
        ending = asyncio.ensure_future(self._clock.sleep(self.left_s))
        try:
            if self.left_s > 0:  # otherwise no read is started
                await _wait_for_tasks(tasks.values(), ending)
        finally:
            for task in (ending, *tasks.values()):
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return _collect_outcomes(tasks)


async def _wait_for_tasks[V](
    tasks: Iterable["asyncio.Future[V]"], ending: "asyncio.Future[None]"
) -> None:
    """Wait for all tasks or the deadline. An unexpected error ends the wait."""
    pending = set(tasks)
    while pending and not ending.done():
        awaited: set[asyncio.Future[V] | asyncio.Future[None]] = {ending, *pending}
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        done = {task for task in pending if task.done()}
        pending -= done
        for task in done:
            error = task.exception()
            if error is not None and not isinstance(error, SametrackError):
                raise error


def _collect_outcomes[K: Hashable, V](tasks: Mapping[K, "asyncio.Future[V]"]) -> ReadOutcomes[K, V]:
    readings: ReadOutcomes[K, V] = ReadOutcomes()
    for key, task in tasks.items():
        error = None if task.cancelled() else task.exception()
        if task.cancelled():
            readings.late.append(key)
        elif isinstance(error, SametrackError):
            readings.errors[key] = error
        elif error is not None:
            raise error
        else:
            readings.values[key] = task.result()
    return readings


FALLBACK_PROVIDER = "mock"
"""`data_provider` of a response with demo data as a fallback."""

_NEVER_EARLIER = 100_000
"""Captures, seconds: no request reaches these, so each commits once per table, at its end."""


@dataclass(eq=False)
class Sources:
    """Opens the sources of synchronous reads.

    Attributes:
        settings: Selects sources, freshness and time limits.
        profile: The chosen platform profile.
        engine: Query engine over the lake of the profile.
        control: Control store of the profile.
        sounds_dir: Folder for the sounds that requests read.
        is_demo: True unless the data is from the public platform or the operator's own files.
    """

    settings: ApiSettings
    profile: PlatformProfile
    engine: Engine
    control: ControlStore
    sounds_dir: Path
    is_demo: bool = field(init=False)
    # it takes a second of processor time, and 150 MB
    one_decoder: asyncio.Semaphore = field(
        default_factory=partial(asyncio.Semaphore, 1), init=False
    )
    _semaphores: Mapping[str, asyncio.Semaphore] = field(init=False)

    def __post_init__(self) -> None:
        self.is_demo = is_demo_world(self.profile.name)
        self._semaphores = {
            name: asyncio.Semaphore(source.sessions) for name, source in providers.PROVIDERS.items()
        }

    def apart(self) -> "Sources":
        """Return a copy for another event loop, with its own semaphores."""
        return Sources(
            settings=self.settings,
            profile=self.profile,
            engine=self.engine,
            control=self.control,
            sounds_dir=self.sounds_dir,
        )

    @property
    def data_provider(self) -> str:
        """Name of the source for users, posts and single videos."""
        return self.settings.data_provider

    @property
    def pages_posts_locally(self) -> bool:
        """True if `max_cursor` is a local cursor over observed posts."""
        source = providers.PROVIDERS[self.data_provider]
        return self.settings.local_cursor_mode and source.first_screens

    async def had_lately(
        self, outcome: str, surfaces: tuple[str, ...], entity_id: str, *, now: datetime
    ) -> bool:
        """Return whether a read of an entity ended so within `NEGATIVE_TTL`."""
        find = partial(
            read_last_outcome,
            self.engine,
            surfaces=surfaces,
            entity_id=entity_id,
            outcome=outcome,
        )
        return is_fresh(await run_sync(find), now=now, ttl_s=self.settings.negative_ttl)

    @asynccontextmanager
    async def open(
        self,
        kind: Literal["users", "music"],
        *,
        for_user: bool = True,
        has_songs: bool = False,
        sounds_dir: Path | None = None,
    ) -> AsyncIterator[Captures]:
        """Open captures from a source.

        Args:
            kind: The source of users, posts and single videos, or that of music and hashtag lists.
            for_user: Its answers go to a user directly, so a sick source is asked once all the
                same, and demo data may replace a refusal.
            has_songs: Include the music service, if the world has one.
            sounds_dir: Folder for downloaded sounds, in place of the usual one.

        Raises:
            ProviderUnsupportedError: This release does not support the source.
        """
        is_users = kind == "users"
        name = self.data_provider if is_users else providers.music_provider_name(self.settings)
        # Sources are built in a thread: one may read files or generate data first.
        async with (
            self._semaphores[name],
            Captures(
                provider=await run_sync(
                    partial(self._build, partial(providers.build_provider, name), for_user=for_user)
                ),
                songs=await run_sync(self._build, providers.build_song_source)
                if has_songs
                else None,
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                sounds_dir=sounds_dir or self.sounds_dir,
                link_ttl_s=self.settings.link_ttl_days * 86_400.0,
                flush_every=_NEVER_EARLIER,
                flush_after_s=_NEVER_EARLIER,
            ) as captures,
        ):
            yield captures

    @asynccontextmanager
    async def chart(self) -> AsyncIterator[ChartCaptures]:
        """Open captures from the source of the chart.

        Raises:
            ProviderUnsupportedError: The configured source has no chart.
        """
        async with (
            self._semaphores[self.data_provider],
            ChartCaptures(
                provider=await run_sync(self._build, providers.build_chart_provider),
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                flush_every=_NEVER_EARLIER,
                flush_after_s=_NEVER_EARLIER,
            ) as captures,
        ):
            yield captures

    def _build[T](self, build: Callable[[ProviderDependencies], T], *, for_user: bool = False) -> T:
        dependencies = ProviderDependencies(
            settings=self.settings,
            profile=self.profile,
            control=self.control,
            engine=self.engine,
            for_user=for_user,
        )
        return build(dependencies)
