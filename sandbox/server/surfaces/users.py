"""Accounts: info, posts in the mobile form, and pages, whose script loads both.

Surfaces: `user_info`, `user_posts`, `user_page`, `web_user_page`. The info is withheld from very
old browsers. The path of a shared link holds a numeric id; the relevant id is in its query. The
list of a page has one of three names, and some pages lack it.
"""

import re
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.server.addresses import WEB
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import (
    MAX_PAGE_SIZE,
    Document,
    PagedEntity,
    share_page,
)
from sandbox.server.documents.videos import post_video, to_shown_count, user_info
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import (
    UNKNOWN,
    Surface,
    page_size,
    read_non_negative,
    unknown,
    with_status,
)
from sandbox.world.random_streams import Ints

_OLD_BROWSER = re.compile(r"Android [1-6][.;]|iPhone OS [1-9]_")
_ROW = re.compile(r"[0-9]{5,9}$")
_ACCOUNT = PagedEntity(
    info="/web/api/v2/user/info/", listed="/web/api/v2/aweme/post/", key="sec_uid",
    cursor="max_cursor", extra="&aid=1128",
)  # fmt: skip


async def _info(platform: SandboxPlatform, request: Request) -> Response:
    if _OLD_BROWSER.search(request.headers.get("user-agent", "")):
        return Response(b"", media_type="application/json")
    index = _account(platform, request)
    if index is None:
        return unknown("user_info")
    account = platform.world.account(index)
    return JSONResponse(with_status(user_info=user_info(platform, account)))


async def _posts(platform: SandboxPlatform, request: Request) -> Response:
    if platform.switches.is_on("no_user_posts"):
        return Response(b"", media_type="application/json")
    index = _account(platform, request)
    cursor, size = read_non_negative(request, "max_cursor", 0), page_size(request)
    found = _post_page(platform, index, cursor=cursor, size=size)
    row_of = platform.world.works.row
    return JSONResponse(with_status(
        aweme_list=[post_video(platform, row_of(row)) for row in found.rows],
        min_cursor=found.min_cursor, max_cursor=found.max_cursor, has_more=int(found.has_more),
    ))  # fmt: skip


async def _page(platform: SandboxPlatform, request: Request) -> Response:
    query = request.query_params
    # links copied from the source of a page have an escaped ampersand before the id
    shared = query.get("sec_uid") or query.get("amp;sec_uid")
    sec_uid = shared or request.path_params["account"]
    loader = user_page(platform, platform.world.account_of(sec_uid))
    return share_page(request, loader, calls=_ACCOUNT.calls(sec_uid), entity=sec_uid)


SURFACES = (
    Surface("user_info", _info, _ACCOUNT.info, source=forms.WEB_LISTS),
    Surface("user_posts", _posts, _ACCOUNT.listed, source=forms.WEB_LISTS),
    Surface(
        "user_page",
        _page,
        "/share/user/{account}/",
        "/share/user/{account}",
        source=forms.SHARE_PAGE,
    ),
    Surface(
        "web_user_page",
        _ACCOUNT.desktop_page,
        "/user/{sec_uid}",
        hosts=(WEB,),
        source=forms.WEB_LISTS,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PostPage:
    """One page of posts: rows of videos, pinned ones first, and the cursors."""

    rows: list[int]
    min_cursor: int
    max_cursor: int
    has_more: bool


def _post_page(
    platform: SandboxPlatform, index: int | None, *, cursor: int, size: int
) -> _PostPage:
    """Return the posts of an account from a cursor on; empty for an unknown account."""
    works = platform.world.works
    rows = _rows(platform, index, cursor)
    page = rows[:size]
    moving = page[~works.is_pinned[page]]  # pinned videos are out of order
    times = _cursors(platform, moving if moving.size else page)
    return _PostPage(
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


def has_list(index: int) -> bool:
    """Return True if the page of an account has its first screen, while any page has one."""
    return index % _WITHOUT_LIST != _WITHOUT_LIST - 1


def user_page(platform: SandboxPlatform, index: int | None) -> Document:
    """Return the data of a page, by its name."""
    if index is None:
        nothing: Document = {"status_code": UNKNOWN, "user_info": None}
        return {"user_(id)/page": {"userInfoRes": nothing, "postListData": None}}
    account = platform.world.account(index)
    info = {
        "nickname": account.nickname, "unique_id": account.unique_id, "sec_uid": account.sec_uid,
        "signature": account.signature, "short_id": account.short_id,
        "aweme_count": int(platform.world.videos_by_account(index).size),
        "mplatform_followers_count": 0, "following_count": 0,
    }  # fmt: skip
    shows_list = has_list(index) and not platform.switches.is_on("no_user_posts")
    page: Document = {
        "lastPath": account.uid, "itemId": "", "query": {"sec_uid": account.sec_uid},
        "userInfoRes": with_status(user_info=info),
        "postListData": _first_posts(platform, index) if shows_list else None,
    }  # fmt: skip
    return {"user_layout": None, "user_(id)/page": page}


def _first_posts(platform: SandboxPlatform, index: int) -> Document:
    listed, more, cursor = LIST_FORMS[index % len(LIST_FORMS)]
    found = _post_page(platform, index, cursor=0, size=MAX_PAGE_SIZE)
    return {
        "status_code": 0, listed: [_rounded(platform, row) for row in found.rows],
        more: found.has_more, cursor: found.max_cursor,
    }  # fmt: skip


def _rounded(platform: SandboxPlatform, row: int) -> Document:
    """Return a post with its likes as displayed (rounded)."""
    work = platform.world.works.row(row)
    shown = post_video(platform, work)
    return {**shown, "statistics": {"digg_count": to_shown_count(work.digg_count)}}
