"""A clock that stands still until a test moves it."""

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 20, 8, tzinfo=UTC)
PATIENCE_S = 240.0  # a machine may be busy with other things; a test may take 600


class FakeClock:
    """Time of one test, for everything in it that takes a clock. For one event loop.

    A sleep takes no time: it moves the clock, unless the clock is held. Then whoever sleeps waits
    for `advance`; a sleep of 0 s only lets others run, as on a real clock.
    """

    def __init__(self, start: datetime = START, *, is_held: bool = False) -> None:
        self.is_held = is_held
        self.slept: list[float] = []
        self._start = start
        self._passed_s = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._lay_down = asyncio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed_s)

    def monotonic(self) -> float:
        return self._passed_s

    def unix(self) -> float:
        """The same moment, as the control store counts it."""
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        """Later by so many seconds; who has slept long enough wakes."""
        self._passed_s += seconds
        rested = [(until, one) for until, one in self._sleepers if until <= self._passed_s]
        for entry in rested:
            self._sleepers.remove(entry)
            if not entry[1].done():  # nobody has cancelled it
                entry[1].set_result(None)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if not self.is_held or seconds <= 0:
            self.advance(max(0.0, seconds))
            await asyncio.sleep(0)
            return
        sleeper = asyncio.get_running_loop().create_future()
        entry = (self._passed_s + seconds, sleeper)
        self._sleepers.append(entry)
        self._lay_down.set()
        try:
            await sleeper
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)

    async def asleep(self, count: int) -> None:
        """Return once so many sleep at the same time; for a clock that is held."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self._sleepers) < count:
                self._lay_down.clear()
                await self._lay_down.wait()
