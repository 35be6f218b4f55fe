"""The job document that clients poll, around a view of the result."""

from typing import Any

from api.responses.errors import with_hint
from pipelines.documents.videos import to_time
from pipelines.parameters.scan import LOW_CANDIDATE_LIMIT, ScanParameters
from pipelines.scan.rules.results import view_result
from pipelines.scan.service.service import ScanJob
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES, Job
from warehouse.records.values import Document

JOBS_PATH = "/api/v1/vidplat/app/v3/music_collection_jobs"
POLL_AFTER_S = 1

ALREADY_FINISHED: Document = {
    "type": "already_finished",
    "message": "The job had already finished; nothing was changed",
    "message_zh": "任务已结束, 未做任何更改",
}


def poll_url(job_id: str) -> str:
    """Return the path to poll a job. It has no host, because the Host header is never reflected."""
    return f"{JOBS_PATH}/{job_id}"


def waiting_headers(job: Job) -> dict[str, str]:
    """Return when to poll again; empty for a finished job."""
    return {} if job.status in FINAL_STATUSES else {"Retry-After": str(POLL_AFTER_S)}


def to_job_document(
    scan: ScanJob, *, is_demo: bool, view: ScanParameters | None = None
) -> dict[str, Any]:
    """Return the job with its result, viewed with `view` or with the job's own parameters."""
    job = scan.job
    return {
        "job_id": job.job_id,
        "poll_url": poll_url(job.job_id),
        "status": job.status,
        "input": job.input,
        "music_id": job.music_id,
        "parameters": job.parameters,
        "progress": job.progress.to_document(),
        "result": None if scan.result is None else _view(scan, view),
        "error": None if job.error is None else with_hint(job.error),
        "cancel_requested": job.cancel_requested,
        "origin": job.origin,
        "created_at": to_time(job.created_at),
        "started_at": to_time(job.started_at),
        "finished_at": to_time(job.finished_at),
        "expires_at": to_time(job.expires_at),
        "notes": [] if job.kind == DISCOVERY else notes(to_scan_parameters(job)),
        "is_demo_data": is_demo,
    }


def _view(scan: ScanJob, view: ScanParameters | None) -> Document:
    """View a result: a discovery as a whole, a ranking by the requested parameters."""
    assert scan.result is not None, "only a completed job has a result"
    if scan.job.kind == DISCOVERY:
        return scan.result
    return view_result(scan.result, view or to_scan_parameters(scan.job))


def to_discovery(scan: ScanJob) -> Document:
    """Return the `data` of endpoint 9: the result with its job."""
    assert scan.result is not None, "only a completed job has a result"
    job_id = scan.job.job_id
    return {**scan.result, "job_id": job_id, "poll_url": poll_url(job_id)}


def to_hot_videos(scan: ScanJob, *, view: ScanParameters) -> Document:
    """Return the `data` of endpoint 5: the result with its job."""
    assert scan.result is not None
    result = view_result(scan.result, view)
    job_id = scan.job.job_id
    return {**result, "job_id": job_id, "poll_url": poll_url(job_id), "notes": notes(view)}


def to_scan_parameters(job: Job) -> ScanParameters:
    """Return the effective parameters of a job."""
    values: dict[str, Any] = dict(job.parameters)
    values["search_keywords"] = tuple(values.get("search_keywords", ()))
    return ScanParameters(**values)


def notes(parameters: ScanParameters) -> list[Document]:
    """Return remarks on the requested parameters."""
    if parameters.candidate_limit >= LOW_CANDIDATE_LIMIT:
        return []
    return [
        {
            "type": "low_candidate_limit",
            "message": f"candidate_limit below {LOW_CANDIDATE_LIMIT} finds few related videos",
            "message_zh": f"candidate_limit 低于 {LOW_CANDIDATE_LIMIT}, 找到的关联作品会较少",
        }
    ]
