"""Provider `vidplat-web` (experimental): videos by the detail that the desktop pages load, then by
the pages themselves; everything else as `vidplat-public`.

It computes no signature and solves no challenge. If both withhold a video, the public surfaces are
read; a demand for verification or an account ends the read.
"""

from dataclasses import replace

from pipelines.platform.call_trace import Answer, open_trail
from pipelines.platform.parsers.lists import parse_detail_body
from pipelines.platform.parsers.pages import parse_work_page
from pipelines.platform.providers.dependencies import Supplies
from pipelines.platform.providers.user_cookie import CookieClient
from pipelines.platform.providers.vidplat_public import Detail, VidplatPublic
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import Policy, allows
from pipelines.platform.surfaces import with_requests
from warehouse.records.errors import UpstreamError
from warehouse.records.videos import UnavailableVideo

_WEB_APP = {"aid": "6383", "device_platform": "webapp"}


def build_vidplat_web(name: str, supplies: Supplies) -> "VidplatWeb":
    """Build the source, with the operator's cookie if one is set."""
    cookie = supplies.settings.vidplat_cookie
    if cookie is None:
        return VidplatWeb(supplies.guest(), name=name)
    client = CookieClient(
        supplies.profile,
        supplies.turns(),
        cookie=cookie,
        limits=supplies.limits,
        manners=replace(supplies, bodies=None).manners(),  # never revalidate what an account sees
    )
    return VidplatWeb(client, name=name)


class VidplatWeb(VidplatPublic):
    """The public surfaces, preceded by the detail JSON and the desktop pages."""

    async def fetch_video(self, aweme_id: str) -> Reading[Detail]:
        """Fetch one video from the desktop detail, else the desktop page, else `vidplat-public`."""
        with open_trail() as trail:
            for ask in (self._detail, self._page):
                try:
                    return with_requests(await ask(aweme_id), trail.request_count)
                except UpstreamError as error:
                    if not allows(error, Policy.OTHER_SOURCE):
                        raise
            found = await super().fetch_video(aweme_id)
        return with_requests(found, trail.request_count)

    async def _detail(self, aweme_id: str) -> Reading[Detail]:
        at = self._surfaces
        return await at.read_twice(
            at.ask("web_detail", aweme_id=aweme_id, **_WEB_APP),
            aweme_id,
            lambda a: parse_detail_body(a.body, aweme_id=aweme_id, seen=at.seen(a)),
        )

    async def _page(self, aweme_id: str) -> Reading[Detail]:
        at = self._surfaces

        def parse(answer: Answer) -> Detail:
            if at.is_gone(answer):
                return UnavailableVideo(aweme_id=aweme_id, reason="unavailable")
            return parse_work_page(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        return await at.read_twice(
            at.ask_page("web_video_page", aweme_id=aweme_id), aweme_id, parse
        )
