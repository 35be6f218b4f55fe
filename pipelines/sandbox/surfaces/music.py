"""Music ids: what one is, which works use it, and its share page.

Route names: `music_info`, `music_list`, `music_page`. Lists are trimmed and end at a visible depth.
"""

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.documents import music_info, music_list_work
from pipelines.sandbox.platform import Platform
from pipelines.sandbox.surfaces.paging import page_size, whole, with_status
from pipelines.sandbox.surfaces.share_pages import to_page
from pipelines.world.sounds import Sound

UNKNOWN = 5
"""`status_code` for an id that the platform does not know."""


def routes(platform: Platform) -> list[BaseRoute]:
    """Info, list and share page of a music id."""

    async def info(request: Request) -> Response:
        sound = _sound(platform, request)
        if sound is None:
            return JSONResponse({"status_code": UNKNOWN, "status_msg": "", "music_info": None})
        return JSONResponse(with_status(music_info=music_info(platform, sound)))

    async def works(request: Request) -> Response:
        sound = _sound(platform, request)
        rows = [] if sound is None else platform.world.music_list(sound.index).tolist()
        cursor = whole(request, "cursor", 0)
        end = cursor + page_size(request)
        page = [platform.world.works.row(row) for row in rows[cursor:end]]
        items = [music_list_work(platform, work) for work in page]
        answer = with_status(
            aweme_list=items, cursor=cursor + len(page), has_more=int(end < len(rows))
        )
        return JSONResponse(answer)

    async def page(request: Request) -> Response:
        sound = platform.world.sound_of(request.path_params["music_id"])
        answer = with_status(music_info=None if sound is None else music_info(platform, sound))
        data = {"lastPath": request.path_params["music_id"], "musicInfoRes": answer}
        return HTMLResponse(to_page({"loaderData": {"music_(id)/page": data}, "errors": None}))

    return [
        Route("/web/api/v2/music/info/", info, name="music_info"),
        Route("/web/api/v2/music/list/aweme/", works, name="music_list"),
        Route("/share/music/{music_id}/", page, name="music_page"),
        Route("/share/music/{music_id}", page, name="music_page"),
    ]


def _sound(platform: Platform, request: Request) -> Sound | None:
    return platform.world.sound_of(request.query_params.get("music_id", ""))
