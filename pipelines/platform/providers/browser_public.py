"""Provider `browser-public`: first screens through a local browser.

What the public pages load by themselves is read with the ordinary parsers; everything else is
requested directly. There are no deeper pages: a local cursor pages over stored observations.
"""

from typing import ClassVar

from pipelines.platform.browser.client import BrowserClient
from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.page_loader import PageLoader
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.reading import Reading
from warehouse.records.errors import ProviderUnsupportedError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import VideoPage


def build(name: str, dependencies: ProviderDependencies) -> "BrowserPublic":
    """Build the source with its own browser, which starts when first needed.

    Raises:
        ProviderUnsupportedError: No Chromium is installed.
    """
    profile = dependencies.profile
    pages = PageLoader(
        profile,
        dependencies.turns(),
        chromium=find_chromium(dependencies.settings.chromium_path),
        allowed=(*profile.links.redirect, *profile.browser.hosts),
    )
    client = BrowserClient(
        profile,
        dependencies.turns(),
        pages=pages,
        limits=dependencies.limits,
        host_policy=dependencies.host_policy(),
    )
    return BrowserPublic(client, name=name, sick_policy=dependencies.sick_policy)


class BrowserPublic(VidplatPublic):
    """The public surfaces as pages in a browser show them: first screens only."""

    left_out: ClassVar[frozenset[str]] = frozenset({"trends_list"})  # a list without such a page

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch the first screen of the videos under a music id."""
        _only_the_first(cursor)
        return await super().fetch_music_page(music_id, 0)

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Fetch the first screen of the posts of an account."""
        _only_the_first(cursor)
        return await super().fetch_author_page(sec_uid, 0)

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch the first screen of the videos under a hashtag."""
        _only_the_first(cursor)
        return await super().fetch_hashtag_page(ch_id, 0)

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Fetch the first screen of a search."""
        _only_the_first(place.cursor)
        return await super().fetch_search_page(term, SearchPosition())


def _only_the_first(cursor: int) -> None:
    if cursor != 0:
        raise ProviderUnsupportedError(
            f"browser-public reads first screens only, not from cursor {cursor}",
            hint="page over stored observations, or use vidplat-public or public-graph",
        )
