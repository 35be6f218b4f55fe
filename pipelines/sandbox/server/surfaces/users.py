"""Accounts: info, posts in the mobile form, and share pages, whose script loads both.

Route names: `user_info`, `user_posts`, `user_page`. The info is withheld from very old browsers.
The path of a shared link holds a numeric id; the relevant id is in its query. The list of a page
has one of three names, and some pages lack it.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.pages import first_screen, to_page, with_guest_cookie
from pipelines.sandbox.server.documents.videos import Document, post_video, user_info
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import (
    MAX_PAGE_SIZE,
    page_size,
    read_non_negative,
    with_status,
)
from pipelines.sandbox.world.random_streams import Ints

UNKNOWN = 5
_OLD_BROWSER = re.compile(r"Android [1-6][.;]|iPhone OS [1-9]_")
_ROW = re.compile(r"[0-9]{5,9}$")


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of info, posts and share page."""
    users = _Users(platform)
    return [
        Route("/web/api/v2/user/info/", users.info, name="user_info"),
        Route("/web/api/v2/aweme/post/", users.posts, name="user_posts"),
        *_page_routes(platform),
    ]


class _Users:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def info(self, request: Request) -> Response:
        if _OLD_BROWSER.search(request.headers.get("user-agent", "")):
            return Response(b"", media_type="application/json")
        index = _account(self.platform, request)
        if index is None:
            return JSONResponse({"status_code": UNKNOWN, "status_msg": "", "user_info": None})
        account = self.platform.world.account(index)
        return JSONResponse(with_status(user_info=user_info(self.platform, account)))

    async def posts(self, request: Request) -> Response:
        if self.platform.switches.is_on("no_user_posts"):
            return Response(b"", media_type="application/json")
        index = _account(self.platform, request)
        cursor, size = read_non_negative(request, "max_cursor", 0), page_size(request)
        found = post_page(self.platform, index, cursor=cursor, size=size)
        row_of = self.platform.world.works.row
        answer = with_status(
            aweme_list=[post_video(self.platform, row_of(row)) for row in found.rows],
            min_cursor=found.min_cursor, max_cursor=found.max_cursor,
            has_more=int(found.has_more),
        )  # fmt: skip
        return JSONResponse(answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostPage:
    """One page of posts: rows of videos, pinned ones first, and the cursors."""

    rows: list[int]
    min_cursor: int
    max_cursor: int
    has_more: bool


def post_page(platform: SandboxPlatform, index: int | None, *, cursor: int, size: int) -> PostPage:
    """Return the posts of an account from a cursor on; empty for an unknown account."""
    works = platform.world.works
    rows = _rows(platform, index, cursor)
    page = rows[:size]
    moving = page[~works.is_pinned[page]]  # pinned videos are out of order
    times = _cursors(platform, moving if moving.size else page)
    return PostPage(
        rows=page.tolist(), min_cursor=int(times.max(initial=0)),
        max_cursor=int(times.min()) if page.size else cursor, has_more=bool(rows.size > size),
    )  # fmt: skip


def _account(platform: SandboxPlatform, request: Request) -> int | None:
    query = request.query_params
    handle = query.get("unique_id")
    if handle:
        return _by_handle(platform, handle)
    return platform.world.account_of(query.get("sec_uid") or query.get("sec_user_id") or "")


def _by_handle(platform: SandboxPlatform, handle: str) -> int | None:
    """The row of an account, which its handle ends with."""
    found = _ROW.search(handle)
    if found is None or int(found[0]) >= platform.world.account_count:
        return None
    row = int(found[0])
    return row if platform.world.account(row).unique_id == handle else None


def _rows(platform: SandboxPlatform, index: int | None, cursor: int) -> Ints:
    """Return the rows after the cursor: all at first, later the older ones without pinned ones."""
    if index is None:
        return np.zeros(0, dtype=np.int64)
    rows = platform.world.videos_by_account(index)
    if not cursor:
        return rows
    is_later = _cursors(platform, rows) < cursor
    return rows[is_later & ~platform.world.works.is_pinned[rows]]


def _cursors(platform: SandboxPlatform, rows: Ints) -> Ints:
    """Return cursors in milliseconds, made unique for videos of the same second."""
    return np.asarray(platform.world.works.create_time[rows] * 1000 + rows % 1000, dtype=np.int64)


LIST_FORMS = (
    ("aweme_list", "has_more", "max_cursor"),
    ("awemeList", "hasMore", "maxCursor"),
    ("items", "has_more", "max_cursor"),
)
"""Keys of the list, of "has more" and of the cursor, by the account's row."""
_WITHOUT_LIST = 7
"""One page in so many has no list."""


def _page_routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of the share page."""

    async def page(request: Request) -> Response:
        query = request.query_params
        # links copied from the source of a page have an escaped ampersand before the id
        shared = query.get("sec_uid") or query.get("amp;sec_uid")
        sec_uid = shared or request.path_params["account"]
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
