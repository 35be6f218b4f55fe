"""`vidplat-web`, experimental: works by the detail that the platform's own desktop pages load, all
else as `vidplat-public`. It takes no signature and solves nothing; where the surface says no, the
public ones answer.
"""

from dataclasses import replace

from pipelines.platform.call_trace import open_trail
from pipelines.platform.parsers.lists import parse_detail_body
from pipelines.platform.providers.dependencies import Supplies
from pipelines.platform.providers.user_cookie import CookieClient
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import Policy, allows
from pipelines.platform.surfaces import with_requests
from warehouse.records.errors import UpstreamError
from warehouse.records.videos import UnavailableVideo, VideoDetail

_WEB_APP = {"aid": "6383", "device_platform": "webapp"}


def build_vidplat_web(name: str, supplies: Supplies) -> "VidplatWeb":
    """The source, with the operator's cookie where the settings hold one."""
    cookie = supplies.settings.vidplat_cookie
    if cookie is None:
        return VidplatWeb(supplies.guest(), name=name)
    client = CookieClient(
        supplies.profile,
        supplies.turns(),
        cookie=cookie,
        limits=supplies.limits,
        manners=replace(supplies, bodies=None).manners(),  # what an account sees is not remembered
    )
    return VidplatWeb(client, name=name)


class VidplatWeb(VidplatPublic):
    """The public surfaces, and before them the detail of the desktop pages."""

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """One work: the desktop detail, and where that withholds it the public sources."""
        at = self._surfaces
        ask = at.ask("web_detail", aweme_id=aweme_id, **_WEB_APP)
        with open_trail() as trail:
            try:
                return await at.read_twice(
                    ask,
                    aweme_id,
                    lambda a: parse_detail_body(a.body, aweme_id=aweme_id, seen=at.seen(a)),
                )
            except UpstreamError as error:
                if not allows(error, Policy.OTHER_SOURCE):
                    raise
            found = await super().fetch_video(aweme_id)
        return with_requests(found, trail.request_count)
