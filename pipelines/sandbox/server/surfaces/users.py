"""Accounts: info and posts, in the mobile form.

Route names: `user_info`, `user_posts`. The info is withheld from very old browsers.
"""

import re
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.videos import post_video, user_info
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.surfaces.paging import page_size, read_non_negative, with_status
from pipelines.sandbox.world.random_streams import Ints

UNKNOWN = 5
_OLD_BROWSER = re.compile(r"Android [1-6][.;]|iPhone OS [1-9]_")
_ROW = re.compile(r"[0-9]{5,9}$")


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of info and posts."""
    users = _Users(platform)
    return [
        Route("/web/api/v2/user/info/", users.info, name="user_info"),
        Route("/web/api/v2/aweme/post/", users.posts, name="user_posts"),
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
