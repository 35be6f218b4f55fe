"""Endpoints 12 and 13: observed videos of a music id and of a hashtag."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.lists import HashtagListQuery, MusicListQuery
from api.responses.envelope import call_of, understood
from api.routes.cached_response import tell
from api.routes.dependencies import Reads, no_repeats
from api.schemas import HASHTAG_LIST_ANSWERS, MUSIC_LIST_ANSWERS
from api.services.reads.deadline import Deadline
from api.services.reads.lists import Wanted, read_list
from api.services.reads.track_lists import HASHTAG_ORDERS, hashtag_listing, music_listing

_APP = "/api/v1/vidplat/app/v3"

music = APIRouter(tags=["Music"], dependencies=[Depends(no_repeats)])
hashtags = APIRouter(tags=["Hashtag"], dependencies=[Depends(no_repeats)])


@music.get(
    f"{_APP}/fetch_music_video_list",
    summary="Videos of a music id",
    response_model=None,
    responses=MUSIC_LIST_ANSWERS,
)
async def fetch_music_video_list(
    request: Request, query: Annotated[MusicListQuery, Query()], sources: Reads
) -> Response:
    """Return the public first screen of a track, merged with earlier ones. 音乐作品列表.

    Stored observations are served unless `refresh=true` reads a new first screen. Pages keep
    showing the union as it was at the first page, even if it is refreshed in between.
    """
    understood(request.scope, query.model_dump())
    now, deadline = call_of(request.scope).moment, Deadline(sources.settings.sync_request_timeout)
    wanted = Wanted(cursor=query.cursor, count=query.count, order="public", refresh=query.refresh)
    listing = music_listing(sources, query.music_id, now=now)
    return tell(request, await read_list(sources, listing, wanted, now=now, deadline=deadline))


@hashtags.get(
    f"{_APP}/fetch_hashtag_video_list",
    summary="Videos of a hashtag",
    response_model=None,
    responses=HASHTAG_LIST_ANSWERS,
)
async def fetch_hashtag_video_list(
    request: Request, query: Annotated[HashtagListQuery, Query()], sources: Reads
) -> Response:
    """Return the public first screen of a hashtag, merged with earlier ones. 话题作品列表.

    `sort_type` 1 and 2 sort by values known at the latest first screen, unknown ones last; use
    `refresh=true` to sort by current values.
    """
    understood(request.scope, query.model_dump())
    now, deadline = call_of(request.scope).moment, Deadline(sources.settings.sync_request_timeout)
    wanted = Wanted(
        cursor=query.cursor,
        count=query.count,
        order=HASHTAG_ORDERS[query.sort_type],
        refresh=query.refresh,
    )
    listing = hashtag_listing(sources, query.ch_id, now=now)
    return tell(request, await read_list(sources, listing, wanted, now=now, deadline=deadline))
