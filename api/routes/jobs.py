"""Endpoints 7 and 8: collection jobs. Also the list of jobs and their event stream."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from api.params.scan import JobBody, JobListQuery, RankingQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import ACCEPTED, NO_CONTENT, OK
from api.routes import dependencies
from api.routes.music import STARTED
from api.schemas import responses
from api.schemas.result import JobDocument, JobList, JobPreview, JobRanking
from api.server.json_body import JsonRoute
from api.services import job_document
from api.services.job_feed import JobEvents
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES

router = APIRouter(
    tags=["Jobs"], route_class=JsonRoute, dependencies=[Depends(dependencies.check_query)]
)
extensions = APIRouter(tags=["Sametrack"], dependencies=[Depends(dependencies.check_query)])

_OWN_PATH = "/api/v1/sametrack/jobs"
_WAITING = ("Retry-After",)
LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", description="id of the last event received")
]
JobId = Annotated[str, Path(description="id of a collection job")]


@router.post(
    job_document.JOBS_PATH,
    summary="Start a scan",
    responses={
        OK: responses.success(JobDocument, "Completed job with a valid stored result", "Location"),
        ACCEPTED: STARTED,
        **responses.error_responses(
            *responses.BODY_ERRORS, "invalid_music_input", *responses.PLATFORM_ERRORS
        ),
    },
)
async def music_collection_jobs(
    request: Request,
    body: Annotated[JobBody, Body()],
    scan_service: dependencies.ScanServiceDep,
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
    data = job_document.to_job_document(scan, is_demo=scan_service.world.is_demo, view=parameters)
    headers = {
        "Location": job_document.poll_url(scan.job.job_id),
        **job_document.waiting_headers(scan.job),
    }
    status = OK if scan.result is not None else ACCEPTED
    return success_response(request.scope, data, status=status, headers=headers)


@router.get(
    f"{job_document.JOBS_PATH}/{{job_id}}",
    summary="Progress and result of a job",
    responses=responses.read_responses(
        JobDocument, "Current state of the job", *responses.JOB_ERRORS, headers=_WAITING
    ),
)
async def music_collection_job(
    request: Request,
    job_id: JobId,
    scan_service: dependencies.ScanServiceDep,
    answers: dependencies.JobResponsesDep,
) -> Response:
    """Return the progress of a job and, once completed, its result. 查询任务进度与结果."""
    record_parameters(request.scope, {"job_id": job_id})
    job_response = await answers.now(scan_service, job_id)
    return conditional_response(
        request.scope, job_response.data, headers=job_document.waiting_headers(job_response.job)
    )


@extensions.get(
    f"{_OWN_PATH}/{{job_id}}/ranking",
    summary="Result of a job in another view",
    responses=responses.read_responses(
        JobRanking,
        "The job with its result in the requested view",
        "invalid_parameter",
        *responses.JOB_ERRORS,
        headers=_WAITING,
    ),
)
async def sametrack_job_ranking(
    request: Request,
    job_id: JobId,
    query: Annotated[RankingQuery, Query()],
    scan_service: dependencies.ScanServiceDep,
) -> Response:
    """Return a job with its ranking in another view. Starts no scan. 任务结果的其他视图."""
    record_parameters(request.scope, {"job_id": job_id, **query.model_dump(exclude_none=True)})
    scan = await run_sync(scan_service.job, job_id)
    is_ranked = scan.job.kind != DISCOVERY
    view = query.to_parameters(job_document.to_scan_parameters(scan.job)) if is_ranked else None
    data = job_document.to_job_ranking(
        scan,
        is_demo=scan_service.world.is_demo,
        view=view,
        include_variants=query.include_variants,
    )
    return conditional_response(request.scope, data, headers=job_document.waiting_headers(scan.job))


@extensions.get(
    f"{_OWN_PATH}/{{job_id}}/preview",
    summary="Videos confirmed so far by a running scan",
    responses=responses.read_responses(
        JobPreview, "Videos confirmed so far", *responses.JOB_ERRORS
    ),
)
def sametrack_job_preview(
    request: Request, job_id: JobId, scan_service: dependencies.ScanServiceDep
) -> Response:
    """Return what a running scan has confirmed so far, ranked. 扫描中已确认的作品."""
    record_parameters(request.scope, {"job_id": job_id})
    scan = scan_service.preview(job_id)
    preview = job_document.to_job_preview(scan, is_demo=scan_service.world.is_demo)
    return conditional_response(request.scope, preview)


@router.delete(
    f"{job_document.JOBS_PATH}/{{job_id}}",
    summary="Cancel a job",
    responses=responses.action_responses(
        JobDocument, "Job after the cancellation request", *responses.JOB_ERRORS
    ),
)
async def cancel_music_collection_job(
    request: Request,
    job_id: JobId,
    scan_service: dependencies.ScanServiceDep,
    answers: dependencies.JobResponsesDep,
) -> Response:
    """Request cancellation of a job. A finished job does not change. 请求取消任务."""
    record_parameters(request.scope, {"job_id": job_id})
    before, scan = await run_sync(scan_service.cancel, job_id)
    answers.forget(job_id)
    data = job_document.to_job_document(scan, is_demo=scan_service.world.is_demo)
    data["notes"] += [job_document.ALREADY_FINISHED] if before in FINAL_STATUSES else []
    return success_response(request.scope, data)


@extensions.get(
    _OWN_PATH,
    summary="List jobs",
    responses=responses.read_responses(
        JobList, "Newest jobs", "invalid_parameter", *responses.READ_ERRORS
    ),
)
def sametrack_jobs(
    request: Request,
    query: Annotated[JobListQuery, Query()],
    scan_service: dependencies.ScanServiceDep,
    services: dependencies.ServicesDep,
) -> Response:
    """Return the newest jobs without their results, and what their tracks are called. 任务列表."""
    record_parameters(request.scope, query.model_dump())
    scans = scan_service.jobs(limit=query.limit, status=query.status)
    jobs = [
        job_document.to_job_document(scan, is_demo=scan_service.world.is_demo) for scan in scans
    ]
    music_ids = {job["music_id"] for job in jobs if job["music_id"] is not None}
    sources = services.sources
    job_list: JobList = {
        "jobs": jobs,
        "tracks": job_document.track_names(sources.engine if sources else None, music_ids),
        "returned_count": len(jobs),
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, job_list)


@extensions.get(
    f"{_OWN_PATH}/{{job_id}}/events",
    summary="Live progress of a job",
    responses={
        OK: responses.file("text/event-stream", "Events with the `data` of the polling operation"),
        NO_CONTENT: {
            "description": "The client already has the final state",
            "headers": responses.header_specs(),
        },
        **responses.error_responses(*responses.JOB_ERRORS, "capacity_exhausted"),
    },
    response_class=StreamingResponse,
)
async def sametrack_job_events(
    request: Request,
    job_id: JobId,
    scan_service: dependencies.ScanServiceDep,
    answers: dependencies.JobResponsesDep,
    feed: dependencies.JobBroadcasterDep,
    known: LastEventId = None,
) -> Response:
    """Stream server-sent events with the job document at each change. 任务实时进度.

    Events are named `progress`, the last one `ended`; a comment every few seconds keeps the
    connection open. Answers 204 if `Last-Event-ID` is already the final state.
    """
    record_parameters(request.scope, {"job_id": job_id})
    first = await run_sync(answers.of, scan_service, job_id)
    if first.is_final and first.data.tag == known:
        return Response(status_code=NO_CONTENT)
    read_job = partial(answers.of, scan_service)
    subscription = feed.subscribe(job_id, first=first, read_job=read_job)
    return JobEvents(feed, subscription, last_tag=known)
