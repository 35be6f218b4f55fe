"""Endpoints 5 and 6: hot videos of a track, and of up to ten tracks."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Query, Request
from starlette.responses import Response

from api.params.scan import BatchBody, HotVideosQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import ACCEPTED
from api.routes.dependencies import (
    OptionalSourcesDep,
    ScanServiceDep,
    SyncJobTimeoutDep,
    no_query_parameters,
    no_repeated_parameters,
)
from api.schemas.responses import BATCH_RESPONSES, HOT_VIDEOS_RESPONSES
from api.server.middleware.json_body import JsonRoute
from api.services.batch import to_batch
from api.services.batch_inputs import expand_inputs
from api.services.job_document import poll_url, to_hot_videos, to_job_document, waiting_headers
from api.services.job_wait import wait_for_job

router = APIRouter(tags=["Music"], dependencies=[Depends(no_repeated_parameters)])
writing = APIRouter(
    tags=["Music"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)


@router.get(
    "/api/v1/vidplat/app/v3/fetch_music_hot_videos",
    summary="Hot videos of a track",
    response_model=None,
    responses=HOT_VIDEOS_RESPONSES,
)
async def fetch_music_hot_videos(
    request: Request,
    query: Annotated[HotVideosQuery, Query()],
    scan_service: ScanServiceDep,
    max_wait_s: SyncJobTimeoutDep,
) -> Response:
    """Find and rank the hot videos of a track. 按音乐查找并排行热门作品.

    A valid stored result is returned at once. Otherwise a job is started, or an equal running job
    is joined: poll `data.poll_url`. With a source that reads only first screens the request waits
    for the result.
    """
    parameters = query.to_parameters()
    record_parameters(request.scope, {"music_id": query.music_input, **parameters.to_document()})
    scan = await run_sync(lambda: scan_service.ask(query.music_input, parameters, origin="api"))
    if scan_service.world.is_awaited:
        scan = await wait_for_job(scan_service, scan, max_wait_s=max_wait_s)
    if scan.result is not None:
        return conditional_response(request.scope, to_hot_videos(scan, view=parameters))
    headers = {"Location": poll_url(scan.job.job_id), **waiting_headers(scan.job)}
    data = to_job_document(scan, is_demo=scan_service.world.is_demo)
    return success_response(request.scope, data, status=ACCEPTED, headers=headers)


@writing.post(
    "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch",
    summary="Hot videos of up to ten tracks",
    response_model=None,
    responses=BATCH_RESPONSES,
)
async def fetch_music_hot_videos_batch(
    request: Request,
    body: Annotated[BatchBody, Body()],
    scan_service: ScanServiceDep,
    sources: OptionalSourcesDep,
) -> Response:
    """Process each track independently: stored result, job to poll, or error. 批量查找热门作品.

    Answers once all jobs are created or found and does not wait for them. A link to a playlist, an
    album or an artist of the music service is read first and becomes its songs, one item each, up
    to ten tracks in total; `lists` and a note say how many songs were left out.
    """
    parameters = body.to_parameters()
    record_parameters(request.scope, {"inputs": body.inputs, **parameters.to_document()})
    inputs = await expand_inputs(
        body.inputs, find_target=scan_service.world.find_target, sources=sources
    )
    return success_response(
        request.scope, await run_sync(to_batch, scan_service, inputs, parameters)
    )
