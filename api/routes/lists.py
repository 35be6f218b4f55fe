"""Endpoints 12 and 13: observed videos of a music id and of a hashtag."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.lists import HashtagListQuery, MusicListQuery
from api.responses.envelope import record_parameters, request_info
from api.routes.cached_response import to_response
from api.routes.dependencies import SourcesDep, no_repeated_parameters
from api.schemas.responses import HASHTAG_LIST_RESPONSES, MUSIC_LIST_RESPONSES
from api.services.reads.deadline import Deadline
from api.services.reads.lists import ListPageRequest, read_list
from api.services.reads.track_lists import HASHTAG_ORDERS, hashtag_list_source, music_list_source

_APP = "/api/v1/vidplat/app/v3"

music = APIRouter(tags=["Music"], dependencies=[Depends(no_repeated_parameters)])
hashtags = APIRouter(tags=["Hashtag"], dependencies=[Depends(no_repeated_parameters)])


@music.get(
    f"{_APP}/fetch_music_video_list",
    summary="Videos of a music id",
    response_model=None,
    responses=MUSIC_LIST_RESPONSES,
)
async def fetch_music_video_list(
    request: Request, query: Annotated[MusicListQuery, Query()], sources: SourcesDep
) -> Response:
    """Return the public first screen of a track, merged with earlier ones. 音乐作品列表.

    Stored observations are served unless `refresh=true` reads a new first screen. Pages keep
    showing the union as it was at the first page, even if it is refreshed in between.
    """
    record_parameters(request.scope, query.model_dump())
    now, deadline = (
        request_info(request.scope).moment,
        Deadline(sources.settings.sync_request_timeout),
    )
    wanted = ListPageRequest(
        cursor=query.cursor, count=query.count, order="public", refresh=query.refresh
    )
    listing = music_list_source(sources, query.music_id, now=now)
    return to_response(
        request, await read_list(sources, listing, wanted, now=now, deadline=deadline)
    )


@hashtags.get(
    f"{_APP}/fetch_hashtag_video_list",
    summary="Videos of a hashtag",
    response_model=None,
    responses=HASHTAG_LIST_RESPONSES,
)
async def fetch_hashtag_video_list(
    request: Request, query: Annotated[HashtagListQuery, Query()], sources: SourcesDep
) -> Response:
    """Return the public first screen of a hashtag, merged with earlier ones. 话题作品列表.

    `sort_type` 1 and 2 sort by values known at the latest first screen, unknown ones last; use
    `refresh=true` to sort by current values.
    """
    record_parameters(request.scope, query.model_dump())
    now, deadline = (
        request_info(request.scope).moment,
        Deadline(sources.settings.sync_request_timeout),
    )
    wanted = ListPageRequest(
        cursor=query.cursor,
        count=query.count,
        order=HASHTAG_ORDERS[query.sort_type],
        refresh=query.refresh,
    )
    listing = hashtag_list_source(sources, query.ch_id, now=now)
    return to_response(
        request, await read_list(sources, listing, wanted, now=now, deadline=deadline)
    )
