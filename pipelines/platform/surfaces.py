"""Reads one surface of the platform: from the profile's URL to a parsed reading.

Every response passes the refusal checks before its parser, and again after it if it held no data.
The reactions to a refusal are listed in `refusal_table.py` and applied by the planner
(`sources/planner.py`); only "once more" is applied here.
"""

from collections.abc import Callable
from dataclasses import replace

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.circuit_breaker import UNASKED_REASONS
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_names import host_matches
from pipelines.platform.http.learned_health import LearnedHealth
from pipelines.platform.http.link_gate import read_address
from pipelines.platform.parsers.refusals import explain, refuse_answer
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.sources.rules import ANSWERED
from warehouse.records.errors import (
    PageWithoutDataError,
    SametrackError,
    StructureChangedError,
    UpstreamError,
)


class HostReader:
    """Reads surfaces through one client, and learns how each of them answers."""

    def __init__(self, client: GuestClient) -> None:
        self.client = client
        self.profile = client.profile
        self.health = client.learned_health or LearnedHealth()

    async def read[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[HttpResponse], T]
    ) -> Reading[T]:
        """Fetch, classify, parse, and learn how the surface answers.

        Raises:
            UpstreamError: The response is a refusal, or unknown in structure.
        """
        host = self.profile.host_of(ask.surface)
        with open_call_trace() as call_trace:
            try:
                async with self.client.circuit(ask):
                    answer = await self.client.fetch(ask)
                    value = self.interpret(answer, parse)
            except SametrackError as error:
                await self.health.note(host, ask.surface, error)
                raise
            await self.health.note(host, ask.surface, None)
        return Reading(
            surface=ask.surface,
            entity_id=entity_id,
            value=value,
            payload=answer.body,
            content_type=answer.content_type,
            http_status=answer.wire_status,
            source_path=answer.path,
            fetched_at=answer.fetched_at,
            request_count=call_trace.request_count,
        )

    def interpret[T](self, answer: HttpResponse, parse: Callable[[HttpResponse], T]) -> T:
        """Return what a response holds; raise if it is a refusal."""
        raise NotImplementedError


class SurfaceReader(HostReader):
    """The surfaces of the platform in a client's profile."""

    def __init__(self, client: GuestClient) -> None:
        super().__init__(client)
        self._repeated_in_vain: set[str] = set()

    def ask(self, surface: str, **params: str) -> HttpRequest:
        """Build a request to a JSON surface."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface),
            allowed=self.profile.links.redirect,
            params=params,
            ends_at=self.ends_at,
        )

    def ask_page(self, surface: str, **ids: str) -> HttpRequest:
        """Build a request to a share page."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface, **ids),
            allowed=self.profile.links.redirect,
            ends_at=self.ends_at,
        )

    def seen(self, answer: HttpResponse) -> ParseContext:
        """Build the parse context of a response."""
        return ParseContext(
            surface=answer.surface,
            observed_at=answer.fetched_at,
            link_of=self.profile.video_link,
            address=answer.url,
        )

    def ends_at(self, target: str) -> bool:
        """Return True for redirects that are answers: deleted, other region, verification."""
        address = read_address(target)
        return address is not None and (
            self.profile.markers.gone_query in address.target
            or self.profile.markers.verification_path in address.path
            or host_matches(address.host, self.profile.links.region)
        )

    def is_gone(self, answer: HttpResponse) -> bool:
        """Return True for the redirect of a deleted video; the video it names is unrelated."""
        return self.profile.markers.gone_query in (answer.location or "")

    def refuse(self, answer: HttpResponse) -> None:
        """Raise for a refusal that the HTTP response alone shows.

        Raises:
            UpstreamError: The response is a refusal.
        """
        refuse_answer(answer, self.profile.markers)

    def explain(self, error: UpstreamError, answer: HttpResponse) -> UpstreamError:
        """Return a more specific error for a response without data, if its page shows one."""
        return explain(error, answer, self.profile.markers)

    async def read_twice[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[HttpResponse], T]
    ) -> Reading[T]:
        """Read, and retry once if the first response only set the visitor's cookies.

        Cookies are set once: a surface that refused the retry, too, and never had data is not
        retried again.

        Raises:
            UpstreamError: The response is a refusal, or unknown in structure. If the retry was
                never sent, since the circuit opened meanwhile, it is that of the first response.
        """
        with open_call_trace() as call_trace:
            try:
                return await self.read(ask, entity_id, parse)
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.ONCE_MORE) or await self._is_vain(ask):
                    raise
                refused = error
            self._repeated_in_vain.add(ask.surface)
            try:
                found = await self.read(ask, entity_id, parse)
            except UpstreamError as error:
                raise (refused if error.reason in UNASKED_REASONS else error) from None
            self._repeated_in_vain.discard(ask.surface)
        return with_requests(found, call_trace.request_count)

    async def _is_vain(self, ask: HttpRequest) -> bool:
        """Return True if a retry did not help before, and the surface never had data."""
        known = await self.health.answers()
        answers = known.get((self.profile.host_of(ask.surface), ask.surface), ())
        return ask.surface in self._repeated_in_vain and ANSWERED not in answers

    def interpret[T](self, answer: HttpResponse, parse: Callable[[HttpResponse], T]) -> T:
        """Parse a response that is no refusal; a page without data names its reason."""
        if not self.is_gone(answer):
            self.refuse(answer)
        try:
            return parse(answer)
        except (PageWithoutDataError, StructureChangedError) as error:
            named = self.explain(error, answer)
            if named is error:
                raise
            raise named from error


def with_requests[T](reading: Reading[T], request_count: int) -> Reading[T]:
    """Return the reading with its total number of requests."""
    return replace(reading, request_count=request_count)
