"""Asks the sources of a question in the order of the rule, and reports what became of each.

Here: what is read from and written to the learned health, and which answer or error is returned.
The order is in `rules.py`, the sources are in `table.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pipelines.platform.call_trace import open_call_trace, record_verdict
from pipelines.platform.http.circuit_breaker import OPEN_REASON, UNASKED_REASONS
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import (
    DEMANDS,
    SOURCE_ENDING_ERRORS,
    RefusalPolicy,
    policy_of,
)
from pipelines.platform.sources.rules import (
    RankedSource,
    RefusalScope,
    SourceVerdict,
    displaced_sources,
    may_follow,
    order_sources,
)
from pipelines.platform.sources.surface_locks import SurfaceLocks
from pipelines.platform.sources.table import Question, Source, SourceRequest
from pipelines.platform.surfaces import HostReader, with_requests
from warehouse.records.errors import (
    SURFACE_OFF,
    RefusedLatelyError,
    UnreachableError,
    UpstreamError,
)

WALKS_KEPT = 4096


class SickPolicy(StrEnum):
    """When the best source of a question is asked although all its sources withhold their data."""

    ALWAYS = "always"
    ONCE = "once"  # a user asks for one item, which counts as a probe
    IF_DUE = "if_due"  # once per interval by all processes together


@dataclass(slots=True)
class _Attempt[R, T]:
    """The state of one question while its sources are asked."""

    question: Question[R, T]
    request: SourceRequest
    refused: list[tuple[RankedSource, RefusalScope]] = field(default_factory=list)
    errors: list[UpstreamError] = field(default_factory=list)
    sick: list[RankedSource] = field(default_factory=list)
    found: Reading[T] | None = None
    missing: frozenset[str] = frozenset()

    def wants(self, source: Source[R, T]) -> bool:
        """Return True if the source may give what is still unknown."""
        return self.found is None or bool(self.missing & source.gives)

    @property
    def is_without_data(self) -> bool:
        """True if the answer gives nothing: the surface does not show this item, another may."""
        return self.missing >= self.question.fields

    def report(self, one: RankedSource, verdict: SourceVerdict) -> None:
        """Report what became of a source."""
        record_verdict(self.question.name, one.surface, verdict)


class Planner[R: HostReader]:
    """Plans the questions of one client.

    `is_web`: the desktop surfaces are sources, too. `left_out` are surfaces that are none.
    """

    def __init__(
        self,
        at: R,
        *,
        is_web: bool = False,
        left_out: frozenset[str] = frozenset(),
        sick_policy: SickPolicy = SickPolicy.IF_DUE,
    ) -> None:
        self._at = at
        self._sick_policy = sick_policy
        self._asked_though_sick: set[str] = set()
        self._left_out = left_out
        self._is_web = is_web
        self._walks: dict[tuple[str, str], str] = {}
        self._locks = SurfaceLocks()

    async def ask[T](self, question: Question[R, T], request: SourceRequest) -> Reading[T]:
        """Return the most complete answer of the first sources that give one.

        Raises:
            UpstreamError: Every source that the plan allows refused; `RefusedLatelyError` if it
                allows none, because all withhold their data.
        """
        sources = {source.surface: source for source in self._serving(question, request)}
        attempt = _Attempt(question, request)
        with open_call_trace() as call_trace:
            ordered = await self._ordered(question, sources)
            await self._ask_displaced(ordered, sources, attempt)
            for one in ordered:
                await self._ask_in_turn(
                    one, sources[one.surface], attempt, is_first=one is ordered[0]
                )
        if attempt.found is None or (attempt.is_without_data and (attempt.errors or attempt.sick)):
            raise _most_useful(attempt)
        self._remember_walk(attempt)
        return with_requests(attempt.found, call_trace.request_count)

    def resume_walk(
        self, surface: str, entity_id: str, walks: Sequence[Question[R, object]]
    ) -> None:
        """Continue a list with the surface that gave its cursor to another process.

        The surface belongs to one of `walks`; any other is ignored.
        """
        for question in walks:
            if any(source.surface == surface for source in question.sources):
                self._keep_walk(question.name, entity_id, surface)

    def _serving[T](
        self, question: Question[R, T], request: SourceRequest
    ) -> Sequence[Source[R, T]]:
        """Return the sources of a page. A cursor belongs to the source that gave it."""
        serving = [
            source
            for source in question.sources
            if source.serves(request)
            and (self._is_web or not source.is_web)
            and source.surface not in self._left_out
        ]
        if request.is_first or not question.is_walk:
            return serving
        begun = self._walks.get((question.name, request.entity_id))
        # Another client may have begun the walk: then one source is asked, not all of them.
        return [source for source in serving if source.surface == begun] or serving[:1]

    async def _ordered[T](
        self, question: Question[R, T], sources: dict[str, Source[R, T]]
    ) -> tuple[RankedSource, ...]:
        known = await self._at.health.answers()
        ranked = []
        for place, source in enumerate(sources.values()):
            host = self._at.profile.host_of(source.surface)
            answers = known.get((host, source.surface), ())
            ranked.append(
                RankedSource(
                    surface=source.surface,
                    host=host,
                    place=place,
                    # Per request: a source that needs two must give twice as much to come first.
                    completeness=question.completeness(source),
                    prior=source.prior,
                    answers=_without_demands(answers),
                    is_demanding=bool(answers) and answers[-1] in DEMANDS,
                )
            )
        return order_sources(ranked)

    async def _ask_displaced[T](
        self,
        ordered: Sequence[RankedSource],
        sources: dict[str, Source[R, T]],
        attempt: _Attempt[R, T],
    ) -> None:
        """Probe one source that used to come first, if its interval has passed."""
        for one in displaced_sources(ordered):
            if await self._at.health.claim_probe(one.host, one.surface):
                await self._read(one, sources[one.surface], attempt, is_probe=True)
                return

    async def _ask_in_turn[T](
        self, one: RankedSource, source: Source[R, T], attempt: _Attempt[R, T], *, is_first: bool
    ) -> None:
        was_asked = any(one.surface == other.surface for other, _ in attempt.refused)
        if was_asked or not attempt.wants(source):
            return
        # A demand that a probe met holds back nothing that would have been asked without it.
        refused = [
            (other, scope)
            for other, scope in attempt.refused
            if not (is_first and scope is RefusalScope.NOT_INSTEAD)
        ]
        if not may_follow(one, refused):
            attempt.report(one, SourceVerdict.HELD_BACK)
            return
        await self._read(one, source, attempt, is_first=is_first)

    async def _asks_sick[T](
        self, one: RankedSource, attempt: _Attempt[R, T], *, is_first: bool
    ) -> bool:
        """Return True if a sick source may be asked now."""
        question, policy = attempt.question, self._sick_policy
        if question.is_essential and policy is SickPolicy.IF_DUE:
            policy = SickPolicy.ONCE
        if is_first and (policy is SickPolicy.ALWAYS or not one.withholds):
            return True  # what answers at times is better than nothing
        if is_first and policy is SickPolicy.ONCE and question.name not in self._asked_though_sick:
            self._asked_though_sick.add(question.name)
            return True
        return await self._at.health.claim_probe(one.host, one.surface)

    async def _read[T](
        self,
        one: RankedSource,
        source: Source[R, T],
        attempt: _Attempt[R, T],
        *,
        is_first: bool = False,
        is_probe: bool = False,
    ) -> None:
        """Ask a source, unless it is sick by what is known at its turn and may not be asked."""
        try:
            async with self._locks.turn(self._at.health, one.host, one.surface):
                now = await self._now(one)
                may_ask = is_probe or not now.is_sick
                if not may_ask and not await self._asks_sick(now, attempt, is_first=is_first):
                    attempt.report(one, SourceVerdict.SICK)
                    attempt.sick.append(now)
                    return
                reading = await source.read(self._at, attempt.request)
        except UpstreamError as error:
            is_closed = error.reason in UNASKED_REASONS
            attempt.report(one, SourceVerdict.CLOSED if is_closed else SourceVerdict.REFUSED)
            attempt.refused.append((one, refusal_scope(error)))
            attempt.errors.append(error)
            return
        attempt.report(one, SourceVerdict.ANSWERED)
        attempt.refused.append((one, RefusalScope.ANY))
        attempt.request = attempt.question.follow_up(reading.value, attempt.request)
        missing = attempt.question.missing(reading.value)
        if attempt.found is None or len(missing) < len(attempt.missing):
            attempt.found, attempt.missing = reading, missing

    async def _now(self, one: RankedSource) -> RankedSource:
        """Return the source with what is known of it by now."""
        known = (await self._at.health.answers()).get((one.host, one.surface), ())
        return replace(one, answers=_without_demands(known))

    def _remember_walk[T](self, attempt: _Attempt[R, T]) -> None:
        is_begun = attempt.question.is_walk and attempt.request.is_first
        if is_begun and attempt.found is not None:
            name, entity_id = attempt.question.name, attempt.request.entity_id
            self._keep_walk(name, entity_id, attempt.found.surface)

    def _keep_walk(self, question: str, entity_id: str, surface: str) -> None:
        # Taken out first, so that it counts as the newest and the oldest walk is dropped.
        self._walks.pop((question, entity_id), None)
        self._walks[question, entity_id] = surface
        if len(self._walks) > WALKS_KEPT:
            del self._walks[next(iter(self._walks))]


def refusal_scope(error: UpstreamError) -> RefusalScope:
    """Return which sources may be asked after an error, by its policies in the refusal table."""
    policies = policy_of(error)
    is_silent = isinstance(error, UnreachableError) and error.status is None
    if RefusalPolicy.OTHER_HOST in policies or (is_silent and error.reason != OPEN_REASON):
        return RefusalScope.OTHER_HOST
    if RefusalPolicy.OTHER_SOURCE in policies:
        return RefusalScope.ANY
    return RefusalScope.NOT_INSTEAD if RefusalPolicy.OPEN_CIRCUIT in policies else RefusalScope.NONE


def _without_demands(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the answers that say what a source is worth.

    A demand says nothing about that, and its circuit handles it. If it counted, the next source of
    the same host would move before it and be asked in its place.
    """
    return tuple(kind for kind in kinds if kind not in DEMANDS)


def _most_useful[R: HostReader, T](attempt: _Attempt[R, T]) -> UpstreamError:
    """Return the error of the best source; one that ends a source only if all errors do.

    A source that a profile patch switches off is as none, unless all are off.
    """
    told = [error for error in attempt.errors if error.reason != SURFACE_OFF]
    if told or not attempt.sick:
        errors = told or attempt.errors
        return min(errors, key=lambda error: isinstance(error, SOURCE_ENDING_ERRORS))
    best = attempt.sick[0]
    return RefusedLatelyError(
        f"{best.surface} at {best.host} refused {best.refusals} of its last {len(best.answers)} "
        "requests, so it was not asked",
        surface=best.surface,
        reason=best.answers[-1],
        hint="one request in ten minutes probes whether it answers again",
    )
