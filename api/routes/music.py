"""Endpoint 5: the hot videos of a track."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.deps import Desk, no_repeats
from api.envelope import read, success, understood
from api.errors import ACCEPTED
from api.job_document import (
    poll_url,
    to_hot_videos,
    to_job_document,
    waiting_headers,
)
from api.params import HotVideosQuery
from api.schemas import HOT_VIDEOS_ANSWERS

router = APIRouter(tags=["Music"], dependencies=[Depends(no_repeats)])


@router.get(
    "/api/v1/vidplat/app/v3/fetch_music_hot_videos",
    summary="Hot videos of a track",
    response_model=None,
    responses=HOT_VIDEOS_ANSWERS,
)
async def fetch_music_hot_videos(
    request: Request, query: Annotated[HotVideosQuery, Query()], desk: Desk
) -> Response:
    """Find and rank the hot videos of a track. 按音乐查找并排行热门作品.

    A stored result that serves is answered at once. Otherwise a job is started, or an equal one
    that runs is joined: poll `data.poll_url`.
    """
    parameters = query.to_parameters()
    understood(request.scope, {"music_id": query.music_input, **parameters.to_document()})
    scan = await run_sync(lambda: desk.ask(query.music_input, parameters, origin="api"))
    if scan.result is not None:
        return read(request.scope, to_hot_videos(scan, view=parameters))
    headers = {"Location": poll_url(scan.job.job_id), **waiting_headers(scan.job)}
    data = to_job_document(scan, is_demo=desk.world.is_demo)
    return success(request.scope, data, status=ACCEPTED, headers=headers)
