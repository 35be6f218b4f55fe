"""Policies that let every request go at once, for tests that are not about politeness."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pipelines.platform.http.circuit_breaker import CircuitBreaker
from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.profiles import HostRate

AT_ONCE = HostRate(per_second=1_000_000, burst=1_000_000, parallel=4)
"""On a control store: pauses and budgets hold, and nobody waits for a token."""


class NoRateLimit(HostRateLimiter):
    """Lets every request go at once, and needs no store."""

    def __init__(self) -> None:
        self.max_wait_s = 0.0

    async def wait(self, host: str, *, surface: str) -> None:
        return


class NoCircuits(CircuitBreaker):
    """Stays closed whatever a surface answers, and needs no store."""

    def __init__(self) -> None:
        """Take neither store nor times."""

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        yield

    def recheck(self, host: str, surface: str) -> None:
        return
