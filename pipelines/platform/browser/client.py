"""HTTP client that reads first screens through a browser.

It opens the page that loads a surface by itself and returns the response that the page received.
Everything else is requested directly, as `GuestClient` does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.browser.page_loader import LoadedPage, PageLoader, Visit
from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy
from pipelines.platform.http.link_gate import check_address
from pipelines.platform.parsers.pages import parse_container, shows_video
from pipelines.platform.parsers.refusals import refuse_answer
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.sources.planner import SurfaceReader
from warehouse.records import errors

FRESH_S = 30.0
"""How long a response that a page loaded serves a later request."""


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """The page that loads a surface, and how the entity is named in the request and in the page.

    `is_extra`: the page may leave this surface out; it is then requested directly.
    """

    page: str
    asked_by: str
    filled_by: str
    is_extra: bool = False


FIRST_SCREENS: Mapping[str, FirstScreen] = {
    "user_posts": FirstScreen("user_page", "sec_uid", "sec_uid"),
    "user_info": FirstScreen("user_page", "sec_uid", "sec_uid", is_extra=True),
    "music_list": FirstScreen("music_page", "music_id", "music_id"),
    "music_info": FirstScreen("music_page", "music_id", "music_id", is_extra=True),
    "hashtag_list": FirstScreen("hashtag_page", "ch_id", "ch_id"),
    "hashtag_info": FirstScreen("hashtag_page", "ch_id", "ch_id", is_extra=True),
    "search_stream": FirstScreen("search_page", "keyword", "term"),
}
"""The page that loads each surface."""
_HOSTS_HINT = "if one of these hosts serves the page's scripts, add it to [browser] of the profile"
# Share pages of videos and notes are shells since August 2026: their script loads the data.
VIDEO_PAGES = frozenset({"video_page", "note_page", "slides_page"})
VIDEO_ANSWERS = ("item_info", "slides_info", "web_detail")
"""What the script of a page without data loads about its video, the usual one first."""
PAGES = VIDEO_PAGES | {"user_page"}


class BrowserClient(GuestClient):
    """`GuestClient` for the surfaces that pages load. Owns its page loader.

    Raises (`fetch`, beside those of `GuestClient`):
        PageWithoutDataError: The page did not load the surface.
        VerificationDemandedError: The page demands verification.
    """

    def __init__(
        self,
        profile: PlatformProfile,
        policy: HostPolicy,
        *,
        pages: PageLoader,
        limits: HttpLimits | None = None,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        super().__init__(profile, policy, limits=limits)
        self._pages = pages
        self._clock = clock
        self._surfaces = SurfaceReader(self)
        self._loaded: dict[tuple[str, str], tuple[float, HttpResponse]] = {}

    async def aclose(self) -> None:
        """Close every connection and the browser."""
        try:
            await self._pages.aclose()
        finally:
            await super().aclose()

    async def fetch(self, request: HttpRequest) -> HttpResponse:
        """Load a page, or a surface that a page loads, in the browser; anything else directly."""
        surface = request.surface
        screen = FIRST_SCREENS.get(surface)
        # An account may also be asked for by its handle, which no page takes.
        if screen is not None and screen.asked_by in request.params:
            return await self._fetch_first_screen(request, screen)
        if surface in PAGES:
            await self._permit(request)
            if surface in VIDEO_PAGES:
                return await self._fetch_video(request)
            visit = Visit(surface=surface, url=request.address, wanted=surface, paths={})
            return self._with_location((await self._load(visit)).document)
        return await super().fetch(request)

    async def _fetch_video(self, request: HttpRequest) -> HttpResponse:
        """Return the document of a page, or what its script received if the document has no data.

        The script may ask with a token of its own, which we never make.
        """

        def is_enough(document: HttpResponse) -> bool:
            return self._surfaces.ends_at(document.url) or shows_video(document.body)

        visit = Visit(
            surface=request.surface,
            url=request.address,
            wanted=VIDEO_ANSWERS[0],
            paths={name: getattr(self.profile.paths, name) for name in VIDEO_ANSWERS},
            is_enough=is_enough,
        )
        page = await self._load(visit)
        answers = [page.answers[name] for name in VIDEO_ANSWERS if name in page.answers]
        if is_enough(page.document) or not answers:
            return self._with_location(page.document)
        with_video = (answer for answer in answers if shows_video(answer.body))
        return replace(next(with_video, answers[0]), surface=request.surface)

    async def _fetch_first_screen(self, request: HttpRequest, screen: FirstScreen) -> HttpResponse:
        """Return what the page of an entity receives from a surface."""
        surface, entity_id = request.surface, request.params[screen.asked_by]
        loaded_at, earlier = self._loaded.pop((surface, entity_id), (0.0, None))
        if earlier is not None and self._clock.monotonic() - loaded_at < FRESH_S:
            return earlier
        await self._permit(request)
        visit = Visit(
            surface=screen.page,
            url=self.profile.address(screen.page, **{screen.filled_by: entity_id}),
            wanted=surface,
            paths={
                name: getattr(self.profile.paths, name)
                for name, other in FIRST_SCREENS.items()
                if other.page == screen.page
            },
        )
        page = await self._load(visit)
        # One page loads several surfaces; the others are kept for the requests that follow.
        for name, answer in page.answers.items():
            if name != surface and name in FIRST_SCREENS:
                self._loaded[name, entity_id] = (self._clock.monotonic(), answer)
        if surface in page.answers:
            return page.answers[surface]
        # The page itself may show why it loaded nothing.
        document = replace(self._with_location(page.document), surface=surface)
        refuse_answer(document, self._surfaces.profile.markers)
        error: errors.UpstreamError = errors.PageWithoutDataError("", surface=surface)
        try:
            parse_container(document.body, surface=surface)
        except errors.UpstreamError as unreadable:
            error = unreadable
        named = self._surfaces.explain(error, document)
        if not isinstance(named, errors.PageWithoutDataError):
            raise named
        if screen.is_extra:
            return await super().fetch(request)
        raise not_loaded_error(page, surface)

    async def _load(self, visit: Visit) -> LoadedPage:
        """Open a page, and apply the status rules (429, 5xx) to its responses.

        A surface that the visit does not want fails alone: it is left out, and requested when it is
        wanted.
        """
        check_address(
            visit.url,
            allowed=self.profile.links.redirect,
            profile=self.profile,
            surface=visit.surface,
        )
        page = await self._pages.load(visit)
        for answer in (page.document, *page.answers.values()):
            address = check_address(
                answer.url,
                allowed=(*self.profile.links.redirect, *self.profile.browser.hosts),
                profile=self.profile,
                surface=answer.surface,
            )
            try:
                await self.apply_status(answer, address)
            except (errors.RateLimitedError, errors.UnreachableError):
                if answer.surface in {visit.surface, visit.wanted}:
                    raise
                del page.answers[answer.surface]
        return page

    def _with_location(self, document: HttpResponse) -> HttpResponse:
        """Return the document; if a redirect that is an answer led to it, with its `location`."""
        is_answer = self._surfaces.ends_at(document.url)
        return replace(document, location=document.url) if is_answer else document


def not_loaded_error(page: LoadedPage, surface: str) -> errors.PageWithoutDataError:
    """Return the error for a page without its first screen, with the hosts that were refused."""
    hosts = page.describe_refused()
    detail = "the page did not load its first screen"
    return errors.PageWithoutDataError(
        f"{detail}; refused hosts: {hosts}" if hosts else detail,
        surface=surface,
        reason="not_loaded",
        hint=_HOSTS_HINT if hosts else None,
    )
