"""Asks the sources of a question in the order of `rules.py`, and reads the surface of each.

`SurfaceReader` fetches and parses one surface and notes how it answers, `SurfaceLocks` lets one
request go ahead of a burst, `Planner` asks the sources and returns the best answer or error. Every
response passes the refusal checks before its parser, and again after it if it held no data. The
sources are in `table.py`, the reactions to a refusal in `refusal_table.py`.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from http import HTTPStatus
from typing import Any

from pipelines.platform import refusal_table
from pipelines.platform.call_trace import HttpResponse, current_trace, open_call_trace
from pipelines.platform.http.circuit_breaker import OPEN_REASON, UNASKED_REASONS, LearnedHealth
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import SickPolicy
from pipelines.platform.http.link_gate import read_address
from pipelines.platform.parsers.links import host_matches
from pipelines.platform.parsers.refusals import explain, refuse_answer
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.sources import rules, table
from pipelines.platform.sources.rules import ANSWERED
from warehouse.records import errors


class HostReader[C]:
    """Reads surfaces through one client, and learns how each of them answers.

    `C` is the context that its parsers need beside a body and the requested id.
    """

    def __init__(self, client: GuestClient) -> None:
        self.client = client
        self.profile = client.profile
        self.health = client.policy.health
        self._repeated: set[str] = set()

    async def read[T](
        self,
        http_request: HttpRequest,
        request: table.SourceRequest,
        parse: Callable[[bytes, str, C], T],
        *,
        twice: bool = False,
    ) -> table.Reading[T]:
        """Fetch, classify, parse, and learn how the surface answers.

        Args:
            http_request: The request to send.
            request: What it asks for.
            parse: Returns the value of a body, for the requested id.
            twice: Repeat the request once after a refusal that the first response of a visit may
                be: it only set cookies, or came from a cold edge node.

        Raises:
            UpstreamError: The response is a refusal, or unknown in structure. If the circuit opens
                before the request can be repeated, it is the error of the first response.
        """
        surface, host = http_request.surface, self.profile.host_of(http_request.surface)
        first_error: errors.UpstreamError | None = None
        with open_call_trace() as call_trace:
            while True:
                try:
                    async with self.client.circuit(http_request):
                        response = await self.client.fetch(http_request)
                        value = self.interpret(response, request, parse)
                    break
                except errors.SametrackError as error:
                    await self.health.note(host, surface, error)
                    if first_error is not None and isinstance(error, errors.UpstreamError):
                        raise (first_error if error.reason in UNASKED_REASONS else error) from None
                    may_repeat = twice and allows_policy(error, RefusalPolicy.ONCE_MORE)
                    if not isinstance(error, errors.UpstreamError) or not may_repeat:
                        raise
                    # The first anonymous answer of some hosts only sets the visitor's cookie.
                    if await self.is_repeated_in_vain(surface):
                        raise
                    first_error = error
                self._repeated.add(surface)
            await self.health.note(host, surface, None)
        if first_error is not None:
            self._repeated.discard(surface)
        return table.Reading(
            surface=surface,
            entity_id=request.entity_id,
            value=value,
            payload=response.body,
            content_type=response.content_type,
            http_status=HTTPStatus.NOT_MODIFIED if response.is_unchanged else response.status,
            source_path=response.path,
            fetched_at=response.fetched_at,
            request_count=call_trace.request_count,
        )

    def interpret[T](
        self,
        response: HttpResponse,
        request: table.SourceRequest,
        parse: Callable[[bytes, str, C], T],
    ) -> T:
        """Return what a response holds; raise if it is a refusal."""
        raise NotImplementedError

    async def is_repeated_in_vain(self, surface: str) -> bool:  # noqa: ARG002  # for subclasses
        """Return True if repeating a request to the surface is known not to help."""
        return False


class SurfaceReader(HostReader[ParseContext]):
    """The surfaces of the platform in a client's profile."""

    def build_request(
        self, surface: str, params: Mapping[str, str], *, is_page: bool = False
    ) -> HttpRequest:
        """Build a request. Of a share page, `params` are the ids in its path."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface, **(params if is_page else {})),
            allowed=self.profile.links.redirect,
            params={} if is_page else params,
            ends_at=self.ends_at,
        )

    def ends_at(self, target: str) -> bool:
        """Return True for redirects that are answers: deleted, other region, verification."""
        address = read_address(target)
        return address is not None and (
            self.profile.markers.gone_query in address.target
            or self.profile.markers.verification_path in address.path
            or host_matches(address.host, self.profile.links.region)
        )

    def is_gone(self, response: HttpResponse) -> bool:
        """Return True for the redirect of a deleted video; the video it names is unrelated."""
        return self.profile.markers.gone_query in (response.location or "")

    def interpret[T](
        self,
        response: HttpResponse,
        request: table.SourceRequest,
        parse: Callable[[bytes, str, ParseContext], T],
    ) -> T:
        """Parse a response that is no refusal; a page without data names its reason."""
        context = ParseContext(
            surface=response.surface,
            observed_at=response.fetched_at,
            link_of=self.profile.video_link,
            address=response.url,
            place=request.place,
            is_first=request.is_first,
            is_gone=self.is_gone(response),
        )
        # The redirect of a deleted video is an answer about the video, which its parser reads.
        if not context.is_gone:
            refuse_answer(response, self.profile.markers)
        try:
            return parse(response.body, request.entity_id, context)
        except (errors.PageWithoutDataError, errors.StructureChangedError) as error:
            named = self.explain(error, response)
            if named is error:
                raise
            raise named from error

    def explain(self, error: errors.UpstreamError, response: HttpResponse) -> errors.UpstreamError:
        """Return a more specific error for a response without data, if its page shows one."""
        return explain(error, response, self.profile.markers)

    async def is_repeated_in_vain(self, surface: str) -> bool:
        """Return True if a retry did not help before, and the surface never had data.

        The visitor's cookies are set once, so a later first response has nothing new to set.
        """
        answers = await self.health.answers()
        kinds = answers.get((self.profile.host_of(surface), surface), ())
        return surface in self._repeated and ANSWERED not in kinds


WALKS_KEPT = 4096


@dataclass(slots=True)
class _Attempt[R, T]:
    """The state of one question while its sources are asked."""

    question: table.Question[R, T]
    request: table.SourceRequest
    # The sources asked so far, and which others may still follow.
    asked: list[tuple[rules.RankedSource, rules.RefusalScope]] = field(default_factory=list)
    upstream_errors: list[errors.UpstreamError] = field(default_factory=list)
    sick: list[rules.RankedSource] = field(default_factory=list)
    reading: table.Reading[T] | None = None
    missing: frozenset[str] = frozenset()


@dataclass(slots=True)
class _SurfaceLock:
    """The lock of one surface. `refusals` counts those that end a source."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    refusals: int = 0
    latest: errors.UpstreamError | None = None


@dataclass(frozen=True)
class SurfaceLocks:
    """The locks of one client, one per surface: one request at a time until a surface answers.

    A scan asks for many items at once. A surface that refuses would get a whole burst of requests
    before the first refusal is read; with one request ahead of the others it gets one.
    """

    _locks: defaultdict[tuple[str, str], _SurfaceLock] = field(
        default_factory=lambda: defaultdict(_SurfaceLock), init=False
    )

    @asynccontextmanager
    async def turn(self, health: LearnedHealth, host: str, surface: str) -> AsyncIterator[None]:
        """Wait while another request is under way, if the surface is new or refused its latest one.

        Raises:
            UpstreamError: The surface refused the request ahead as a whole. The waiting ones fail
                with the same error, and are not sent.
        """
        state = self._locks[host, surface]
        # Counted before waiting: only a refusal that comes meanwhile holds for this request.
        refusals_before = state.refusals
        async with AsyncExitStack() as stack:
            if not await _is_open(health, host, surface):
                await stack.enter_async_context(state.lock)
                if state.refusals > refusals_before and state.latest is not None:
                    raise type(state.latest)(
                        f"{surface} refused while this request waited for its answer",
                        surface=surface,
                        reason=OPEN_REASON,
                        retry_after=state.latest.retry_after,
                    )
                if await _is_open(health, host, surface):
                    await stack.aclose()  # the others need not wait any longer
            try:
                yield
            except refusal_table.SOURCE_ENDING_ERRORS as error:
                if error.reason != errors.SURFACE_OFF:  # our own patch, which tells each the same
                    state.refusals += 1
                    state.latest = error
                raise


async def _is_open(health: LearnedHealth, host: str, surface: str) -> bool:
    """Return True if requests need not wait: the surface answered, and did not refuse as a whole.

    A timeout makes nobody wait: each would then wait for one more.
    """
    answers = (await health.answers()).get((host, surface), ())
    return bool(answers) and answers[-1] not in refusal_table.OF_THE_SURFACE


@dataclass(eq=False)
class Planner[R: HostReader[Any]]:
    """Plans the questions of one client.

    `is_web`: the desktop surfaces are sources, too. `left_out`: surfaces never to use.
    """

    reader: R
    _: KW_ONLY
    is_web: bool = False
    left_out: frozenset[str] = frozenset()
    sick_policy: SickPolicy = SickPolicy.IF_DUE
    _asked_though_sick: set[str] = field(default_factory=set, init=False)
    _walks: dict[tuple[str, str], str] = field(default_factory=dict, init=False)
    _locks: SurfaceLocks = field(default_factory=SurfaceLocks, init=False)

    async def ask[T](
        self, question: table.Question[R, T], request: table.SourceRequest
    ) -> table.Reading[T]:
        """Ask sources in order until no field is missing; return the most complete answer.

        Raises:
            UpstreamError: Every source that the plan allows refused; `RefusedLatelyError` if it
                allows none, because all withhold their data.
        """
        attempt = _Attempt(question, request)
        with open_call_trace() as call_trace:
            sources = await self._plan(question, request)
            ordered = tuple(sources)
            # One source that used to come first is probed if its interval has passed.
            for ranked in rules.displaced_sources(ordered):
                if await self.reader.health.claim_probe(ranked.host, ranked.surface):
                    await self._read(ranked, sources[ranked], attempt, is_probe=True)
                    break
            for ranked, source in sources.items():
                is_top_ranked = ranked is ordered[0]
                was_asked = any(ranked.surface == other.surface for other, _ in attempt.asked)
                gives_more = attempt.reading is None or attempt.missing & source.gives
                if was_asked or not gives_more:
                    continue
                # A demand that the probe met must not hold back the top-ranked source, which would
                # have been asked without the probe, too.
                refused = [
                    (other, scope)
                    for other, scope in attempt.asked
                    if not (is_top_ranked and scope is rules.RefusalScope.NOT_INSTEAD)
                ]
                if rules.may_follow(ranked, refused):
                    await self._read(ranked, source, attempt, is_top_ranked=is_top_ranked)
                else:
                    held_back = question.name, ranked.surface, rules.SourceVerdict.HELD_BACK
                    call_trace.verdicts[held_back] += 1
        reading = attempt.reading
        # An answer that gives nothing says that this surface does not show the item.
        is_without_data = attempt.missing >= question.fields
        if reading is None or (is_without_data and (attempt.upstream_errors or attempt.sick)):
            raise _most_useful_error(attempt)
        if question.is_walk and attempt.request.is_first:
            self._keep_walk(question.name, attempt.request.entity_id, reading.surface)
        return replace(reading, request_count=call_trace.request_count)

    def resume_walk(
        self, surface: str, entity_id: str, walks: Sequence[table.Question[R, object]]
    ) -> None:
        """Continue a list with the surface that gave its cursor to another process.

        The surface belongs to one of `walks`; any other is ignored.
        """
        for question in walks:
            if any(source.surface == surface for source in question.sources):
                self._keep_walk(question.name, entity_id, surface)

    async def _plan[T](
        self, question: table.Question[R, T], request: table.SourceRequest
    ) -> dict[rules.RankedSource, table.Source[R, T]]:
        """Return the sources of a page in the order in which they are asked."""
        other_pages = table.SourcePages.LATER if request.is_first else table.SourcePages.FIRST
        serving = [
            source
            for source in question.sources
            if source.pages is not other_pages
            and (self.is_web or not source.is_web)
            and source.surface not in self.left_out
        ]
        if question.is_walk and not request.is_first:
            # A cursor belongs to the source that gave it. Another client may have begun the walk:
            # then one source is asked, not all of them.
            begun = self._walks.get((question.name, request.entity_id))
            serving = [source for source in serving if source.surface == begun] or serving[:1]
        answers_of = await self.reader.health.answers()
        ranked = {}
        for place, source in enumerate(serving):
            host = self.reader.profile.host_of(source.surface)
            answers = answers_of.get((host, source.surface), ())
            rank = rules.RankedSource(
                surface=source.surface,
                host=host,
                place=place,
                # Repeated requests count in its success share.
                completeness=len(question.fields & source.gives) / len(question.fields),
                prior=source.prior,
                answers=_without_demands(answers),
                is_demanding=bool(answers) and answers[-1] in refusal_table.DEMANDS,
            )
            ranked[rank] = source
        return {rank: ranked[rank] for rank in rules.order_sources(ranked)}

    async def _read[T](
        self,
        ranked: rules.RankedSource,
        source: table.Source[R, T],
        attempt: _Attempt[R, T],
        *,
        is_top_ranked: bool = False,
        is_probe: bool = False,
    ) -> None:
        """Ask a source, unless it is sick by what is known at its turn and may not be asked."""
        name, health = attempt.question.name, self.reader.health
        verdicts = current_trace().verdicts
        try:
            async with self._locks.turn(health, ranked.host, ranked.surface):
                answers = (await health.answers()).get((ranked.host, ranked.surface), ())
                current = replace(ranked, answers=_without_demands(answers))
                may_ask = is_probe or not current.is_sick
                if not may_ask and not await self._asks_sick(
                    current, attempt, is_top_ranked=is_top_ranked
                ):
                    verdicts[name, ranked.surface, rules.SourceVerdict.SICK] += 1
                    attempt.sick.append(current)
                    return
                reading = await source.read(self.reader, attempt.request)
        except errors.UpstreamError as error:
            is_closed = error.reason in UNASKED_REASONS
            verdict = rules.SourceVerdict.CLOSED if is_closed else rules.SourceVerdict.REFUSED
            verdicts[name, ranked.surface, verdict] += 1
            attempt.asked.append((ranked, refusal_scope(error)))
            attempt.upstream_errors.append(error)
            return
        verdicts[name, ranked.surface, rules.SourceVerdict.ANSWERED] += 1
        attempt.asked.append((ranked, rules.RefusalScope.ANY))
        attempt.request = attempt.question.follow_up(reading.value, attempt.request)
        missing = attempt.question.missing(reading.value)
        if attempt.reading is None or len(missing) < len(attempt.missing):
            attempt.reading, attempt.missing = reading, missing

    async def _asks_sick[T](
        self, ranked: rules.RankedSource, attempt: _Attempt[R, T], *, is_top_ranked: bool
    ) -> bool:
        """Return True if a sick source may be asked now."""
        question, policy = attempt.question, self.sick_policy
        if question.is_essential and policy is SickPolicy.IF_DUE:
            policy = SickPolicy.ONCE
        if is_top_ranked and (policy is SickPolicy.ALWAYS or not ranked.withholds):
            return True  # what answers at times is better than nothing
        was_asked = question.name in self._asked_though_sick
        if is_top_ranked and policy is SickPolicy.ONCE and not was_asked:
            self._asked_though_sick.add(question.name)
            return True
        return await self.reader.health.claim_probe(ranked.host, ranked.surface)

    def _keep_walk(self, question: str, entity_id: str, surface: str) -> None:
        # Taken out first, so that it counts as the newest and the oldest walk is dropped.
        self._walks.pop((question, entity_id), None)
        self._walks[question, entity_id] = surface
        if len(self._walks) > WALKS_KEPT:
            del self._walks[next(iter(self._walks))]


def refusal_scope(error: errors.UpstreamError) -> rules.RefusalScope:
    """Return which sources may be asked after an error, by its policies in the refusal table."""
    policies = refusal_table.policy_of(error)
    is_silent = isinstance(error, errors.UnreachableError) and error.status is None
    if refusal_table.RefusalPolicy.OTHER_HOST in policies or (
        is_silent and error.reason != OPEN_REASON
    ):
        return rules.RefusalScope.OTHER_HOST
    if refusal_table.RefusalPolicy.OTHER_SOURCE in policies:
        return rules.RefusalScope.ANY
    return (
        rules.RefusalScope.NOT_INSTEAD
        if refusal_table.RefusalPolicy.OPEN_CIRCUIT in policies
        else rules.RefusalScope.NONE
    )


def _without_demands(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the answers that say what a source is worth.

    A demand says nothing about that, and its circuit handles it. If it counted, the next source of
    the same host would move before it and be asked in its place.
    """
    return tuple(kind for kind in kinds if kind not in refusal_table.DEMANDS)


def _most_useful_error[R: HostReader[Any], T](attempt: _Attempt[R, T]) -> errors.UpstreamError:
    """Return the error of the best source; one that ends a source only if all errors do.

    A source that a profile patch switches off does not count, unless all are off.
    """
    refusals = [error for error in attempt.upstream_errors if error.reason != errors.SURFACE_OFF]
    if refusals or not attempt.sick:
        return min(
            refusals or attempt.upstream_errors,
            key=lambda error: isinstance(error, refusal_table.SOURCE_ENDING_ERRORS),
        )
    best = attempt.sick[0]
    return errors.RefusedLatelyError(
        f"{best.surface} at {best.host} refused {best.refusals} of its last {len(best.answers)} "
        "requests, so it was not asked",
        surface=best.surface,
        reason=best.answers[-1],
        hint="one request in ten minutes probes whether it answers again",
    )
