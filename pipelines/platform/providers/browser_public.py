"""Provider `browser-public`: first screens through a local browser.

What the public pages load by themselves is read with the ordinary parsers; everything else is
requested directly. There are no deeper pages: a local cursor pages over stored observations.
"""

from dataclasses import replace
from typing import ClassVar

from pipelines.platform.browser.client import BrowserClient
from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.page_loader import PageLoader
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import Question, Reading, SourceRequest
from warehouse.records.errors import ProviderUnsupportedError
from warehouse.records.search import SearchPosition


def build(name: str, dependencies: ProviderDependencies) -> "BrowserPublic":
    """Build the source with its own browser, which starts when first needed.

    Raises:
        ProviderUnsupportedError: No Chromium is installed.
    """
    return BrowserPublic(open_browser_client(dependencies), name=name)


def open_browser_client(dependencies: ProviderDependencies) -> BrowserClient:
    """Open a client with its own browser, which starts when first needed.

    Raises:
        ProviderUnsupportedError: No Chromium is installed.
    """
    profile, policy = dependencies.profile, dependencies.host_policy()
    pages = PageLoader(
        profile,
        policy.limiter,
        chromium=find_chromium(dependencies.settings.chromium_path),
        allowed=(*profile.links.redirect, *profile.browser.hosts),
    )
    return BrowserClient(profile, policy, pages=pages, limits=dependencies.limits)


class BrowserPublic(VidplatPublic):
    """The public surfaces as pages in a browser show them: first screens only."""

    left_out: ClassVar[frozenset[str]] = frozenset({"trends_list"})  # a list without such a page

    async def ask[T](
        self, question: Question[SurfaceReader, T], request: SourceRequest
    ) -> Reading[T]:
        """Answer a question with the first screen of a page.

        Raises:
            ProviderUnsupportedError: A later page is asked for.
        """
        cursor = request.cursor or request.place.cursor
        if cursor != 0:
            raise ProviderUnsupportedError(
                f"browser-public reads first screens only, not from cursor {cursor}",
                hint="page over stored observations, or use vidplat-public or public-graph",
            )
        return await super().ask(question, replace(request, place=SearchPosition()))
