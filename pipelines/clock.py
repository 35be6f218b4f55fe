"""Clock for rules that wait, renew or expire; passed as an argument so that tests can move it.

It is the machine's time, for leases, pauses, rates, heartbeats and caches. Observation times come
from `warehouse.records.times`.
"""

import asyncio
import time
from datetime import UTC, datetime
from functools import partial
from typing import Protocol


class Clock(Protocol):
    """Time source of a rule."""

    def now(self) -> datetime:
        """Return the current time in UTC."""

    def monotonic(self) -> float:
        """Return monotonic seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait for the given seconds."""


class MachineClock:
    """The clock of this machine."""

    now = staticmethod(partial(datetime.now, UTC))
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(asyncio.sleep)


MACHINE_CLOCK: Clock = MachineClock()
