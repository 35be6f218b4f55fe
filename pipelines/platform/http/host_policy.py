"""Policy of a client towards hosts beyond the rate limit: circuits, revalidation, robots.txt.

Each part is optional; without it the check or the memory does not take place.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.circuit_breaker import CircuitBreaker
from pipelines.platform.http.learned_health import LearnedHealth
from pipelines.platform.http.revalidation import ReadBody, ResponseMemory, StoredResponse
from pipelines.platform.http.robots import FetchRobots, RobotsPolicy
from pipelines.platform.profiles import PlatformProfile
from warehouse.control import ControlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """Host policy of one client."""

    circuits: CircuitBreaker | None = None
    memory: ResponseMemory | None = None
    robots: RobotsPolicy | None = None
    health: LearnedHealth | None = None

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        """Guard a request to a surface; see `CircuitBreaker.watch`."""
        if self.circuits is None:
            yield
            return
        async with self.circuits.watch(host, surface):
            yield

    def recheck(self, host: str, surface: str) -> None:
        """See `CircuitBreaker.recheck`."""
        if self.circuits is not None:
            self.circuits.recheck(host, surface)

    async def permit(self, url: str, surface: str, fetch: FetchRobots) -> None:
        """See `RobotsPolicy.permit`."""
        if self.robots is not None:
            await self.robots.permit(url, surface, fetch)

    async def recall(self, address: str) -> StoredResponse | None:
        """See `ResponseMemory.recall`."""
        return None if self.memory is None else await self.memory.recall(address)


def build_host_policy(
    profile: PlatformProfile,
    store: ControlStore,
    *,
    obeys_robots: bool,
    read_body: ReadBody | None = None,
    clock: Clock = MACHINE_CLOCK,
) -> HostPolicy:
    """Build the policy of a profile's client. Without `read_body` no request is conditional."""
    return HostPolicy(
        circuits=CircuitBreaker(store, profile.circuit),
        memory=None if read_body is None else ResponseMemory(store, read_body),
        robots=RobotsPolicy(store, is_obeyed=obeys_robots, clock=clock),
        health=LearnedHealth(store, clock=clock),
    )
