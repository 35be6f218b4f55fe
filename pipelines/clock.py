"""Time for rules that wait, renew or expire: taken as an argument, so that a test can move it.

Of the machine: leases, pauses, rates, heartbeats and caches. When something was observed is told
by `moments`.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What a rule may ask of time."""

    def now(self) -> datetime:
        """The moment, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only grow."""

    async def sleep(self, seconds: float) -> None:
        """Return so many seconds later."""


class MachineClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return so many seconds later."""
        await asyncio.sleep(seconds)


MACHINE_CLOCK: Clock = MachineClock()
