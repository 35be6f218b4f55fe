"""Leaving a surface alone that says no, together with all other processes.

Here: which answers count against a surface and how many of them are too many, and the refusal
while its circuit is open. The control store keeps the state and gives one process the probe.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from pipelines.platform.http.robots import DISALLOWED
from pipelines.platform.profiles import Circuit
from warehouse.records.errors import (
    BudgetSpentError,
    ChartUnavailableError,
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    PageWithoutDataError,
    RateLimitedError,
    SametrackError,
    UnreachableError,
    UpstreamError,
    VerificationDemandedError,
)

OPEN_REASON = "circuit_open"
"""The `reason` of a refusal that is ours: nothing was asked."""
_TOO_MANY: tuple[tuple[type[UpstreamError], int], ...] = (
    (ForbiddenError, 1),
    (VerificationDemandedError, 1),
    (LoginRequiredError, 1),
    (UnreachableError, 5),
    (EmptyAnswerError, 8),
    (PageWithoutDataError, 8),
    (ChartUnavailableError, 8),
)
"""How many in a row open the circuit. What is said to the visitor holds for the next visit too;
a burst of nothing is how an address is shut out slowly.
"""
_SAYS_NOTHING = (RateLimitedError, BudgetSpentError)  # the waits of these are kept per host
_ONE_ITEM = frozenset({"empty_detail"})  # said of one work, not of the surface
_OURS = frozenset({DISALLOWED})  # nothing was asked


class Passage(Protocol):
    """What the control store says of a wish to ask."""

    @property
    def is_allowed(self) -> bool:
        """True when the surface may be asked."""

    @property
    def is_probe(self) -> bool:
        """True when this request decides whether the circuit closes."""

    @property
    def is_clean(self) -> bool:
        """True when a success would be no news."""

    @property
    def wait_s(self) -> float:
        """Seconds until the next probe."""

    @property
    def cause(self) -> str | None:
        """Type of the error that opened the circuit."""


class CircuitBook(Protocol):
    """The part of the control store that keeps circuits."""

    def enter_circuit(self, host: str, surface: str, *, probe_s: float) -> Passage:
        """Whether a surface may be asked."""

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
        """A request failed in a way that counts."""

    def note_success(self, host: str, surface: str, *, is_probe: bool, with_data: bool) -> None:
        """A request was answered."""

    def give_up_probe(self, host: str, surface: str) -> None:
        """The probe ended without saying anything."""


class Circuits:
    """The circuits of one client."""

    def __init__(self, book: CircuitBook, times: Circuit) -> None:
        self._book = book
        self._times = times

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        """Ask a surface inside this block; what is raised in it is what the surface said.

        Raises:
            UpstreamError: The circuit is open; its class is that of what opened it.
        """
        passage = await asyncio.to_thread(
            self._book.enter_circuit, host, surface, probe_s=self._times.probe_s
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
                await asyncio.shield(asyncio.to_thread(self._book.give_up_probe, host, surface))
            raise
        await self._worked(passage, host, surface, with_data=True)

    async def _learn(
        self, error: SametrackError, passage: Passage, host: str, surface: str
    ) -> None:
        threshold = too_many(error)
        reason = error.reason if isinstance(error, UpstreamError) else None
        if threshold is not None:
            await asyncio.to_thread(
                self._book.note_failure,
                host,
                surface,
                cause=error.type,
                is_probe=passage.is_probe,
                threshold=threshold,
                open_s=self._times.open_s,
                longest_s=self._times.longest_s,
            )
        elif not isinstance(error, _SAYS_NOTHING) and reason not in _OURS:
            await self._worked(passage, host, surface, with_data=False)
        elif passage.is_probe:
            await asyncio.to_thread(self._book.give_up_probe, host, surface)

    async def _worked(self, passage: Passage, host: str, surface: str, *, with_data: bool) -> None:
        if not passage.is_clean:
            await asyncio.to_thread(
                self._book.note_success,
                host,
                surface,
                is_probe=passage.is_probe,
                with_data=with_data,
            )


def too_many(error: SametrackError) -> int | None:
    """How many errors of this sort in a row open a circuit; None: it does not count."""
    if isinstance(error, UpstreamError) and error.reason in _ONE_ITEM | _OURS:
        return None
    return next((count for kind, count in _TOO_MANY if isinstance(error, kind)), None)


def _refusal(passage: Passage, host: str, surface: str) -> UpstreamError:
    kinds: dict[str, type[UpstreamError]] = {kind.type: kind for kind, _ in _TOO_MANY}
    kind = kinds.get(passage.cause or "", UnreachableError)
    return kind(
        f"{surface} at {host} said no lately and is left alone for {passage.wait_s:.0f} s more",
        surface=surface,
        reason=OPEN_REASON,
        retry_after=passage.wait_s,
        hint="wait; one request then finds out whether it answers again",
    )
