"""Details of videos: share pages with the data in a script, and the second source, JSON by id.

Route names: `video_page`, `note_page`, `slides_page`, `slides_info`. Some videos never show their
data on their page, and some only to a visitor with the guest cookie. The plain form of
`slides_info` returns videos, `request_source=200` photo posts.
"""

import json
from zlib import crc32

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import GUEST_COOKIE, set_guest_cookie, to_page
from pipelines.sandbox.server.documents.videos import (
    Document,
    detail_video,
    filtered_video,
    page_video,
)
from pipelines.sandbox.server.faults import shell_page
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import with_status
from pipelines.sandbox.world.content.videos import SandboxVideo
from pipelines.sandbox.world.random_streams import share_of

_SURFACES = {"note": "note_page", "slides": "slides_page"}
_SHELL_SHARE = 0.08
_COOKIE_SHARE = 0.12


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of pages of videos, photo posts and slides, and of the second source."""

    async def share_page(request: Request) -> Response:
        aweme_id = request.path_params["aweme_id"]
        work = platform.world.video_of_id(aweme_id)
        has_cookie, shells = GUEST_COOKIE in request.cookies, platform.switches.share("page_shells")
        if work is not None and is_withheld(work, has_cookie=has_cookie, shell_share=shells):
            answer: Response = HTMLResponse(shell_page("video_page"))
        else:
            answer = HTMLResponse(to_page(_page(platform, request, aweme_id, work)))
        return set_guest_cookie(request, answer, entity=aweme_id)

    return [
        _second_source(platform),
        *(
            Route(
                f"/share/{kind}/{{aweme_id}}{end}",
                share_page,
                name=_SURFACES.get(kind, "video_page"),
            )
            for kind in ("video", "note", "slides", "item", "story")
            for end in ("/", "")
        ),
    ]


def is_withheld(
    work: SandboxVideo, *, has_cookie: bool, page: str = "page", shell_share: float = 0.0
) -> bool:
    """Return True if a video's page comes without data; always the same for a video and page."""
    share, shells = share_of(work.aweme_id, page), max(_SHELL_SHARE, shell_share)
    return share < shells or (share < shells + _COOKIE_SHARE and not has_cookie)


def _page(
    platform: SandboxPlatform, request: Request, aweme_id: str, work: SandboxVideo | None
) -> Document:
    is_slides = request.url.path.startswith("/share/slides/")
    kind = "slides" if is_slides else "note" if work is not None and work.is_photo else "video"
    result = video_result(platform, aweme_id, work)
    if is_slides:  # the only kind whose result has another key
        result["aweme_details"] = result.pop("item_list")
    data: Document = {
        "ua": request.headers.get("user-agent", ""), "isSpider": False, "webId": "0",
        "query": dict(request.query_params), "lastPath": aweme_id, "itemId": aweme_id,
        "serverToken": "", "abParams": {},
        "slidesInfoRes" if is_slides else "videoInfoRes": result,
    }  # fmt: skip
    loader = {f"{kind}_layout": None, f"{kind}_(id)/page": data}
    return {"loaderData": loader, "errors": None}


def video_result(platform: SandboxPlatform, aweme_id: str, work: SandboxVideo | None) -> Document:
    """Return the result of a page: the video, or the reason why it is unavailable."""
    is_shown = work is not None and platform.world.is_public(work)
    return {
        "status_code": 0, "is_oversea": 0,
        "extra": {"logid": f"2025{crc32(aweme_id.encode()):020d}", "now": platform.now * 1000},
        "filter_list": [] if is_shown else [filtered_video(aweme_id, work)],
        "item_list": [page_video(platform, work)] if work is not None and is_shown else [],
    }  # fmt: skip


_PHOTOS = "200"


def _second_source(platform: SandboxPlatform) -> BaseRoute:
    """Return the route of the JSON by id."""

    async def slides_info(request: Request) -> Response:
        if "a_bogus" in request.query_params:  # a made-up signature gives an empty body
            return Response(b"", media_type="application/json")
        ids = _read_ids(request.query_params.get("aweme_ids", ""))
        wants_photos = request.query_params.get("request_source") == _PHOTOS
        details, hidden = _read_details(platform, ids, wants_photos=wants_photos)
        answer = with_status(aweme_details=details or None, filter_list=hidden)
        return JSONResponse(answer)

    return Route("/web/api/v2/aweme/slidesinfo/", slides_info, name="slides_info")


def _read_ids(text: str) -> list[str]:
    """Parse ids in brackets, as numbers or as text."""
    try:
        values = json.loads(text)
    except ValueError:
        return []
    return [str(value) for value in values] if isinstance(values, list) else []


def _read_details(
    platform: SandboxPlatform, ids: list[str], *, wants_photos: bool
) -> tuple[list[Document], list[Document]]:
    details, hidden = [], []
    for aweme_id in ids:
        work = platform.world.video_of_id(aweme_id)
        if work is None or not platform.world.is_public(work):
            hidden.append(filtered_video(aweme_id, work))
        elif work.is_photo == wants_photos:
            details.append(detail_video(platform, work))
        elif wants_photos:  # the form for photo posts filters videos
            hidden.append({**filtered_video(aweme_id, None), "filter_reason": "item_type"})
    return details, hidden
