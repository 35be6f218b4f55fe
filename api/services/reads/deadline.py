"""How long a synchronous request may take, and what becomes of what is not read by then.

Here: time alone. What an answer says of the things not read is each read's business.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.records.errors import SametrackError, UnreachableError

TASK = "read in time:"
AGAIN_AFTER_S = 5.0
"""When asking again makes sense after a deadline: what was begun elsewhere is kept by then."""


@dataclass(frozen=True, slots=True)
class Readings[K: Hashable, V]:
    """What became of many reads, by what was read. Each key is in exactly one of the three."""

    values: dict[K, V] = field(default_factory=dict)
    errors: dict[K, SametrackError] = field(default_factory=dict)
    late: list[K] = field(default_factory=list)


class Deadline:
    """The moment by which a request is answered.

    Args:
        seconds: From now on.
        clock: What the seconds are counted by.
    """

    def __init__(self, seconds: float, *, clock: Clock = MACHINE_CLOCK) -> None:
        self._clock = clock
        self._until = clock.monotonic() + seconds
        self._seconds = seconds

    @property
    def left_s(self) -> float:
        """Seconds left; 0 when it is over."""
        return max(0.0, self._until - self._clock.monotonic())

    @asynccontextmanager
    async def guard(self, surface: str) -> AsyncIterator[None]:
        """Do inside this block what an answer cannot do without.

        Raises:
            UnreachableError: It took too long, reason `deadline`.
        """
        try:
            async with asyncio.timeout(None) as limit:
                ending = asyncio.create_task(self._end(limit))
                try:
                    yield
                finally:
                    ending.cancel()
        except TimeoutError as error:
            raise UnreachableError(
                f"the platform did not answer within the {self._seconds:g} s of a request",
                surface=surface,
                reason="deadline",
                hint="Ask again in a moment; SYNC_REQUEST_TIMEOUT sets how long a request may take",
                retry_after=AGAIN_AFTER_S,
            ) from error

    async def _end(self, limit: asyncio.Timeout) -> None:
        await self._clock.sleep(self.left_s)
        limit.reschedule(asyncio.get_running_loop().time())

    async def each[K: Hashable, V](
        self, keys: Iterable[K], read: Callable[[K], Awaitable[V]], *, parallel: int = 8
    ) -> Readings[K, V]:
        """Read each key, so many at a time; what is not read when time is up is cancelled, late.

        Raises:
            Exception: Whatever a read raises that is no `SametrackError`; the others are cancelled.
        """
        slots = asyncio.Semaphore(parallel)

        async def in_turn(key: K) -> V:
            async with slots:
                return await read(key)

        tasks = {key: asyncio.create_task(in_turn(key), name=f"{TASK} {key}") for key in keys}
        ending = asyncio.ensure_future(self._clock.sleep(self.left_s))
        try:
            if self.left_s > 0:  # else nothing is begun
                await _watched(tasks.values(), ending)
        finally:
            for task in (ending, *tasks.values()):
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return _sorted(tasks)


async def _watched[V](tasks: Iterable["asyncio.Future[V]"], ending: "asyncio.Future[None]") -> None:
    """Wait for all, or for the end of time; an error that nobody foresaw ends the waiting."""
    pending = set(tasks)
    while pending and not ending.done():
        awaited: set[asyncio.Future[Any]] = {ending, *pending}
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        done = {task for task in pending if task.done()}
        pending -= done
        for task in done:
            error = task.exception()
            if error is not None and not isinstance(error, SametrackError):
                raise error


def _sorted[K: Hashable, V](tasks: Mapping[K, "asyncio.Future[V]"]) -> Readings[K, V]:
    readings: Readings[K, V] = Readings()
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
