"""Endpoints 7 and 8: collection jobs. Also the list of jobs and their event stream."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from api.params.scan import JobBody, JobListQuery, RankingQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import ACCEPTED, NO_CONTENT, OK
from api.routes.dependencies import (
    JobBroadcasterDep,
    JobResponsesDep,
    OptionalSourcesDep,
    ScanServiceDep,
    no_query_parameters,
    no_repeated_parameters,
)
from api.schemas.responses import (
    CANCEL_RESPONSES,
    CREATE_JOB_RESPONSES,
    JOB_EVENTS_RESPONSES,
    JOB_LIST_RESPONSES,
    JOB_PREVIEW_RESPONSES,
    JOB_RESPONSES,
    RANKING_RESPONSES,
)
from api.schemas.result import JobList
from api.server.middleware.json_body import JsonRoute
from api.services.job_document import (
    ALREADY_FINISHED,
    JOBS_PATH,
    poll_url,
    to_job_document,
    to_job_preview,
    to_scan_parameters,
    track_names,
    waiting_headers,
)
from api.services.job_events import JobEvents
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES

router = APIRouter(tags=["Jobs"], dependencies=[Depends(no_query_parameters)])
writing = APIRouter(
    tags=["Jobs"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)
extensions = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])

LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", description="id of the last event received")
]
JobId = Annotated[str, Path(description="id of a collection job")]


@writing.post(
    JOBS_PATH, summary="Start a scan", response_model=None, responses=CREATE_JOB_RESPONSES
)
async def music_collection_jobs(
    request: Request, body: Annotated[JobBody, Body()], scan_service: ScanServiceDep
) -> Response:
    """Start a scan of public data for a track, or a search by name only. 创建后台采集任务.

    Answers 200 with the completed job if a stored result is valid, otherwise 202: poll
    `data.poll_url`.
    """
    parameters = body.to_parameters()
    if body.keyword is not None:
        record_parameters(
            request.scope,
            {"keyword": body.keyword, "search_only": True, **parameters.to_document()},
        )
        ask = partial(scan_service.submit_keyword_search, body.keyword)
    else:
        record_parameters(request.scope, {"input": body.music_input, **parameters.to_document()})
        ask = partial(scan_service.ask, body.music_input)
    scan = await run_sync(partial(ask, parameters, origin="api"))
    data = to_job_document(scan, is_demo=scan_service.world.is_demo, view=parameters)
    headers = {"Location": poll_url(scan.job.job_id), **waiting_headers(scan.job)}
    status = OK if scan.result is not None else ACCEPTED
    return success_response(request.scope, data, status=status, headers=headers)


@router.get(
    f"{JOBS_PATH}/{{job_id}}",
    summary="Progress and result of a job",
    response_model=None,
    responses=JOB_RESPONSES,
)
async def music_collection_job(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, answers: JobResponsesDep
) -> Response:
    """Return the progress of a job and, once completed, its result. 查询任务进度与结果."""
    record_parameters(request.scope, {"job_id": job_id})
    shown = await answers.now(scan_service, job_id)
    return conditional_response(request.scope, shown.data, headers=waiting_headers(shown.job))


@extensions.get(
    "/api/v1/sametrack/jobs/{job_id}/ranking",
    summary="Result of a job in another view",
    response_model=None,
    responses=RANKING_RESPONSES,
)
async def sametrack_job_ranking(
    request: Request,
    job_id: JobId,
    query: Annotated[RankingQuery, Query()],
    scan_service: ScanServiceDep,
) -> Response:
    """Return a job with its ranking in another view. Starts no scan. 任务结果的其他视图."""
    record_parameters(request.scope, {"job_id": job_id, **query.model_dump(exclude_none=True)})
    scan = await run_sync(scan_service.job, job_id)
    is_ranked = scan.job.kind != DISCOVERY
    view = query.to_parameters(to_scan_parameters(scan.job)) if is_ranked else None
    data = to_job_document(scan, is_demo=scan_service.world.is_demo, view=view)
    return conditional_response(request.scope, data, headers=waiting_headers(scan.job))


@extensions.get(
    "/api/v1/sametrack/jobs/{job_id}/preview",
    summary="Videos confirmed so far by a running scan",
    response_model=None,
    responses=JOB_PREVIEW_RESPONSES,
    dependencies=[Depends(no_query_parameters)],
)
async def sametrack_job_preview(
    request: Request, job_id: JobId, scan_service: ScanServiceDep
) -> Response:
    """Return what a running scan has confirmed so far, ranked. 扫描中已确认的作品."""
    record_parameters(request.scope, {"job_id": job_id})
    scan = await run_sync(scan_service.preview, job_id)
    data = to_job_preview(scan, is_demo=scan_service.world.is_demo)
    return conditional_response(request.scope, data)


@router.delete(
    f"{JOBS_PATH}/{{job_id}}",
    summary="Cancel a job",
    response_model=None,
    responses=CANCEL_RESPONSES,
)
async def cancel_music_collection_job(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, answers: JobResponsesDep
) -> Response:
    """Request cancellation of a job. A finished job does not change. 请求取消任务."""
    record_parameters(request.scope, {"job_id": job_id})
    before, scan = await run_sync(scan_service.cancel, job_id)
    answers.forget(job_id)
    data = to_job_document(scan, is_demo=scan_service.world.is_demo)
    data["notes"] += [ALREADY_FINISHED] if before in FINAL_STATUSES else []
    return success_response(request.scope, data)


@extensions.get(
    "/api/v1/sametrack/jobs",
    summary="List jobs",
    response_model=None,
    responses=JOB_LIST_RESPONSES,
)
async def sametrack_jobs(
    request: Request,
    query: Annotated[JobListQuery, Query()],
    scan_service: ScanServiceDep,
    sources: OptionalSourcesDep,
) -> Response:
    """Return the newest jobs without their results, and what their tracks are called. 任务列表."""
    record_parameters(request.scope, query.model_dump())
    scans = await run_sync(lambda: scan_service.jobs(limit=query.limit, status=query.status))
    jobs = [to_job_document(scan, is_demo=scan_service.world.is_demo) for scan in scans]
    music_ids = {job["music_id"] for job in jobs if job["music_id"] is not None}
    data: JobList = {
        "jobs": jobs,
        "tracks": await run_sync(track_names, sources.engine if sources else None, music_ids),
        "returned_count": len(jobs),
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, data)


@extensions.get(
    "/api/v1/sametrack/jobs/{job_id}/events",
    summary="Live progress of a job",
    response_class=StreamingResponse,
    responses=JOB_EVENTS_RESPONSES,
    dependencies=[Depends(no_query_parameters)],
)
async def sametrack_job_events(
    request: Request,
    job_id: JobId,
    scan_service: ScanServiceDep,
    answers: JobResponsesDep,
    feed: JobBroadcasterDep,
    known: LastEventId = None,
) -> Response:
    """Stream server-sent events with the job document at each change. 任务实时进度.

    Events are named `progress`, the last one `ended`; a comment every few seconds keeps the
    connection open. Answers 204 if `Last-Event-ID` is already the final state.
    """
    record_parameters(request.scope, {"job_id": job_id})
    shown = await run_sync(answers.of, scan_service, job_id)
    if shown.is_final and shown.data.tag == known:
        return Response(status_code=NO_CONTENT)
    watch = feed.follow(job_id, first=shown, look=partial(answers.of, scan_service))
    return JobEvents(feed, watch, known=known)
