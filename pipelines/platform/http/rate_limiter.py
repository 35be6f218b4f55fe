"""Rate limit, pauses and daily budget per host, shared by all processes.

A pause that one process starts (after a 429 or a failure) holds for all of them. The control store
keeps the state; this module waits. The store's calls are synchronous and short, so they run off the
event loop.
"""

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import waiting_for_host
from pipelines.platform.profiles import HostRate
from warehouse.control import ControlStore, hosts
from warehouse.records.errors import BudgetSpentError, RateLimitedError

DEFAULT_PAUSE_S = 30.0
MAX_PAUSE_S = 3600.0
HOST_MAX_WAIT_S = 60.0


def max_wait_at(rate: HostRate) -> float:
    """Return how many seconds one request may wait at a rate.

    Two processes may have all their parallel requests waiting, so at 0.2 requests per second and 8
    in parallel it is 80 s. A slow rate then makes a scan slow, but its requests do not fail.
    """
    return max(HOST_MAX_WAIT_S, 2 * rate.parallel / rate.per_second)


class HostRateLimiter:
    """Rate limiter of one client. `max_wait_s` bounds the wait of one request."""

    def __init__(
        self,
        store: ControlStore,
        rate: HostRate,
        *,
        daily_budget: int,
        max_wait_s: float = HOST_MAX_WAIT_S,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self.max_wait_s = max_wait_s
        self._store = store
        self._rate = rate
        self._daily_budget = daily_budget
        self._clock = clock
        self._paused: dict[str, datetime] = {}

    async def wait(self, host: str, *, surface: str) -> None:
        """Wait until a request to the host may be sent.

        A pause that begins meanwhile voids the reservation: after it a new token is taken, so that
        waiting clients do not all send at once.

        Raises:
            RateLimitedError: The wait exceeds `max_wait_s`.
            BudgetSpentError: Today's budget for the host is spent.
        """
        give_up_at = self._clock.monotonic() + self.max_wait_s
        while True:
            is_turn, wait_s = await asyncio.to_thread(self._reserve, host, surface)
            if self._clock.monotonic() + wait_s > give_up_at:
                cause = "our own rate limit" if is_turn else "a pause"
                raise RateLimitedError(
                    f"{cause} lets no request go to {host} for {wait_s:.0f} s more",
                    surface=surface,
                    reason="paused" if not is_turn else "crowded",
                    retry_after=wait_s,
                )
            with nullcontext() if is_turn else waiting_for_host():
                await self._clock.sleep(wait_s)
            # Reserving may itself have taken a while, when other processes held the store. A pause
            # that began since then holds for this request, too.
            if is_turn and await asyncio.to_thread(self._pause_left, host) <= 0:
                return

    def _reserve(self, host: str, surface: str) -> tuple[bool, float]:
        """Return whether a token is reserved, and the wait for it or for the end of a pause."""
        left_s = self._pause_left(host)
        if left_s > 0:
            return False, left_s
        grant = hosts.take_token(
            self._store,
            host,
            rate_per_s=self._rate.per_second,
            burst=self._rate.burst,
            daily_budget=self._daily_budget,
        )
        if grant.spent:
            raise BudgetSpentError(
                f"today's budget of {self._daily_budget} requests to {host} is spent",
                surface=surface,
                hint="wait for the next day (UTC), or raise DAILY_REQUEST_BUDGET",
                retry_after=grant.wait_s,
            )
        return True, grant.wait_s

    def _pause_left(self, host: str) -> float:
        """Return the seconds until the pause of a host ends, by the store and by this process."""
        own = self._paused.get(host)
        stored = hosts.paused_until(self._store, host)
        until = max((end for end in (own, stored) if end is not None), default=None)
        return 0.0 if until is None else (until - self._clock.now()).total_seconds()

    async def pause(self, host: str, retry_after: str | None) -> float:
        """Pause the host for as long as it asked, and return the seconds."""
        wait_s = read_retry_after(retry_after, now=self._clock.now())
        await self.leave_alone(host, wait_s)
        return wait_s

    async def leave_alone(self, host: str, wait_s: float) -> None:
        """Pause the host for all processes."""
        until = self._clock.now() + timedelta(seconds=wait_s)
        self._paused[host] = max(until, self._paused.get(host, until))  # at once in this process
        await asyncio.to_thread(hosts.pause_host, self._store, host, until)


def read_retry_after(header: str | None, *, now: datetime) -> float:
    """Parse `Retry-After` (seconds or a date); return a default if it is absent or unreadable."""
    text = (header or "").strip()
    # `isdigit` alone accepts superscripts, which `float` refuses.
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_PAUSE_S)  # nine digits exceed the longest pause already
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return DEFAULT_PAUSE_S
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)  # HTTP dates are UTC, also those that name no zone
    return min(max((until - now).total_seconds(), 0.0), MAX_PAUSE_S)
