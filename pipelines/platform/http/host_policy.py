"""Policy of a client towards hosts beyond the rate limit: circuits, revalidation, robots.txt.

Each part is optional; without it the check or the memory does not take place.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.circuit_breaker import CircuitBook, Circuits
from pipelines.platform.http.politeness import HostBook
from pipelines.platform.http.revalidation import Bodies, Known, Memory, VisitBook
from pipelines.platform.http.robots import FetchRobots, Robots, RobotsBook
from pipelines.platform.profiles import Profile


class PoliteBook(HostBook, CircuitBook, VisitBook, RobotsBook, Protocol):
    """The parts of the control store that host policy needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """Host policy of one client."""

    circuits: Circuits | None = None
    memory: Memory | None = None
    robots: Robots | None = None

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        """Guard a request to a surface; see `Circuits.watch`."""
        if self.circuits is None:
            yield
            return
        async with self.circuits.watch(host, surface):
            yield

    async def permit(self, url: str, surface: str, fetch: FetchRobots) -> None:
        """See `Robots.permit`."""
        if self.robots is not None:
            await self.robots.permit(url, surface, fetch)

    async def recall(self, address: str) -> Known | None:
        """See `Memory.recall`."""
        return None if self.memory is None else await self.memory.recall(address)


def build_manners(
    profile: Profile,
    book: PoliteBook,
    *,
    is_robots_obeyed: bool,
    bodies: Bodies | None = None,
    clock: Clock = MACHINE_CLOCK,
) -> Manners:
    """Build the policy of a profile's client. Without `bodies` no request is conditional."""
    return Manners(
        circuits=Circuits(book, profile.circuit),
        memory=None if bodies is None else Memory(book, bodies),
        robots=Robots(book, is_obeyed=is_robots_obeyed, clock=clock),
    )
