"""A guest's client whose first screens come through a browser: it opens the page that loads a
surface by itself and hands over that answer. Everything else is asked as any guest asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.browser.page_loader import PageLoader
from pipelines.platform.browser.visit import Loaded, Visit
from pipelines.platform.call_trace import Answer
from pipelines.platform.http.client import Ask, GuestClient, HttpLimits
from pipelines.platform.http.host_policy import Manners
from pipelines.platform.http.link_gate import check_address
from pipelines.platform.http.politeness import Turns
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.profiles import Profile
from pipelines.platform.surfaces import Surfaces
from warehouse.records.errors import PageWithoutDataError, UpstreamError

FRESH_S = 30.0
"""How long an answer that a page brought along serves a later question."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The page that loads a surface, the parameter that names its entity, and the page's word."""

    page: str
    asked_by: str
    filled_by: str
    is_extra: bool = False


SCREENS: Mapping[str, Screen] = {
    "user_posts": Screen("user_page", "sec_uid", "sec_uid"),
    "user_info": Screen("user_page", "sec_uid", "sec_uid", is_extra=True),
    "music_list": Screen("music_page", "music_id", "music_id"),
    "music_info": Screen("music_page", "music_id", "music_id", is_extra=True),
    "hashtag_list": Screen("hashtag_page", "ch_id", "ch_id"),
    "hashtag_info": Screen("hashtag_page", "ch_id", "ch_id", is_extra=True),
    "search_stream": Screen("search_page", "keyword", "term"),
}
"""An extra is what a page may or may not load; where it does not, it is asked for directly."""
PAGES = frozenset({"user_page", "video_page", "note_page", "slides_page"})


class BrowserClient(GuestClient):
    """A `GuestClient` for the surfaces that pages load. Owns its page loader.

    Raises (`fetch`, beside those of `GuestClient`):
        PageWithoutDataError: The page did not load the surface.
        VerificationDemandedError: The page says so.
    """

    def __init__(
        self,
        profile: Profile,
        turns: Turns,
        *,
        pages: PageLoader,
        limits: HttpLimits | None = None,
        manners: Manners | None = None,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        super().__init__(profile, turns, limits=limits, manners=manners)
        self._pages = pages
        self._clock = clock
        self._surfaces = Surfaces(self)
        self._brought: dict[tuple[str, str], tuple[float, Answer]] = {}

    async def aclose(self) -> None:
        """Close every connection and the browser."""
        try:
            await self._pages.aclose()
        finally:
            await super().aclose()

    async def fetch(self, ask: Ask) -> Answer:
        """What a page loads, or the page itself, in the browser; anything else directly."""
        screen = SCREENS.get(ask.surface)
        if screen is not None:
            return await self._screen(ask, screen)
        if ask.surface in PAGES:
            await self._permit(ask)
            visit = Visit(surface=ask.surface, url=ask.address, wanted=ask.surface, paths={})
            return self._shown((await self._load(visit)).document)
        return await super().fetch(ask)

    async def _screen(self, ask: Ask, screen: Screen) -> Answer:
        entity = ask.params[screen.asked_by]
        brought_at, known = self._brought.pop((ask.surface, entity), (0.0, None))
        if known is not None and self._clock.monotonic() - brought_at < FRESH_S:
            return known
        await self._permit(ask)
        loaded = await self._load(self._visit(ask.surface, screen, entity))
        for surface, answer in loaded.answers.items():
            if surface != ask.surface and surface in SCREENS:
                self._brought[(surface, entity)] = (self._clock.monotonic(), answer)
        found = loaded.answers.get(ask.surface)
        if found is not None:
            return found
        self._refuse(self._shown(loaded.document), ask.surface)
        if screen.is_extra:
            return await super().fetch(ask)
        raise PageWithoutDataError(
            "the page did not load its first screen", surface=ask.surface, reason="not_loaded"
        )

    async def _load(self, visit: Visit) -> Loaded:
        """Open a page, and obey what its answers' statuses alone say."""
        check_address(
            visit.url,
            allowed=self.profile.links.redirect,
            profile=self.profile,
            surface=visit.surface,
        )
        loaded = await self._pages.load(visit)
        for answer in (loaded.document, *loaded.answers.values()):
            address = check_address(
                answer.url,
                allowed=(*self.profile.links.redirect, *self.profile.browser.hosts),
                profile=self.profile,
                surface=answer.surface,
            )
            await self._heeded(answer, address)
        return loaded

    def _visit(self, surface: str, screen: Screen, entity: str) -> Visit:
        paths = self.profile.paths
        return Visit(
            surface=screen.page,
            url=self.profile.address(screen.page, **{screen.filled_by: entity}),
            wanted=surface,
            paths={
                name: getattr(paths, name)
                for name, other in SCREENS.items()
                if other.page == screen.page
            },
        )

    def _shown(self, document: Answer) -> Answer:
        """The document; one that was reached by a redirect that is an answer says so."""
        is_answer = self._surfaces.ends_at(document.url)
        return replace(document, location=document.url) if is_answer else document

    def _refuse(self, document: Answer, surface: str) -> None:
        """Stop where the page itself says why it loaded nothing.

        Raises:
            UpstreamError: By name.
        """
        asked = replace(document, surface=surface)
        self._surfaces.refuse(asked)
        error: UpstreamError = PageWithoutDataError("", surface=surface)
        try:
            parse_container(asked.body, surface=surface)
        except UpstreamError as found:
            error = found
        named = self._surfaces.explain(error, asked)
        if not isinstance(named, PageWithoutDataError):
            raise named
