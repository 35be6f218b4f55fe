"""How long a synchronous request may take, and what becomes of what is not read by then.

Here: time alone. What an answer says of the things not read is each read's business.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipelines.domain.errors import SametrackError, UnreachableError

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
        clock: Seconds that only grow.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._seconds = seconds

    @property
    def left_s(self) -> float:
        """Seconds left; 0 when it is over."""
        return max(0.0, self._until - self._clock())

    @asynccontextmanager
    async def guard(self, surface: str) -> AsyncIterator[None]:
        """Do inside this block what an answer cannot do without.

        Raises:
            UnreachableError: It took too long, reason `deadline`.
        """
        try:
            async with asyncio.timeout(self.left_s):
                yield
        except TimeoutError as error:
            raise UnreachableError(
                f"the platform did not answer within the {self._seconds:g} s of a request",
                surface=surface,
                reason="deadline",
                hint="Ask again in a moment; SYNC_REQUEST_TIMEOUT sets how long a request may take",
                retry_after=AGAIN_AFTER_S,
            ) from error

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

        tasks = {key: asyncio.ensure_future(in_turn(key)) for key in keys}
        try:
            await _watched(tasks.values(), self.left_s)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return _sorted(tasks)


async def _watched[V](tasks: Iterable["asyncio.Future[V]"], seconds: float) -> None:
    """Wait for all, for so long at most; an error that nobody foresaw ends the waiting."""
    loop = asyncio.get_running_loop()
    until, pending = loop.time() + seconds, set(tasks)
    while pending and loop.time() < until:
        done, pending = await asyncio.wait(
            pending, timeout=until - loop.time(), return_when=asyncio.FIRST_COMPLETED
        )
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
