"""Deadlines of synchronous requests, and what happens to unfinished reads.

Only timing is here. Each read decides how a response reports what is missing.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import open_call_trace
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
