"""Accounts: who one is, and what they posted, in the mobile form.

Route names: `user_info`, `user_posts`. The info withholds itself from very old browsers.
"""

import re

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.documents import post_work, user_info
from pipelines.sandbox.platform import Platform
from pipelines.sandbox.surfaces.paging import page_size, whole, with_status
from pipelines.world.streams import Ints

UNKNOWN = 5
_OLD_BROWSER = re.compile(r"Android [1-6][.;]|iPhone OS [1-9]_")


def routes(platform: Platform) -> list[BaseRoute]:
    """Info and posts of an account."""
    users = _Users(platform)
    return [
        Route("/web/api/v2/user/info/", users.info, name="user_info"),
        Route("/web/api/v2/aweme/post/", users.posts, name="user_posts"),
    ]


class _Users:
    def __init__(self, platform: Platform) -> None:
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
        works = self.platform.world.works
        index = _account(self.platform, request)
        cursor, size = whole(request, "max_cursor", 0), page_size(request)
        rows = _rows(self.platform, index, cursor)
        page = rows[:size]
        moving = page[~works.is_pinned[page]]  # pinned works are out of order
        times = _cursors(self.platform, moving if moving.size else page)
        answer = with_status(
            aweme_list=[post_work(self.platform, works.row(int(row))) for row in page],
            min_cursor=int(times.max(initial=0)),
            max_cursor=int(times.min()) if page.size else cursor,
            has_more=int(rows.size > size),
        )
        return JSONResponse(answer)


def _account(platform: Platform, request: Request) -> int | None:
    query = request.query_params
    return platform.world.account_of(query.get("sec_uid") or query.get("sec_user_id") or "")


def _rows(platform: Platform, index: int | None, cursor: int) -> Ints:
    """Works still to come: all in order, or those older than the cursor, pinned ones left out."""
    if index is None:
        return np.zeros(0, dtype=np.int64)
    rows = platform.world.works_by_account(index)
    if not cursor:
        return rows
    is_later = _cursors(platform, rows) < cursor
    return rows[is_later & ~platform.world.works.is_pinned[rows]]


def _cursors(platform: Platform, rows: Ints) -> Ints:
    """Milliseconds, made different for works of the same second."""
    return np.asarray(platform.world.works.create_time[rows] * 1000 + rows % 1000, dtype=np.int64)
