"""Details of videos: share pages, desktop pages, and JSON by id from two sources.

Surfaces: `video_page`, `note_page`, `slides_page`, `slides_info`, `item_info`, `web_video_page`,
`web_detail`, `web_start_page` (which shows the video of its `modal_id`), `verify_page`,
`other_page`. Some videos never show their data on their page, and some only to a visitor with the
guest cookie. A hidden video redirects from its desktop page to the one for deleted videos.
"""

import json
from zlib import crc32

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from sandbox.server.addresses import FEATURED, GONE_MARK, SHARE, WEB
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.desktop import desktop_data
from sandbox.server.documents.pages import (
    GUEST_COOKIE,
    ITEM_INFO,
    Document,
    carrying_page,
    desktop_page,
    is_page_token,
    set_guest_cookie,
    share_page,
    to_call,
    web_page,
)
from sandbox.server.documents.videos import detail_video, filtered_video, page_video
from sandbox.server.faults import CAPTCHA_PAGE, shell_page
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, with_status
from sandbox.world.content.tables import SandboxVideo
from sandbox.world.random_streams import share_of

DETAIL = "/aweme/v1/web/aweme/detail/"
_SHELL_SHARE = 0.08
_COOKIE_SHARE = 0.12
_PHOTOS = "200"
NO_PHOTOS = "images_base"
"""Reason of a surface that shows no photo posts, which says nothing about the post itself."""


async def _share_page(platform: SandboxPlatform, request: Request) -> Response:
    aweme_id = request.path_params["aweme_id"]
    work = platform.world.video_of_id(aweme_id)
    if work is not None and _comes_as_shell(platform, request, work, page="page"):
        return set_guest_cookie(request, HTMLResponse(shell_page("video_page")), entity=aweme_id)
    is_slides = request.url.path.startswith("/share/slides/")
    kind = "slides" if is_slides else "note" if work is not None and work.is_photo else "video"
    result = _result(platform, aweme_id, work)
    if is_slides:  # the only kind whose result has another key
        result["aweme_details"] = result.pop("item_list")
    data: Document = {
        "ua": request.headers.get("user-agent", ""), "isSpider": False, "webId": "0",
        "query": dict(request.query_params), "lastPath": aweme_id, "itemId": aweme_id,
        "serverToken": "", "abParams": {},
        "slidesInfoRes" if is_slides else "videoInfoRes": result,
    }  # fmt: skip
    loader: Document = {f"{kind}_layout": None, f"{kind}_(id)/page": data}
    return share_page(request, loader, entity=aweme_id)


async def _slides_info(platform: SandboxPlatform, request: Request) -> Response:
    """Return details by ids: videos in the plain form, photo posts with `request_source=200`."""
    if "a_bogus" in request.query_params:  # a made-up signature gives an empty body
        return Response(b"", media_type="application/json")
    ids = _read_ids(request.query_params.get("aweme_ids", ""))
    wants_photos = request.query_params.get("request_source") == _PHOTOS
    details, hidden = _read_details(platform, ids, wants_photos=wants_photos)
    return JSONResponse(with_status(aweme_details=details or None, filter_list=hidden))


async def _item_info(platform: SandboxPlatform, request: Request) -> Response:
    """Return the video to the script of its page, and to nobody without that page's token."""
    query = request.query_params
    if not is_page_token(query.get("web_id", ""), query.get("reflow_id", "")):
        return JSONResponse({"status_code": 11110, "status_msg": "encrypt_data_miss"})
    aweme_id = query.get("item_ids", "")
    return JSONResponse(_result(platform, aweme_id, platform.world.video_of_id(aweme_id)))


async def _web_video(platform: SandboxPlatform, request: Request) -> Response:
    return _desktop_video(platform, request, request.path_params["aweme_id"])


async def _start(platform: SandboxPlatform, request: Request) -> Response:
    """Return the start page, or the page of the video of `modal_id` unless it is deleted."""
    modal = request.query_params.get("modal_id")
    if modal and request.query_params.get("previous_page") != GONE_MARK:
        return _desktop_video(platform, request, modal)
    return web_page(request, {}, entity="start")


async def _other(_: SandboxPlatform, request: Request) -> Response:
    """Return a page of something that is neither video, track, account nor hashtag."""
    return desktop_page(request, [], entity=request.path_params["id"])


async def _verify(_: SandboxPlatform, __: Request) -> Response:
    return HTMLResponse(CAPTCHA_PAGE)


async def _detail(platform: SandboxPlatform, request: Request) -> Response:
    """Return the video or the reason why not, to a visitor with the guest cookie.

    An unknown id gets no reason.
    """
    aweme_id = request.query_params.get("aweme_id", "")
    if GUEST_COOKIE not in request.cookies or "a_bogus" in request.query_params:
        answer = Response(b"", media_type="application/json")
        return set_guest_cookie(request, answer, entity=aweme_id)
    work = platform.world.video_of_id(aweme_id)
    log: Document = {"impr_id": f"2025{aweme_id}"}
    if work is not None and work.is_public and not work.is_photo:
        shown = with_status(log_pb=log, aweme_detail=detail_video(platform, work))
    else:
        why = NO_PHOTOS if work is not None and work.is_public else None
        hidden = None if work is None else filtered_video(aweme_id, work, reason=why)
        shown = with_status(log_pb=log, aweme_detail=None, filter_detail=hidden)
    return JSONResponse(shown)


SURFACES = (
    Surface("slides_info", _slides_info, "/web/api/v2/aweme/slidesinfo/", source=forms.SLIDES),
    Surface("item_info", _item_info, ITEM_INFO, source=forms.CLIENT_PAGE),
    *(
        Surface(
            name, _share_page, f"/share/{kind}/{{aweme_id}}/", f"/share/{kind}/{{aweme_id}}",
            source=forms.SHARE_PAGE,
        )
        for kind, name in (
            ("video", "video_page"), ("note", "note_page"), ("slides", "slides_page"),
            ("item", "video_page"), ("story", "video_page"),
        )
    ),
    Surface("web_detail", _detail, DETAIL, hosts=(WEB, FEATURED), source=forms.DETAIL),
    Surface(
        "web_video_page", _web_video, "/video/{aweme_id}", "/note/{aweme_id}", hosts=(WEB,),
        source=forms.DESKTOP_DETAIL,
    ),
    Surface(
        "web_video_page", _web_video, "/m/video/{aweme_id}", hosts=(FEATURED,),
        source=forms.DESKTOP_DETAIL,
    ),
    Surface(
        "web_start_page", _start, "/jingxuan", "/discover", hosts=(WEB,),
        source=forms.DESKTOP_DETAIL,
    ),
    Surface("verify_page", _verify, "/verify_page", hosts=(WEB,), source=forms.REFUSALS),
    Surface(
        "other_page", _other, "/collection/{id}", "/article/{id}",
        "/share/mix/detail/{id}", "/share/mix/detail/{id}/", hosts=(WEB, SHARE),
        source=forms.SHORT_LINKS,
    ),
)  # fmt: skip


def is_withheld(
    work: SandboxVideo, *, has_cookie: bool, page: str = "page", shell_share: float = 0.0
) -> bool:
    """Return True if a video's page comes without data; always the same for a video and page."""
    share, shells = share_of(work.aweme_id, page), max(_SHELL_SHARE, shell_share)
    return share < shells or (share < shells + _COOKIE_SHARE and not has_cookie)


def _comes_as_shell(
    platform: SandboxPlatform, request: Request, work: SandboxVideo, *, page: str
) -> bool:
    return is_withheld(
        work, has_cookie=GUEST_COOKIE in request.cookies, page=page,
        shell_share=platform.switches.share("page_shells"),
    )  # fmt: skip


def _result(platform: SandboxPlatform, aweme_id: str, work: SandboxVideo | None) -> Document:
    """Return the result of a page: the video, or the reason why it is unavailable."""
    is_shown = work is not None and work.is_public
    return {
        "status_code": 0, "is_oversea": 0,
        "extra": {"logid": f"2025{crc32(aweme_id.encode()):020d}", "now": platform.now * 1000},
        "filter_list": [] if is_shown else [filtered_video(aweme_id, work)],
        "item_list": [page_video(platform, work)] if work is not None and is_shown else [],
    }  # fmt: skip


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
        if work is None or not work.is_public:
            hidden.append(filtered_video(aweme_id, work))
        elif work.is_photo == wants_photos:
            details.append(detail_video(platform, work))
        else:  # each form filters what the other one shows
            reason = "item_type" if wants_photos else NO_PHOTOS
            hidden.append(filtered_video(aweme_id, work, reason=reason))
    return details, hidden


def _desktop_video(platform: SandboxPlatform, request: Request, aweme_id: str) -> Response:
    work = platform.world.video_of_id(aweme_id)
    if work is None or not work.is_public:
        return RedirectResponse(_gone(platform, work), status_code=302)
    if _comes_as_shell(platform, request, work, page="desktop"):
        shell = HTMLResponse(shell_page("web_video_page"))
        return set_guest_cookie(request, shell, entity=aweme_id)
    url = f"{DETAIL}?aweme_id={aweme_id}&aid=6383&device_platform=webapp"
    calls = [to_call(url, cursor="cursor")]
    return carrying_page(request, desktop_data(platform, work), calls=calls, entity=aweme_id)


def _gone(platform: SandboxPlatform, work: SandboxVideo | None) -> str:
    """Return the redirect target of hidden videos, which names an unrelated video."""
    row = 0 if work is None else (work.index + 1) % len(platform.world.works)
    return platform.addresses.gone(platform.world.works.aweme_id[row])
