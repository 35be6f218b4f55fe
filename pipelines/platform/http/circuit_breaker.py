"""Circuit breaker per surface and per host, shared by all processes.

Here: which errors count against a surface, how many open its circuit, when a host is closed, and
the error while a circuit is open. The control store keeps the state and lets one process probe.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.profiles import CircuitTimes
from pipelines.platform.refusal_table import OF_ONE_ITEM, refusal_of
from pipelines.platform.sources.rules import ANSWERED, closes_host
from warehouse.control import ControlStore, hosts
from warehouse.control.hosts import CircuitDecision, is_probe_due
from warehouse.records import errors

OPEN_REASON = "circuit_open"
"""The `reason` of an error of our own: no request was made."""
WHOLE_HOST = "*"
"""Name of the circuit of a whole host, beside those of its surfaces."""
_FAILURE_THRESHOLDS: tuple[tuple[type[errors.UpstreamError], int], ...] = (
    (errors.ForbiddenError, 1),
    (errors.SignatureDemandedError, 1),
    (errors.VerificationDemandedError, 1),
    (errors.LoginRequiredError, 1),
    (errors.UnreachableError, 5),
    (errors.EmptyAnswerError, 8),
    (errors.PageWithoutDataError, 8),
    (errors.ChartUnavailableError, 8),
    (errors.StructureChangedError, 8),
    (errors.AudioUnavailableError, 16),
)
"""How many errors in a row open the circuit.

One demand for verification, an account or a signature is enough, since the next request would meet
it, too. A burst of empty responses is how an address gets blocked gradually. Responses that nobody
can read, one after the other, are a refusal of an unknown form, or a surface that is gone. A host
may refuse one sound six times: three addresses, and three more once its video is read again.
"""
_HANDLED_PER_HOST = (errors.RateLimitedError, errors.BudgetSpentError)  # these are handled per host
_ONE_ITEM = frozenset({"empty_detail"})  # concerns one video, not the surface
_SOUND_REFUSED = "sound_refused"  # what else is wrong with a sound concerns that sound
DISALLOWED = "robots_disallow"
"""Reason of a refusal of our own, by the host's robots.txt."""
_NO_REQUEST_REASONS = frozenset({DISALLOWED, errors.SURFACE_OFF})  # no request was made
UNASKED_REASONS = _NO_REQUEST_REASONS | {OPEN_REASON}
"""Every `reason` of an error without a request."""


_PROBING: ContextVar[bool] = ContextVar("probing", default=False)


@dataclass(eq=False)
class CircuitBreaker:
    """The circuits of one client."""

    store: ControlStore
    times: CircuitTimes
    _demands: dict[tuple[str, str], str] = field(default_factory=dict, init=False)

    @asynccontextmanager
    async def watch(self, host: str, surface: str) -> AsyncIterator[None]:
        """Guard a request to a surface; errors raised inside the block count against it.

        The circuit of the whole host is checked first; both need a successful probe to close.

        Raises:
            UpstreamError: A circuit is open; of the class of the error that opened it.
        """
        async with AsyncExitStack() as stack:
            probes = [
                await stack.enter_async_context(self._guard(host, name, surface))
                for name in (WHOLE_HOST, surface)
            ]
            # The probe itself must pass `recheck`, which knows the demand that opened the circuit.
            token = _PROBING.set(any(probes))
            try:
                yield
            finally:
                _PROBING.reset(token)

    def recheck(self, host: str, surface: str) -> None:
        """Check again right before a request that had to wait for its turn.

        Raises:
            UpstreamError: Another request of this client met a demand meanwhile.
        """
        if not _PROBING.get():
            for name in (WHOLE_HOST, surface):
                cause = self._demands.get((host, name))
                if cause is not None:
                    raise _refusal(cause, host, surface, wait_s=self.times.open_s)

    @asynccontextmanager
    async def _guard(self, host: str, name: str, surface: str) -> AsyncIterator[bool]:
        """Guard one circuit; yields whether this request is its probe."""
        checking = asyncio.ensure_future(
            asyncio.to_thread(
                hosts.check_circuit, self.store, host, name, probe_s=self.times.probe_s
            )
        )
        try:
            passage = await asyncio.shield(checking)
        except asyncio.CancelledError:
            # Nobody would use a probe that the store grants to this request meanwhile.
            if (await checking).is_probe:
                await asyncio.to_thread(hosts.release_probe, self.store, host, name)
            raise
        if not passage.is_allowed:
            raise _refusal(passage.cause, host, surface, wait_s=passage.wait_s)
        if not passage.is_probe:
            self._demands.pop((host, name), None)
        try:
            yield passage.is_probe
        except errors.SametrackError as error:
            await self._learn(error, passage, host, name)
            raise
        except BaseException:
            if passage.is_probe:
                # Shielded, as the caller is being cancelled: else nobody could probe until
                # `probe_s` is over.
                await asyncio.shield(asyncio.to_thread(hosts.release_probe, self.store, host, name))
            raise
        await self._note_success(passage, host, name, with_data=True)

    async def _learn(
        self, error: errors.SametrackError, passage: CircuitDecision, host: str, surface: str
    ) -> None:
        """Record an error in the circuit of the host or of the surface that it counts against."""
        threshold = failure_threshold(error)
        reason = error.reason if isinstance(error, errors.UpstreamError) else None
        if surface == WHOLE_HOST:
            await self._learn_of_host(error, passage, host)
        elif threshold is not None:
            await self._note_failure(error, passage, host, surface, threshold=threshold)
        # "No such id" and the refusal of one item are answers of a surface that works.
        elif not isinstance(error, _HANDLED_PER_HOST) and reason not in _NO_REQUEST_REASONS:
            await self._note_success(passage, host, surface, with_data=False)
        elif passage.is_probe:
            await asyncio.to_thread(hosts.release_probe, self.store, host, surface)

    async def _learn_of_host(
        self, error: errors.SametrackError, passage: CircuitDecision, host: str
    ) -> None:
        """Close a host by a second challenged surface; its probe is any answer but a challenge."""
        reason = error.reason if isinstance(error, errors.UpstreamError) else None
        is_answer = reason not in UNASKED_REASONS
        # Two surfaces that demand verification mean the visitor, not the surface.
        if isinstance(error, errors.VerificationDemandedError) and is_answer:
            challenged = await asyncio.to_thread(
                hosts.open_surfaces,
                self.store,
                host,
                cause=error.type,
                since_s=self.times.longest_s,
            )
            if passage.is_probe or closes_host(challenged):
                await self._note_failure(error, passage, host, WHOLE_HOST, threshold=1)
        elif not passage.is_probe:
            return
        elif is_answer and not isinstance(error, (errors.UnreachableError, *_HANDLED_PER_HOST)):
            await self._note_success(passage, host, WHOLE_HOST, with_data=False)
        else:
            await asyncio.to_thread(hosts.release_probe, self.store, host, WHOLE_HOST)

    async def _note_failure(
        self,
        error: errors.SametrackError,
        passage: CircuitDecision,
        host: str,
        surface: str,
        *,
        threshold: int,
    ) -> None:
        await asyncio.to_thread(
            hosts.note_failure,
            self.store,
            host,
            surface,
            cause=error.type,
            is_probe=passage.is_probe,
            threshold=threshold,
            open_s=self.times.open_s,
            longest_s=self.times.longest_s,
        )
        # Requests of this client that wait for their turn must not meet the demand, too.
        if threshold == 1:
            self._demands[(host, surface)] = error.type

    async def _note_success(
        self, passage: CircuitDecision, host: str, surface: str, *, with_data: bool
    ) -> None:
        self._demands.pop((host, surface), None)
        if surface == WHOLE_HOST and not passage.is_probe:
            return  # only a closed host has a circuit of its own
        if not passage.is_clean:
            await asyncio.to_thread(
                hosts.note_success,
                self.store,
                host,
                surface,
                is_probe=passage.is_probe,
                with_data=with_data,
            )


def failure_threshold(error: errors.SametrackError) -> int | None:
    """Return how many errors of this class in a row open a circuit; None if it does not count."""
    if isinstance(error, errors.UpstreamError) and error.reason in _ONE_ITEM | _NO_REQUEST_REASONS:
        return None
    if isinstance(error, errors.AudioUnavailableError) and error.reason != _SOUND_REFUSED:
        return None
    return next((count for kind, count in _FAILURE_THRESHOLDS if isinstance(error, kind)), None)


def _refusal(cause: str | None, host: str, surface: str, *, wait_s: float) -> errors.UpstreamError:
    kinds: dict[str, type[errors.UpstreamError]] = {
        kind.type: kind for kind, _ in _FAILURE_THRESHOLDS
    }
    kind = kinds.get(cause or "", errors.UnreachableError)
    return kind(
        f"{surface} at {host} refused lately; its circuit is open for {wait_s:.0f} s more",
        surface=surface,
        reason=OPEN_REASON,
        retry_after=wait_s,
        hint="wait; one request then probes whether it answers again",
    )


# What the surfaces answered lately: learned by every process, shared through the control store.
#
# Here: which outcome counts as which kind of answer, and how long it is remembered. The rule that
# draws conclusions is in `sources/rules.py`. Without a store a client learns for itself alone.

ANSWERS_KEPT = 50
HEALTH_TTL_S = 6 * 3600.0  # a surface that nobody asked for so long is unknown again
PROBE_EVERY_S = 600.0
REFRESH_S = 1.0  # how long another process's answers may go unnoticed
STEADY_WRITE_S = 60.0  # a surface that always has data is written only so often
_OF_HOST = (errors.RateLimitedError, errors.BudgetSpentError)  # they say nothing about the surface

type SurfaceKey = tuple[str, str]
"""Host and surface."""


@dataclass(eq=False)
class LearnedHealth:
    """Answers of the surfaces, as one client sees them."""

    store: ControlStore | None = None
    _: KW_ONLY
    clock: Clock = MACHINE_CLOCK
    _answers: dict[SurfaceKey, Sequence[str]] = field(default_factory=dict, init=False)
    _touched: dict[SurfaceKey, float] = field(default_factory=dict, init=False)
    _written: dict[SurfaceKey, float] = field(default_factory=dict, init=False)
    _refreshed_at: float | None = field(default=None, init=False)
    _refreshing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def answers(self) -> Mapping[SurfaceKey, Sequence[str]]:
        """Return the latest answers of every surface, oldest first."""
        if self.store is None:
            return self._answers
        # A caller that comes meanwhile waits: until then nothing would be known of any surface.
        async with self._refreshing:
            now = self.clock.monotonic()
            if self._refreshed_at is None or now - self._refreshed_at >= REFRESH_S:
                recent = await asyncio.to_thread(
                    hosts.recent_answers, self.store, max_age_s=HEALTH_TTL_S
                )
                self._answers, self._refreshed_at = dict(recent), now
        return self._answers

    async def note(self, host: str, surface: str, error: errors.SametrackError | None) -> None:
        """Record the outcome of a read; None if it had data."""
        kind = answer_kind(error)
        if kind is None:
            return
        key = (host, surface)
        if self.store is None:
            self._answers[key] = (*self._answers.get(key, ()), kind)[-ANSWERS_KEPT:]
            self._touched[key] = self.clock.monotonic()
            return
        now, answers = self.clock.monotonic(), self._answers.get(key, ())
        # Another answer like the last 50 changes nothing that is stored but its time.
        is_steady = len(answers) == ANSWERS_KEPT and {kind, *answers} == {ANSWERED}
        if is_steady and now - self._written.get(key, -STEADY_WRITE_S) < STEADY_WRITE_S:
            return
        self._written[key] = now
        self._answers[key] = await asyncio.to_thread(
            hosts.note_answer,
            self.store,
            host,
            surface,
            kind=kind,
            keep=ANSWERS_KEPT,
            max_age_s=HEALTH_TTL_S,
        )

    async def claim_probe(self, host: str, surface: str) -> bool:
        """Return True if a surface may be probed now; the interval then begins again."""
        if self.store is not None:
            return await asyncio.to_thread(
                hosts.claim_probe,
                self.store,
                host,
                surface,
                every_s=PROBE_EVERY_S,
                recovered=ANSWERED,
            )
        key, now = (host, surface), self.clock.monotonic()
        is_due = is_probe_due(
            self._answers.get(key, ()),
            since=self._touched.get(key, -PROBE_EVERY_S),
            now=now,
            every_s=PROBE_EVERY_S,
            recovered=ANSWERED,
        )
        if is_due:
            self._touched[key] = now
        return is_due


def answer_kind(error: errors.SametrackError | None) -> str | None:
    """Return the kind of an outcome; None if it says nothing about the surface.

    That is so if no request was made, if only the host answered, and if the refusal is of one item.
    """
    if error is None or isinstance(error, errors.InputError):
        return ANSWERED  # "no such id" is an answer
    if not isinstance(error, errors.UpstreamError) or isinstance(error, _OF_HOST):
        return None
    if error.reason in UNASKED_REASONS:
        return None
    row = refusal_of(error)
    if row is None:
        return error.type
    return None if row.name in OF_ONE_ITEM else row.name
