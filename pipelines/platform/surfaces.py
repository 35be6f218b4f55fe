"""Reads one surface of the platform: from the profile's URL to a parsed reading.

Every response passes the refusal checks before its parser, and again after it if it held no data.
The reactions to a refusal are listed in `refusal_table.py` and applied by the planner
(`sources/planner.py`); only "once more" is applied here.
"""

from collections.abc import Callable

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.circuit_breaker import UNASKED_REASONS, LearnedHealth
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.link_gate import read_address
from pipelines.platform.parsers.links import host_matches
from pipelines.platform.parsers.refusals import explain, refuse_answer
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.sources.rules import ANSWERED
from pipelines.platform.sources.table import Reading, SourceRequest
from warehouse.records import errors


class HostReader[C]:
    """Reads surfaces through one client, and learns how each of them answers.

    `C` is the context that its parsers need beside a body and the requested id.
    """

    def __init__(self, client: GuestClient) -> None:
        self.client = client
        self.profile = client.profile
        self.health = client.learned_health or LearnedHealth()
        self._repeated: set[str] = set()

    async def read[T](
        self,
        http_request: HttpRequest,
        request: SourceRequest,
        parse: Callable[[bytes, str, C], T],
        *,
        twice: bool = False,
    ) -> Reading[T]:
        """Fetch, classify, parse, and learn how the surface answers.

        Args:
            http_request: The request to send.
            request: What it asks for.
            parse: Returns the value of a body, for the requested id.
            twice: Repeat the request once after a refusal that the first response of a visit may
                be: it only set cookies, or came from a cold edge node.

        Raises:
            UpstreamError: The response is a refusal, or unknown in structure. If the repetition was
                not sent, since the circuit opened meanwhile, it is that of the first response.
        """
        surface, host = http_request.surface, self.profile.host_of(http_request.surface)
        first: errors.UpstreamError | None = None
        with open_call_trace() as call_trace:
            while True:
                try:
                    async with self.client.circuit(http_request):
                        response = await self.client.fetch(http_request)
                        value = self.interpret(response, request, parse)
                    break
                except errors.SametrackError as error:
                    await self.health.note(host, surface, error)
                    if first is not None and isinstance(error, errors.UpstreamError):
                        raise (first if error.reason in UNASKED_REASONS else error) from None
                    may_repeat = twice and allows_policy(error, RefusalPolicy.ONCE_MORE)
                    if not isinstance(error, errors.UpstreamError) or not may_repeat:
                        raise
                    # The first anonymous answer of some hosts only sets the visitor's cookie.
                    if await self.is_repeated_in_vain(surface):
                        raise
                    first = error
                self._repeated.add(surface)
            await self.health.note(host, surface, None)
        if first is not None:
            self._repeated.discard(surface)
        return Reading(
            surface=surface,
            entity_id=request.entity_id,
            value=value,
            payload=response.body,
            content_type=response.content_type,
            http_status=response.wire_status,
            source_path=response.path,
            fetched_at=response.fetched_at,
            request_count=call_trace.request_count,
        )

    def interpret[T](
        self, response: HttpResponse, request: SourceRequest, parse: Callable[[bytes, str, C], T]
    ) -> T:
        """Return what a response holds; raise if it is a refusal."""
        raise NotImplementedError

    async def is_repeated_in_vain(self, surface: str) -> bool:  # noqa: ARG002  # for subclasses
        """Return True if repeating a request to the surface is known not to help."""
        return False


class SurfaceReader(HostReader[ParseContext]):
    """The surfaces of the platform in a client's profile."""

    def build_request(self, surface: str, **params: str) -> HttpRequest:
        """Build a request to a JSON surface."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface),
            allowed=self.profile.links.redirect,
            params=params,
            ends_at=self.ends_at,
        )

    def build_page_request(self, surface: str, **ids: str) -> HttpRequest:
        """Build a request to a share page."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface, **ids),
            allowed=self.profile.links.redirect,
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
        request: SourceRequest,
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
            self.refuse(response)
        try:
            return parse(response.body, request.entity_id, context)
        except (errors.PageWithoutDataError, errors.StructureChangedError) as error:
            named = self.explain(error, response)
            if named is error:
                raise
            raise named from error

    def refuse(self, response: HttpResponse) -> None:
        """Raise for a refusal that the HTTP response alone shows.

        Raises:
            UpstreamError: The response is a refusal.
        """
        refuse_answer(response, self.profile.markers)

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
