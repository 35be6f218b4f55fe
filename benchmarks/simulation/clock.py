"""Simulated time: a clock that only events move, and an event loop whose waits take no time."""

import asyncio
import random
import selectors
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 11, 1, tzinfo=UTC)
THREADS_TAKE_S = (0.0, 0.0, 0.001, 0.01)
"""How long work in a thread may take: other tasks go on meanwhile, in an order that is drawn."""


class SimulatedClock:
    """The clock of the machine: seconds that passed, and how far its time of day has jumped."""

    def __init__(self) -> None:
        self.passed_s = 0.0
        self.jumped_s = 0.0
        self.jumped_at = float("-inf")
        self._start = START.timestamp()

    def monotonic(self) -> float:
        return self.passed_s

    def unix(self) -> float:
        return self._start + self.passed_s + self.jumped_s

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed_s + self.jumped_s)

    def jump(self, seconds: float) -> None:
        """The time of day is set; monotonic time knows nothing of it."""
        self.jumped_s += seconds
        self.jumped_at = self.passed_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class _TimeSelector(selectors.BaseSelector):
    """Waits for nothing: where a loop would wait for its next timer, the time passes at once."""

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        self._keys[fileobj] = selectors.SelectorKey(fileobj, 0, events, data)
        return self._keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "every task waits, and nothing will ever wake one"
        self._clock.passed_s += max(0.0, timeout)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop in simulated time. Work for threads is done by the loop, at a drawn moment."""

    def __init__(self, clock: SimulatedClock, chance: random.Random) -> None:
        super().__init__(_TimeSelector(clock))
        self.simulated = clock
        self._chance = chance

    def time(self) -> float:
        return self.simulated.passed_s

    def run_in_executor(  # type: ignore[override]  # less precise, for it is only called
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        self.call_later(self._chance.choice(THREADS_TAKE_S), _work, future, func, args)
        return future


def _work(future: asyncio.Future[Any], func: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Do the work, also if nobody waits for it any more: a thread cannot be cancelled."""
    try:
        result = func(*args)
    except BaseException as error:  # noqa: BLE001  # the death of a simulated process, too
        if not future.done():
            future.set_exception(error)
    else:
        if not future.done():
            future.set_result(result)
