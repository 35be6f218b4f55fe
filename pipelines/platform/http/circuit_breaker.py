"""Circuit breaker per surface, shared by all processes.

Here: which errors count against a surface, how many open its circuit, and the error while it is
open. The control store keeps the state and lets one process probe.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from pipelines.platform.http.robots import DISALLOWED
from pipelines.platform.profiles import CircuitTimes
from warehouse.records.errors import (
    BudgetSpentError,
    ChartUnavailableError,
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    PageWithoutDataError,
    RateLimitedError,
    SametrackError,
    StructureChangedError,
    UnreachableError,
    UpstreamError,
    VerificationDemandedError,
)

OPEN_REASON = "circuit_open"
"""The `reason` of an error of our own: no request was made."""
SURFACE_OFF = "surface_off"
"""The `reason` of an error of our own: a reviewed profile patch switches the surface off."""
_FAILURE_THRESHOLDS: tuple[tuple[type[UpstreamError], int], ...] = (
    (ForbiddenError, 1),
    (VerificationDemandedError, 1),
    (LoginRequiredError, 1),
    (UnreachableError, 5),
    (EmptyAnswerError, 8),
    (PageWithoutDataError, 8),
    (ChartUnavailableError, 8),
    (StructureChangedError, 8),
)
"""How many errors in a row open the circuit.

One demand for verification or an account is enough, since it concerns the visitor. A burst of
empty responses is how an address gets blocked gradually. Responses that nobody can read, one after
the other, are a refusal of an unknown form, or a surface that is gone.
"""
_HANDLED_PER_HOST = (RateLimitedError, BudgetSpentError)  # these are handled per host
_ONE_ITEM = frozenset({"empty_detail"})  # concerns one video, not the surface
_NO_REQUEST_REASONS = frozenset({DISALLOWED, SURFACE_OFF})  # no request was made


class CircuitPermission(Protocol):
    """The control store's decision on whether a surface may be requested."""

    @property
    def is_allowed(self) -> bool:
        """True when a request may be made."""

    @property
    def is_probe(self) -> bool:
        """True when this request decides whether the circuit closes."""

    @property
    def is_clean(self) -> bool:
        """True when a success need not be recorded."""

    @property
    def wait_s(self) -> float:
        """Seconds until the next probe."""

    @property
    def cause(self) -> str | None:
        """Type of the error that opened the circuit."""


class CircuitStore(Protocol):
    """The part of the control store that holds circuit state."""

    def check_circuit(self, host: str, surface: str, *, probe_s: float) -> CircuitPermission:
        """Decide whether a surface may be requested."""

    def note_failure(
        self,
        host: str,
        surface: str,
        *,
        cause: str,
        is_probe: bool,
        threshold: int,
        open_s: float,
        longest_s: float,
    ) -> None:
        """Record a failure that counts against the surface."""

    def note_success(self, host: str, surface: str, *, is_probe: bool, with_data: bool) -> None:
        """Record a successful request."""

    def release_probe(self, host: str, surface: str) -> None:
        """Release the probe, which ended without a result."""


class CircuitBreaker:
    """The circuits of one client."""

    def __init__(self, store: CircuitStore, times: CircuitTimes) -> None:
        self._store = store
        self._times = times

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        """Guard a request to a surface; errors raised inside the block count against it.

        Raises:
            UpstreamError: The circuit is open; of the class of the error that opened it.
        """
        passage = await asyncio.to_thread(
            self._store.check_circuit, host, surface, probe_s=self._times.probe_s
        )
        if not passage.is_allowed:
            raise _refusal(passage, host, surface)
        try:
            yield
        except SametrackError as error:
            await self._learn(error, passage, host, surface)
            raise
        except BaseException:
            if passage.is_probe:
                await asyncio.shield(asyncio.to_thread(self._store.release_probe, host, surface))
            raise
        await self._worked(passage, host, surface, with_data=True)

    async def _learn(
        self, error: SametrackError, passage: CircuitPermission, host: str, surface: str
    ) -> None:
        threshold = failure_threshold(error)
        reason = error.reason if isinstance(error, UpstreamError) else None
        if threshold is not None:
            await asyncio.to_thread(
                self._store.note_failure,
                host,
                surface,
                cause=error.type,
                is_probe=passage.is_probe,
                threshold=threshold,
                open_s=self._times.open_s,
                longest_s=self._times.longest_s,
            )
        elif not isinstance(error, _HANDLED_PER_HOST) and reason not in _NO_REQUEST_REASONS:
            await self._worked(passage, host, surface, with_data=False)
        elif passage.is_probe:
            await asyncio.to_thread(self._store.release_probe, host, surface)

    async def _worked(
        self, passage: CircuitPermission, host: str, surface: str, *, with_data: bool
    ) -> None:
        if not passage.is_clean:
            await asyncio.to_thread(
                self._store.note_success,
                host,
                surface,
                is_probe=passage.is_probe,
                with_data=with_data,
            )


def failure_threshold(error: SametrackError) -> int | None:
    """Return how many errors of this class in a row open a circuit; None if it does not count."""
    if isinstance(error, UpstreamError) and error.reason in _ONE_ITEM | _NO_REQUEST_REASONS:
        return None
    return next((count for kind, count in _FAILURE_THRESHOLDS if isinstance(error, kind)), None)


def _refusal(passage: CircuitPermission, host: str, surface: str) -> UpstreamError:
    kinds: dict[str, type[UpstreamError]] = {kind.type: kind for kind, _ in _FAILURE_THRESHOLDS}
    kind = kinds.get(passage.cause or "", UnreachableError)
    return kind(
        f"{surface} at {host} refused lately; its circuit is open for {passage.wait_s:.0f} s more",
        surface=surface,
        reason=OPEN_REASON,
        retry_after=passage.wait_s,
        hint="wait; one request then probes whether it answers again",
    )
