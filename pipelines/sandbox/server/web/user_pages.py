"""Share pages of accounts: the account, and a first screen of posts, which the script also loads.

Route name: `user_page`. The path of a shared link holds a numeric id; the relevant id is in its
query. The list has one of three names, and some pages lack it.
"""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import first_screen, to_page, with_guest_cookie
from pipelines.sandbox.server.documents.videos import Document, post_video
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.surfaces.paging import MAX_PAGE_SIZE, with_status
from pipelines.sandbox.server.surfaces.users import post_page

LIST_FORMS = (
    ("aweme_list", "has_more", "max_cursor"),
    ("awemeList", "hasMore", "maxCursor"),
    ("items", "has_more", "max_cursor"),
)
"""Keys of the list, of "has more" and of the cursor, by the account's row."""
_WITHOUT_LIST = 7
"""One page in so many has no list."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the route."""

    async def page(request: Request) -> Response:
        sec_uid = request.query_params.get("sec_uid") or request.path_params["account"]
        index = platform.world.account_of(sec_uid)
        shown = to_page(user_page(platform, index), calls=user_calls(sec_uid))
        return with_guest_cookie(request, shown, entity=sec_uid)

    return [Route(f"/share/user/{{account}}{end}", page, name="user_page") for end in ("/", "")]


def has_list(index: int) -> bool:
    """Return True if the page of an account contains its first screen."""
    return index % _WITHOUT_LIST != _WITHOUT_LIST - 1


def shows_list(platform: SandboxPlatform, index: int) -> bool:
    """Return True if the page of an account contains its first screen at present."""
    return has_list(index) and not platform.switches.is_on("no_user_posts")


def user_calls(sec_uid: str) -> list[Document]:
    """Return the requests of an account page's script."""
    given = f"?sec_uid={quote(sec_uid, safe='')}"
    posts = f"/web/api/v2/aweme/post/{given}&count={MAX_PAGE_SIZE}&aid=1128&max_cursor="
    return [
        first_screen(f"/web/api/v2/user/info/{given}", cursor="max_cursor"),
        first_screen(f"{posts}0", cursor="max_cursor", more=posts),
    ]


def user_page(platform: SandboxPlatform, index: int | None) -> Document:
    """Return the document of a page."""
    if index is None:
        unknown: Document = {"status_code": 5, "user_info": None}
        data: Document = {"userInfoRes": unknown, "postListData": None}
        return {"loaderData": {"user_(id)/page": data}, "errors": None}
    account = platform.world.account(index)
    info = {
        "nickname": account.nickname, "unique_id": account.unique_id, "sec_uid": account.sec_uid,
        "signature": account.signature, "short_id": account.short_id,
        "aweme_count": int(platform.world.videos_by_account(index).size),
        "mplatform_followers_count": 0, "following_count": 0,
    }  # fmt: skip
    page: Document = {
        "lastPath": account.uid, "itemId": "", "query": {"sec_uid": account.sec_uid},
        "userInfoRes": with_status(user_info=info),
        "postListData": _posts(platform, index) if shows_list(platform, index) else None,
    }  # fmt: skip
    return {"loaderData": {"user_layout": None, "user_(id)/page": page}, "errors": None}


def _posts(platform: SandboxPlatform, index: int) -> Document:
    listed, more, cursor = LIST_FORMS[index % len(LIST_FORMS)]
    found = post_page(platform, index, cursor=0, size=MAX_PAGE_SIZE)
    return {
        "status_code": 0, listed: [_rounded(platform, row) for row in found.rows],
        more: found.has_more, cursor: found.max_cursor,
    }  # fmt: skip


def _rounded(platform: SandboxPlatform, row: int) -> Document:
    """Return a post with its likes as displayed (rounded)."""
    work = platform.world.works.row(row)
    shown = post_video(platform, work)
    return {**shown, "statistics": {"digg_count": to_shown_count(work.digg_count)}}


def to_shown_count(count: int) -> int | str:
    """Return a count as displayed: exact below ten thousand, then rounded."""
    if count < 10_000:  # noqa: PLR2004  # where pages begin to round
        return count
    hundred_millions = 100_000_000
    if count >= hundred_millions:
        return f"{count / hundred_millions:.1f}亿"
    return f"{count / 10_000:.1f}w"
