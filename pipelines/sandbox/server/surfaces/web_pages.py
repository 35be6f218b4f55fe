"""Desktop pages on the web host, and the detail JSON that they load.

Route names: `web_video_page`, `web_detail`, `web_user_page`, `web_music_page`, `web_hashtag_page`,
`web_start_page` (which shows the video of its `modal_id`), `verify_page`, `other_page`. A hidden
video redirects to the page for deleted videos; the detail JSON requires the guest cookie.
"""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from pipelines.sandbox.server.addresses import FEATURED, SHARE, WEB
from pipelines.sandbox.server.documents.pages import (
    GUEST_COOKIE,
    first_screen,
    set_guest_cookie,
    to_web_page,
    with_guest_cookie,
)
from pipelines.sandbox.server.documents.videos import Document, detail_video, filtered_video
from pipelines.sandbox.server.faults import CAPTCHA_PAGE, shell_page
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import HostRoute, with_status
from pipelines.sandbox.server.surfaces.hashtags import hashtag_calls
from pipelines.sandbox.server.surfaces.music import music_calls
from pipelines.sandbox.server.surfaces.share_pages import is_withheld, video_result
from pipelines.sandbox.server.surfaces.users import user_calls
from pipelines.sandbox.world.content.videos import SandboxVideo

DETAIL = "/aweme/v1/web/aweme/detail/"
GONE_MARK = "web_video_404_link"


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of the pages and of the detail JSON."""
    pages = _WebPages(platform)
    desktop, featured = (WEB,), (FEATURED,)
    return [
        HostRoute(DETAIL, pages.detail, name="web_detail", hosts=(WEB, FEATURED)),
        HostRoute("/video/{aweme_id}", pages.work, name="web_video_page", hosts=desktop),
        HostRoute("/note/{aweme_id}", pages.work, name="web_video_page", hosts=desktop),
        HostRoute("/m/video/{aweme_id}", pages.work, name="web_video_page", hosts=featured),
        HostRoute("/user/{sec_uid}", pages.user, name="web_user_page", hosts=desktop),
        HostRoute("/music/{music_id}", pages.music, name="web_music_page", hosts=desktop),
        *(
            HostRoute(path, pages.hashtag, name="web_hashtag_page", hosts=desktop)
            for path in ("/challenge/detail/{ch_id}", "/challenge/{ch_id}", "/hashtag/{ch_id}")
        ),
        HostRoute("/jingxuan", pages.start, name="web_start_page", hosts=desktop),
        HostRoute("/discover", pages.start, name="web_start_page", hosts=desktop),
        HostRoute("/verify_page", _verify, name="verify_page", hosts=desktop),
        *(
            HostRoute(path, pages.other, name="other_page", hosts=(WEB, SHARE))
            for path in (
                "/collection/{id}",
                "/article/{id}",
                "/share/mix/detail/{id}",
                "/share/mix/detail/{id}/",
            )
        ),
    ]


async def _verify(_: Request) -> Response:
    return HTMLResponse(CAPTCHA_PAGE)


class _WebPages:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def work(self, request: Request) -> Response:
        return self._work_page(request, request.path_params["aweme_id"])

    async def start(self, request: Request) -> Response:
        """Return the start page, or the page of the video of `modal_id` unless it is deleted."""
        modal = request.query_params.get("modal_id")
        if modal and request.query_params.get("previous_page") != GONE_MARK:
            return self._work_page(request, modal)
        return with_guest_cookie(request, to_web_page({"app": {}}), entity="start")

    async def user(self, request: Request) -> Response:
        sec_uid = request.path_params["sec_uid"]
        return self._page(request, user_calls(sec_uid), sec_uid)

    async def music(self, request: Request) -> Response:
        music_id = request.path_params["music_id"]
        return self._page(request, music_calls(music_id), music_id)

    async def hashtag(self, request: Request) -> Response:
        ch_id = request.path_params["ch_id"]
        return self._page(request, hashtag_calls(ch_id), ch_id)

    async def other(self, request: Request) -> Response:
        """Return a page of something that is neither video, track, account nor hashtag."""
        return self._page(request, [], request.path_params["id"])

    async def detail(self, request: Request) -> Response:
        aweme_id = request.query_params.get("aweme_id", "")
        if GUEST_COOKIE not in request.cookies or "a_bogus" in request.query_params:
            answer = Response(b"", media_type="application/json")
        else:
            answer = JSONResponse(self._detail(aweme_id))
        return set_guest_cookie(request, answer, entity=aweme_id)

    def _detail(self, aweme_id: str) -> Document:
        """Return the video or the reason why not; an unknown id gets no reason."""
        work = self.platform.world.video_of_id(aweme_id)
        log: Document = {"impr_id": f"2025{aweme_id}"}
        if work is not None and self.platform.world.is_public(work):
            return with_status(log_pb=log, aweme_detail=detail_video(self.platform, work))
        reason = None if work is None else filtered_video(aweme_id, work)
        return with_status(log_pb=log, aweme_detail=None, filter_detail=reason)

    def _work_page(self, request: Request, aweme_id: str) -> Response:
        work = self.platform.world.video_of_id(aweme_id)
        if work is None or not self.platform.world.is_public(work):
            return RedirectResponse(self._gone(work), status_code=302)
        if is_withheld(
            work, has_cookie=GUEST_COOKIE in request.cookies, page="desktop",
            shell_share=self.platform.switches.share("page_shells"),
        ):  # fmt: skip
            shell = HTMLResponse(shell_page("web_video_page"))
            return set_guest_cookie(request, shell, entity=aweme_id)
        result = video_result(self.platform, aweme_id, work)
        call = first_screen(f"{DETAIL}?aweme_id={aweme_id}&aid=6383&device_platform=webapp",
                            cursor="cursor")  # fmt: skip
        page = to_web_page({"app": {"videoInfoRes": result}}, calls=[call])
        return with_guest_cookie(request, page, entity=aweme_id)

    def _gone(self, work: SandboxVideo | None) -> str:
        """Return the redirect target of hidden videos, which names an unrelated video."""
        row = 0 if work is None else (work.index + 1) % len(self.platform.world.works)
        other = self.platform.world.works.aweme_id[row]
        path = f"/jingxuan?previous_page={GONE_MARK}&modal_id={other}"
        return self.platform.addresses.on(WEB, path)

    def _page(self, request: Request, calls: list[Document], entity: str) -> Response:
        """Return a page without data of its own; its script loads everything."""
        page = to_web_page({"app": {"id": quote(entity)}}, calls=calls)
        return with_guest_cookie(request, page, entity=entity)
