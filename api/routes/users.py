"""Endpoints 1 to 4: accounts, their posts, their metrics."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.lists import MetricsQuery, PostsQuery, ProfileQuery, ResolveQuery
from api.responses.envelope import record_parameters, request_info
from api.routes.cached_response import to_response
from api.routes.dependencies import SourcesDep, no_repeated_parameters
from api.schemas.responses import (
    METRICS_RESPONSES,
    POSTS_RESPONSES,
    PROFILE_RESPONSES,
    RESOLVE_RESPONSES,
)
from api.services.reads.deadline import Deadline
from api.services.reads.documents import TimeWindow
from api.services.reads.metrics import read_metrics
from api.services.reads.posts import ORDERS, PostPageRequest, read_posts
from api.services.reads.users import read_user, resolve_user

router = APIRouter(tags=["User"], dependencies=[Depends(no_repeated_parameters)])
_APP = "/api/v1/vidplat/app/v3"


@router.get(
    "/api/v1/vidplat/web/get_sec_user_id",
    summary="Resolve a link or a handle to a sec_user_id",
    response_model=None,
    responses=RESOLVE_RESPONSES,
)
async def get_sec_user_id(
    request: Request, query: Annotated[ResolveQuery, Query()], sources: SourcesDep
) -> Response:
    """Resolve a profile link, short link, video link, handle or text. 解析 sec_user_id.

    A video link resolves to the author. `@` and a handle, alone, is looked up. Short links and
    handles are followed once and then remembered.
    """
    record_parameters(request.scope, query.model_dump())
    now, deadline = (
        request_info(request.scope).moment,
        Deadline(sources.settings.sync_request_timeout),
    )
    return to_response(request, await resolve_user(sources, query.url, now=now, deadline=deadline))


@router.get(
    f"{_APP}/handler_user_profile",
    summary="User profile",
    response_model=None,
    responses=PROFILE_RESPONSES,
)
async def handler_user_profile(
    request: Request, query: Annotated[ProfileQuery, Query()], sources: SourcesDep
) -> Response:
    """Return the public profile of an account: names, counts, description. 用户主页信息."""
    record_parameters(request.scope, query.model_dump())
    now, deadline = (
        request_info(request.scope).moment,
        Deadline(sources.settings.sync_request_timeout),
    )
    return to_response(
        request, await read_user(sources, query.sec_user_id, now=now, deadline=deadline)
    )


@router.get(
    f"{_APP}/fetch_user_post_videos",
    summary="Posts of a user",
    response_model=None,
    responses=POSTS_RESPONSES,
)
async def fetch_user_post_videos(
    request: Request, query: Annotated[PostsQuery, Query()], sources: SourcesDep
) -> Response:
    """Return the posts of an account, page by page. 用户作品列表.

    `max_cursor` is the platform's own cursor (`pagination_mode` platform_cursor), or a cursor over
    observed posts if the source reads only first screens. `sort_type` sorts each platform page
    separately.
    """
    record_parameters(request.scope, query.model_dump())
    now, deadline = (
        request_info(request.scope).moment,
        Deadline(sources.settings.sync_request_timeout),
    )
    wanted = PostPageRequest(
        sec_user_id=query.sec_user_id,
        max_cursor=query.max_cursor,
        count=query.count,
        order=ORDERS[query.sort_type],
    )
    return to_response(request, await read_posts(sources, wanted, now=now, deadline=deadline))


@router.get(
    f"{_APP}/fetch_user_metrics",
    summary="Creator metrics",
    response_model=None,
    responses=METRICS_RESPONSES,
)
async def fetch_user_metrics(
    request: Request, query: Annotated[MetricsQuery, Query()], sources: SourcesDep
) -> Response:
    """Return followers, total likes, and likes of the newest videos of the last days. 创作者指标.

    Counts come from the videos' detail pages. If some could not be read in time,
    `statistics_complete` is false; averages without videos are null.
    """
    record_parameters(request.scope, query.model_dump())
    deadline = Deadline(sources.settings.sync_request_timeout)
    window = TimeWindow(days=query.days, end=request_info(request.scope).moment)
    answer = await read_metrics(
        sources, query.sec_user_id, window=window, count=query.count, deadline=deadline
    )
    return to_response(request, answer)
