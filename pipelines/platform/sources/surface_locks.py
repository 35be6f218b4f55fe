"""Locks of surfaces: one request at a time until a surface answers.

A scan asks for many items at once. A surface that refuses would get a whole burst of requests
before the first refusal is read; with one request ahead of the others it gets one.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from pipelines.platform.http.circuit_breaker import OPEN_REASON
from pipelines.platform.http.learned_health import LearnedHealth
from pipelines.platform.refusal_table import OF_THE_SURFACE, SOURCE_ENDING_ERRORS
from warehouse.records.errors import SURFACE_OFF, UpstreamError


@dataclass(slots=True)
class _SurfaceLock:
    """The lock of one surface. `refusals` counts those that end a source."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    refusals: int = 0
    latest: UpstreamError | None = None


class SurfaceLocks:
    """The locks of one client, one per surface."""

    def __init__(self) -> None:
        self._locks: defaultdict[tuple[str, str], _SurfaceLock] = defaultdict(_SurfaceLock)

    @asynccontextmanager
    async def turn(self, health: LearnedHealth, host: str, surface: str) -> AsyncIterator[None]:
        """Wait while another request is under way, if the surface is new or refused its latest one.

        Raises:
            UpstreamError: The request that was waited for met a refusal that ends the source; it
                holds for everybody who waited, so no request was made.
        """
        state = self._locks[host, surface]
        # Counted before waiting: only a refusal that comes meanwhile holds for this request.
        before = state.refusals
        async with AsyncExitStack() as stack:
            if not await _is_open(health, host, surface):
                await stack.enter_async_context(state.lock)
                if state.refusals > before and state.latest is not None:
                    raise _same_refusal(state.latest, surface)
                if await _is_open(health, host, surface):
                    await stack.aclose()  # the others need not wait any longer
            try:
                yield
            except SOURCE_ENDING_ERRORS as error:
                if error.reason != SURFACE_OFF:  # our own patch, which tells each the same
                    state.refusals += 1
                    state.latest = error
                raise


async def _is_open(health: LearnedHealth, host: str, surface: str) -> bool:
    """Return True unless nothing is known of the surface, or its latest answer concerns it all.

    A surface that is silent holds nobody up: whoever waits for it would wait once more.
    """
    known = (await health.answers()).get((host, surface), ())
    return bool(known) and known[-1] not in OF_THE_SURFACE


def _same_refusal(error: UpstreamError, surface: str) -> UpstreamError:
    return type(error)(
        f"{surface} refused while this request waited for its answer",
        surface=surface,
        reason=OPEN_REASON,
        retry_after=error.retry_after,
    )
