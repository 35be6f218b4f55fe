"""Provider `vidplat-web` (experimental): videos by the detail that the desktop pages load, then by
the pages themselves; everything else as `vidplat-public`.

It computes no signature and solves no challenge. If both withhold a video, the public surfaces are
read; a demand for verification or an account ends the read.
"""

from dataclasses import replace

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.parsers.lists import parse_detail_body
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.user_cookie import CookieClient
from pipelines.platform.providers.vidplat_public import DetailOrUnavailable, VidplatPublic
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.surfaces import with_requests
from warehouse.records.errors import UpstreamError
from warehouse.records.videos import UnavailableVideo

_WEB_APP = {"aid": "6383", "device_platform": "webapp"}


def build_vidplat_web(name: str, dependencies: ProviderDependencies) -> "VidplatWeb":
    """Build the source, with the operator's cookie if one is set."""
    cookie = dependencies.settings.vidplat_cookie
    if cookie is None:
        return VidplatWeb(dependencies.guest(), name=name)
    client = CookieClient(
        dependencies.profile,
        dependencies.turns(),
        cookie=cookie,
        limits=dependencies.limits,
        host_policy=replace(
            dependencies, bodies=None
        ).host_policy(),  # never revalidate what an account sees
    )
    return VidplatWeb(client, name=name)


class VidplatWeb(VidplatPublic):
    """The public surfaces, preceded by the detail JSON and the desktop pages."""

    async def fetch_video(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        """Fetch one video from the desktop detail, else the desktop page, else `vidplat-public`."""
        with open_call_trace() as call_trace:
            for ask in (self._detail, self._page):
                try:
                    return with_requests(await ask(aweme_id), call_trace.request_count)
                except UpstreamError as error:
                    if not allows_policy(error, RefusalPolicy.OTHER_SOURCE):
                        raise
            found = await super().fetch_video(aweme_id)
        return with_requests(found, call_trace.request_count)

    async def _detail(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        at = self._surfaces
        return await at.read_twice(
            at.ask("web_detail", aweme_id=aweme_id, **_WEB_APP),
            aweme_id,
            lambda a: parse_detail_body(a.body, aweme_id=aweme_id, seen=at.seen(a)),
        )

    async def _page(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        at = self._surfaces

        def parse(answer: HttpResponse) -> DetailOrUnavailable:
            if at.is_gone(answer):
                return UnavailableVideo(aweme_id=aweme_id, reason="unavailable")
            return parse_video_page(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        return await at.read_twice(
            at.ask_page("web_video_page", aweme_id=aweme_id), aweme_id, parse
        )
