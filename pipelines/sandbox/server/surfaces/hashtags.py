"""Hashtags: info, list of videos, and share page.

Route names: `hashtag_info`, `hashtag_list`, `hashtag_page`. One hashtag in five repeats the cursor
of the current page, as observed on the platform.
"""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import first_screen, to_page, with_guest_cookie
from pipelines.sandbox.server.documents.videos import Document, hashtag_info, hashtag_list_video
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import (
    MAX_PAGE_SIZE,
    page_size,
    read_non_negative,
    with_status,
)
from pipelines.sandbox.world.random_streams import share_of

UNKNOWN = 5
_REPEATS_CURSOR = 0.2


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of info, list and share page."""
    hashtags = _Hashtags(platform)
    return [
        Route("/web/api/v2/challenge/info/", hashtags.info, name="hashtag_info"),
        Route("/web/api/v2/challenge/aweme/", hashtags.works, name="hashtag_list"),
        *(
            Route(f"/share/challenge/{path}", hashtags.page, name="hashtag_page")
            for path in ("detail/{ch_id}", "detail/{ch_id}/", "{ch_id}/", "{ch_id}")
        ),
    ]


def repeats_cursor(ch_id: str) -> bool:
    """Return True for a hashtag whose list repeats the cursor of the current page."""
    return share_of(ch_id, "cursor") < _REPEATS_CURSOR


def hashtag_calls(ch_id: str) -> list[Document]:
    """Return the requests of a hashtag page's script."""
    given = f"?ch_id={quote(ch_id, safe='')}"
    works = f"/web/api/v2/challenge/aweme/{given}&count={MAX_PAGE_SIZE}&cursor="
    return [
        first_screen(f"/web/api/v2/challenge/info/{given}", cursor="cursor"),
        first_screen(f"{works}0", cursor="cursor", more=works),
    ]


class _Hashtags:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def info(self, request: Request) -> Response:
        info = await self._info(request.query_params.get("ch_id", ""))
        if info is None:
            return JSONResponse({"status_code": UNKNOWN, "status_msg": "", "ch_info": None})
        return JSONResponse(with_status(ch_info=info))

    async def works(self, request: Request) -> Response:
        ch_id = request.query_params.get("ch_id", "")
        directory, works = await self.platform.directory(), self.platform.world.works
        rows = [] if directory.name_of(ch_id) is None else directory.listed(ch_id)
        cursor = read_non_negative(request, "cursor", 0)
        end = cursor + page_size(request)
        items = [hashtag_list_video(self.platform, works.row(row)) for row in rows[cursor:end]]
        following = cursor if repeats_cursor(ch_id) else cursor + len(items)
        answer = with_status(aweme_list=items, cursor=following, has_more=end < len(rows))
        return JSONResponse(answer)

    async def page(self, request: Request) -> Response:
        ch_id = request.path_params["ch_id"]
        data = {"lastPath": ch_id, "challengeInfoRes": with_status(ch_info=await self._info(ch_id))}
        document: Document = {"loaderData": {"challenge_(id)/page": data}, "errors": None}
        page = to_page(document, calls=hashtag_calls(ch_id))
        return with_guest_cookie(request, page, entity=ch_id)

    async def _info(self, ch_id: str) -> Document | None:
        directory = await self.platform.directory()
        name = directory.name_of(ch_id)
        if name is None:
            return None
        return hashtag_info(self.platform, name, members=int(directory.members(ch_id).size))
