"""Share pages of videos: HTML with the data in a script, sometimes withheld.

Route names: `video_page`, `note_page`, `slides_page`. Some videos never show their data here, and
some only to a visitor with the guest cookie.
"""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import GUEST_COOKIE, set_guest_cookie, to_page
from pipelines.sandbox.server.documents.videos import Document, filtered_video, page_video
from pipelines.sandbox.server.faults import shell_page
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.world.content.videos import SandboxVideo
from pipelines.sandbox.world.random_streams import share_of

_SHELL_SHARE = 0.08
_COOKIE_SHARE = 0.12


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Pages of videos, photo posts and slides."""

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
        Route(f"/share/{kind}/{{aweme_id}}{end}", share_page, name=f"{kind}_page")
        for kind in ("video", "note", "slides")
        for end in ("/", "")
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
        "extra": {"logid": f"2025{aweme_id}", "now": platform.now * 1000},
        "filter_list": [] if is_shown else [filtered_video(aweme_id, work)],
        "item_list": [page_video(platform, work)] if work is not None and is_shown else [],
    }  # fmt: skip
