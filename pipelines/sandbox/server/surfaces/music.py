"""Music ids: info, list of videos, and share page; trends with their list and page.

Route names: `music_info`, `music_list`, `music_page`, `trends_list`, `trends_page`. Music lists are
trimmed and limited in depth; the list of a trend has complete videos.
"""

from collections.abc import Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import first_screen, to_page, with_guest_cookie
from pipelines.sandbox.server.documents.videos import (
    Document,
    detail_video,
    music_info,
    music_list_video,
)
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import (
    MAX_PAGE_SIZE,
    page_size,
    read_non_negative,
    with_status,
)
from pipelines.sandbox.world.content.sounds import SandboxSound
from pipelines.sandbox.world.content.videos import SandboxVideo

_TREND = 0x35353535
UNKNOWN = 5
"""`status_code` for an id that the platform does not know."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of info, list and share page."""
    music = _Music(platform)
    return [
        Route("/web/api/v2/music/info/", music.info, name="music_info"),
        Route("/web/api/v2/music/list/aweme/", music.works, name="music_list"),
        Route("/aweme/v1/trends/aweme/", music.trend, name="trends_list"),
        Route("/share/trends/", music.trends_page, name="trends_page"),
        Route("/share/music/", music.page, name="music_page"),
        Route("/share/music/{music_id}/", music.page, name="music_page"),
        Route("/share/music/{music_id}", music.page, name="music_page"),
    ]


def music_calls(music_id: str) -> list[Document]:
    """Return the requests of a music page's script."""
    given = f"?music_id={quote(music_id, safe='')}"
    works = f"/web/api/v2/music/list/aweme/{given}&count={MAX_PAGE_SIZE}&cursor="
    return [
        first_screen(f"/web/api/v2/music/info/{given}", cursor="cursor"),
        first_screen(f"{works}0", cursor="cursor", more=works),
    ]


def trends_id_of(music_id: str) -> str:
    """Return the id of the trend around a music id."""
    return str(int(music_id) ^ _TREND)


def trends_path(music_id: str) -> str:
    """Return the path of a trend's page, with the parameters that a shared link has."""
    return f"/share/trends/?trends_id={trends_id_of(music_id)}&music_id={music_id}"


class _Music:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def info(self, request: Request) -> Response:
        sound = self._sound(request)
        if sound is None:
            return JSONResponse({"status_code": UNKNOWN, "status_msg": "", "music_info": None})
        return JSONResponse(with_status(music_info=music_info(self.platform, sound)))

    async def works(self, request: Request) -> Response:
        sound = self._sound(request)
        rows = [] if sound is None else self.platform.view.music_list(sound.index).tolist()
        return self._listed(request, rows, music_list_video)

    async def trend(self, request: Request) -> Response:
        """Return a page of a trend, by its id or by that of its music."""
        sound = self._trending(request)
        rows = [] if sound is None else self.platform.view.trends_list(sound.index).tolist()
        return self._listed(request, rows, detail_video)

    def _listed(
        self,
        request: Request,
        rows: list[int],
        form: Callable[[SandboxPlatform, SandboxVideo], Document],
    ) -> Response:
        """Return the requested page of some rows."""
        cursor = read_non_negative(request, "cursor", 0)
        end = cursor + page_size(request)
        page = [self.platform.world.works.row(row) for row in rows[cursor:end]]
        items = [form(self.platform, work) for work in page]
        return JSONResponse(with_status(
            aweme_list=items, cursor=cursor + len(page), has_more=int(end < len(rows))
        ))  # fmt: skip

    async def page(self, request: Request) -> Response:
        """Return the page of the id in the path, or in the query."""
        music_id = request.path_params.get("music_id") or request.query_params.get("music_id", "")
        sound = self.platform.world.sound_of(music_id)
        info = None if sound is None else music_info(self.platform, sound)
        data = {"lastPath": music_id, "musicInfoRes": with_status(music_info=info)}
        document: Document = {"loaderData": {"music_(id)/page": data}, "errors": None}
        page = to_page(document, calls=music_calls(music_id))
        return with_guest_cookie(request, page, entity=music_id)

    async def trends_page(self, request: Request) -> Response:
        """Return a page without data of its own; its script loads the list."""
        sound = self._trending(request)
        music_id = "" if sound is None else sound.music_id
        given = f"trends_id={trends_id_of(music_id)}&music_id={music_id}" if music_id else ""
        works = f"/aweme/v1/trends/aweme/?{given}&count={MAX_PAGE_SIZE}&cursor="
        call = first_screen(f"{works}0", cursor="cursor", more=works)
        page = to_page({"loaderData": {"trends_page": {}}, "errors": None}, calls=[call])
        return with_guest_cookie(request, page, entity=music_id)

    def _trending(self, request: Request) -> SandboxSound | None:
        trend = request.query_params.get("trends_id", "")
        if trend.isascii() and trend.isdigit() and len(trend) < 20:  # noqa: PLR2004  # digits of an id
            return self.platform.world.sound_of(trends_id_of(trend))
        return self._sound(request)

    def _sound(self, request: Request) -> SandboxSound | None:
        return self.platform.world.sound_of(request.query_params.get("music_id", ""))
