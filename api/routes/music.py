"""Endpoints 5, 6 and 9: hot videos of a track and of up to ten tracks, related videos."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Query, Request
from starlette.responses import Response

from api.params.discovery import DiscoveryQuery
from api.params.scan import BatchBody, HotVideosQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import ACCEPTED, OK
from api.routes.dependencies import ScanServiceDep, ServicesDep, SyncJobTimeoutDep, check_query
from api.schemas import responses
from api.schemas.result import BatchResult, DiscoveryResponse, HotVideosResponse, JobDocument
from api.server.json_body import JsonRoute
from api.services import job_document
from api.services.batch import expand_inputs, to_batch
from api.services.job_document import wait_for_job

router = APIRouter(tags=["Music"], route_class=JsonRoute, dependencies=[Depends(check_query)])

_APP = "/api/v1/vidplat/app/v3"
_ERRORS = (
    *responses.PARAMETER_ERRORS,
    "invalid_music_input",
    *responses.PLATFORM_ERRORS,
    "worker_unavailable",
    *responses.UPSTREAM_ERRORS,
    *responses.DEVICE_ERRORS,
    "audio_unavailable",
)
STARTED = responses.success(JobDocument, "Started or joined job", "Location", "Retry-After")


@router.get(
    f"{_APP}/fetch_music_hot_videos",
    summary="Hot videos of a track",
    responses={
        OK: responses.success(HotVideosResponse, "Ranking from a stored result", "ETag"),
        ACCEPTED: STARTED,
        **responses.unchanged(),
        **responses.error_responses(*_ERRORS),
    },
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
        return conditional_response(
            request.scope, job_document.to_hot_videos(scan, view=parameters)
        )
    headers = {
        "Location": job_document.poll_url(scan.job.job_id),
        **job_document.waiting_headers(scan.job),
    }
    data = job_document.to_job_document(scan, is_demo=scan_service.world.is_demo)
    return success_response(request.scope, data, status=ACCEPTED, headers=headers)


@router.post(
    f"{_APP}/fetch_music_hot_videos_batch",
    summary="Hot videos of up to ten tracks",
    responses=responses.action_responses(
        BatchResult,
        "Each item with its job, stored result or error",
        *responses.BODY_ERRORS,
        "invalid_inputs",
        *responses.PLATFORM_ERRORS,
    ),
)
async def fetch_music_hot_videos_batch(
    request: Request,
    body: Annotated[BatchBody, Body()],
    scan_service: ScanServiceDep,
    services: ServicesDep,
) -> Response:
    """Process each track independently: stored result, job to poll, or error. 批量查找热门作品.

    Answers once all jobs are created or found and does not wait for them. A link to a playlist, an
    album or an artist of the music service is read first and becomes its songs, one item each, up
    to ten tracks in total; `lists` and a note say how many songs were left out.
    """
    parameters = body.to_parameters()
    record_parameters(request.scope, {"inputs": body.inputs, **parameters.to_document()})
    inputs = await expand_inputs(
        body.inputs, find_target=scan_service.world.find_target, sources=services.sources
    )
    batch = await run_sync(to_batch, scan_service, inputs, parameters)
    return success_response(request.scope, batch)


@router.get(
    f"{_APP}/discover_music_related_videos",
    summary="Related videos of a track",
    responses=responses.read_responses(
        DiscoveryResponse, "Verified matches and all candidates", *_ERRORS
    ),
)
async def discover_music_related_videos(
    request: Request,
    query: Annotated[DiscoveryQuery, Query()],
    scan_service: ScanServiceDep,
    max_wait_s: SyncJobTimeoutDep,
) -> Response:
    """Scan the authors of a track, then match candidates by audio. 发现关联作品.

    `aweme_list` holds verified matches only; `candidates` lists every text candidate with its
    reason. The request waits for the result; repeating it joins the running job.
    """
    parameters = query.to_parameters()
    record_parameters(request.scope, {"music_id": query.music_input, **parameters.to_document()})
    submit = partial(scan_service.discover, query.music_input, parameters, origin="api")
    scan = await wait_for_job(scan_service, await run_sync(submit), max_wait_s=max_wait_s)
    return conditional_response(request.scope, job_document.to_discovery(scan))
