"""Endpoints 1 to 4, 12 and 13: accounts with their posts and metrics, observed lists of videos."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.lists import (
    HashtagListQuery,
    MetricsQuery,
    MusicListQuery,
    PostsQuery,
    ProfileQuery,
    ResolveQuery,
)
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import DeadlineDep, MomentDep, SourcesDep, check_query
from api.schemas import responses
from api.schemas.lists import CreatorMetrics, CursorList, PostList, ResolvedUser, UserProfile
from api.server.response_cache import cache_response
from api.services.reads.documents import ReadResult, TimeWindow
from api.services.reads.lists import (
    HASHTAG_ORDERS,
    ListPageRequest,
    hashtag_list_source,
    music_list_source,
)
from api.services.reads.metrics import read_metrics
from api.services.reads.posts import ORDERS, read_posts
from api.services.reads.users import read_user, resolve_user

users = APIRouter(tags=["User"], dependencies=[Depends(check_query)])
music = APIRouter(tags=["Music"], dependencies=[Depends(check_query)])
hashtags = APIRouter(tags=["Hashtag"], dependencies=[Depends(check_query)])

_APP = "/api/v1/vidplat/app/v3"
_LIST_ERRORS = (*responses.PARAMETER_ERRORS, *responses.PLATFORM_ERRORS, *responses.UPSTREAM_ERRORS)
_USER_ERRORS = (*_LIST_ERRORS, "unresolvable_sec_user_id")


@users.get(
    "/api/v1/vidplat/web/get_sec_user_id",
    summary="Resolve a link or a handle to a sec_user_id",
    responses=responses.read_responses(ResolvedUser, "Resolved account", *_USER_ERRORS),
)
async def get_sec_user_id(
    request: Request,
    query: Annotated[ResolveQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Resolve a profile link, short link, video link, handle or text. 解析 sec_user_id.

    A video link resolves to the author. `@` and a handle, alone, is looked up. Short links and
    handles are followed once and then remembered.
    """
    record_parameters(request.scope, query.model_dump())
    result = await resolve_user(sources, query.url, now=now, deadline=deadline)
    return _read_response(request, result)


@users.get(
    f"{_APP}/handler_user_profile",
    summary="User profile",
    responses=responses.read_responses(UserProfile, "Account profile", *_USER_ERRORS),
)
async def handler_user_profile(
    request: Request,
    query: Annotated[ProfileQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Return the public profile of an account: names, counts, description. 用户主页信息."""
    record_parameters(request.scope, query.model_dump())
    result = await read_user(sources, query.sec_user_id, now=now, deadline=deadline)
    return _read_response(request, result)


@users.get(
    f"{_APP}/fetch_user_post_videos",
    summary="Posts of a user",
    responses=responses.read_responses(PostList, "Page of posts", *_USER_ERRORS),
)
async def fetch_user_post_videos(
    request: Request,
    query: Annotated[PostsQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Return the posts of an account, page by page. 用户作品列表.

    `max_cursor` is the platform's own cursor (`pagination_mode` platform_cursor), or a cursor over
    observed posts if the source reads only first screens. `sort_type` sorts each platform page
    separately.
    """
    record_parameters(request.scope, query.model_dump())
    page = ListPageRequest(
        cursor=query.max_cursor, count=query.count, order=ORDERS[query.sort_type]
    )
    result = await read_posts(sources, query.sec_user_id, page, now=now, deadline=deadline)
    return _read_response(request, result)


@users.get(
    f"{_APP}/fetch_user_metrics",
    summary="Creator metrics",
    responses=responses.read_responses(
        CreatorMetrics, "Engagement of the newest videos in the window", *_USER_ERRORS
    ),
)
async def fetch_user_metrics(
    request: Request,
    query: Annotated[MetricsQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Return followers, total likes, and likes of the newest videos of the last days. 创作者指标.

    Counts come from the videos' detail pages. If some could not be read in time,
    `statistics_complete` is false; averages without videos are null.
    """
    record_parameters(request.scope, query.model_dump())
    window = TimeWindow(days=query.days, end=now)
    result = await read_metrics(
        sources, query.sec_user_id, window=window, count=query.count, deadline=deadline
    )
    return _read_response(request, result)


@music.get(
    f"{_APP}/fetch_music_video_list",
    summary="Videos of a music id",
    responses=responses.read_responses(
        CursorList,
        "Page of the observed union",
        "invalid_music_input",
        *_LIST_ERRORS,
        *responses.DEVICE_ERRORS,
    ),
)
async def fetch_music_video_list(
    request: Request,
    query: Annotated[MusicListQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Return the public first screen of a track, merged with earlier ones. 音乐作品列表.

    Stored observations are served unless `refresh=true` reads a new first screen. Pages keep
    showing the union as it was at the first page, even if it is refreshed in between.
    """
    record_parameters(request.scope, query.model_dump())
    page = ListPageRequest(
        cursor=query.cursor, count=query.count, order="public", refresh=query.refresh
    )
    listing = music_list_source(sources, query.music_id, now=now)
    result = await listing.read(page, now=now, deadline=deadline)
    return _read_response(request, result)


@hashtags.get(
    f"{_APP}/fetch_hashtag_video_list",
    summary="Videos of a hashtag",
    responses=responses.read_responses(CursorList, "Page of the observed union", *_LIST_ERRORS),
)
async def fetch_hashtag_video_list(
    request: Request,
    query: Annotated[HashtagListQuery, Query()],
    sources: SourcesDep,
    now: MomentDep,
    deadline: DeadlineDep,
) -> Response:
    """Return the public first screen of a hashtag, merged with earlier ones. 话题作品列表.

    `sort_type` 1 and 2 sort by the values that are answered, those of details that were read
    included, unknown ones last. Later pages keep the order of the moment at which pagination began;
    the values in them may be newer.
    """
    record_parameters(request.scope, query.model_dump())
    page = ListPageRequest(
        cursor=query.cursor,
        count=query.count,
        order=HASHTAG_ORDERS[query.sort_type],
        refresh=query.refresh,
    )
    listing = hashtag_list_source(sources, query.ch_id, now=now)
    result = await listing.read(page, now=now, deadline=deadline)
    return _read_response(request, result)


def _read_response(request: Request, result: ReadResult[object]) -> Response:
    """Answer with the data of a read, and let it be cached until one of its captures changes."""
    if result.is_cacheable:
        cache_response(request.scope, entities=result.entities, until=result.until)
    return conditional_response(request.scope, result.document)
