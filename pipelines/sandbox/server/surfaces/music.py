"""Music ids: info, list of videos, and share page.

Route names: `music_info`, `music_list`, `music_page`. Lists are trimmed and limited in depth.
"""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import first_screen, to_page, with_guest_cookie
from pipelines.sandbox.server.documents.videos import Document, music_info, music_list_video
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.surfaces.paging import (
    MAX_PAGE_SIZE,
    page_size,
    read_non_negative,
    with_status,
)
from pipelines.sandbox.world.content.sounds import SandboxSound

UNKNOWN = 5
"""`status_code` for an id that the platform does not know."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of info, list and share page."""
    music = _Music(platform)
    return [
        Route("/web/api/v2/music/info/", music.info, name="music_info"),
        Route("/web/api/v2/music/list/aweme/", music.works, name="music_list"),
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


class _Music:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def info(self, request: Request) -> Response:
        sound = self._sound(request)
        if sound is None:
            return JSONResponse({"status_code": UNKNOWN, "status_msg": "", "music_info": None})
        return JSONResponse(with_status(music_info=music_info(self.platform, sound)))

    async def works(self, request: Request) -> Response:
        sound, world = self._sound(request), self.platform.world
        rows = [] if sound is None else world.music_list(sound.index).tolist()
        cursor = read_non_negative(request, "cursor", 0)
        end = cursor + page_size(request)
        page = [world.works.row(row) for row in rows[cursor:end]]
        items = [music_list_video(self.platform, work) for work in page]
        answer = with_status(
            aweme_list=items, cursor=cursor + len(page), has_more=int(end < len(rows))
        )
        return JSONResponse(answer)

    async def page(self, request: Request) -> Response:
        """Return the page of the id in the path, or in the query."""
        music_id = request.path_params.get("music_id") or request.query_params.get("music_id", "")
        sound = self.platform.world.sound_of(music_id)
        info = None if sound is None else music_info(self.platform, sound)
        data = {"lastPath": music_id, "musicInfoRes": with_status(music_info=info)}
        document: Document = {"loaderData": {"music_(id)/page": data}, "errors": None}
        page = to_page(document, calls=music_calls(music_id))
        return with_guest_cookie(request, page, entity=music_id)

    def _sound(self, request: Request) -> SandboxSound | None:
        return self.platform.world.sound_of(request.query_params.get("music_id", ""))
