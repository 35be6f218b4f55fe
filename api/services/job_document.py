"""The job document that clients poll, around a view of the result; what lists of jobs add to it."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from api.responses.documents import to_document
from api.responses.errors import with_hint
from api.schemas.result import (
    ContinuedFrom,
    DiscoveryResponse,
    HotVideosResponse,
    JobDocument,
    JobPreview,
    JobProgress,
    ResultNote,
    TrackName,
)
from pipelines.documents.result_types import Discovery, HotVideos
from pipelines.documents.videos import to_time
from pipelines.parameters.scan import LOW_CANDIDATE_LIMIT, ScanParameters, scan_parameters
from pipelines.scan.rules.results import rank_selected, view_result
from pipelines.scan.service.service import RunningScan, ScanJob
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES, MAX_ATTEMPTS, Job

if TYPE_CHECKING:
    from warehouse.engine.duckdb_engine import Engine

JOBS_PATH = "/api/v1/vidplat/app/v3/music_collection_jobs"
POLL_AFTER_S = 1

ALREADY_FINISHED: ResultNote = {
    "type": "already_finished",
    "message": "The job had already finished; nothing was changed",
    "message_zh": "任务已结束，未做任何更改",
}


def poll_url(job_id: str) -> str:
    """Return the path to poll a job, `/api/v1/vidplat/app/v3/music_collection_jobs/<id>`."""
    # Without a host, because the Host header is never reflected.
    return f"{JOBS_PATH}/{job_id}"


def waiting_headers(job: Job) -> dict[str, str]:
    """Return the header that says when to poll again; no header for a finished job."""
    return {} if job.status in FINAL_STATUSES else {"Retry-After": str(POLL_AFTER_S)}


def to_job_document(
    scan: ScanJob, *, is_demo: bool, view: ScanParameters | None = None
) -> JobDocument:
    """Return the job with its result, viewed with `view` or with the job's own parameters."""
    job, progress = scan.job, scan.job.progress
    result: HotVideos | Discovery | None
    if scan.result is None or "kind" in scan.result:
        result = scan.result  # a discovery has no views
    else:
        result = view_result(scan.result, view or to_scan_parameters(job))
    continued_from: ContinuedFrom | None = None
    if progress.continued_from is not None:
        continued_from = {"stage": progress.continued_from, "round": progress.continued_round}
    return to_document(
        JobDocument,
        job,
        poll_url=poll_url(job.job_id),
        scan_job_id=scan_job_id(scan),
        progress=to_document(
            JobProgress,
            progress,
            attempt=job.attempt,
            attempt_count=MAX_ATTEMPTS,
            waiting_for=None if job.status in FINAL_STATUSES else progress.waiting_for,
            continued_from=continued_from,
            # Jobs of older releases have `+00:00`.
            updated_at=progress.updated_at and progress.updated_at.replace("+00:00", "Z"),
        ),
        result=result,
        error=None if job.error is None else with_hint(job.error),
        notes=[] if job.kind == DISCOVERY else notes(view or to_scan_parameters(job)),
        is_demo_data=is_demo,
    )


def scan_job_id(scan: ScanJob) -> str:
    """Return the job that compared the pairs of a result.

    It is another one if a stored result served this job.
    """
    job_id = scan.job.job_id
    if scan.result is None or "kind" in scan.result:
        return job_id
    return scan.result.get("scan_job_id", job_id)


def to_discovery(scan: ScanJob) -> DiscoveryResponse:
    """Return the `data` of endpoint 9: the result with its job."""
    result = scan.result
    assert result is not None, "only a completed job has a result"
    assert "kind" in result, "the job is a discovery"
    job_id = scan.job.job_id
    return {**result, "job_id": job_id, "poll_url": poll_url(job_id)}


def ranking_of(scan: ScanJob, view: ScanParameters) -> HotVideos | None:
    """Return the ranking of a scan in the requested view, None until it is completed."""
    if scan.result is None:
        return None
    assert "kind" not in scan.result, "the job is a scan"
    return view_result(scan.result, view)


def to_hot_videos(scan: ScanJob, *, view: ScanParameters) -> HotVideosResponse:
    """Return the `data` of endpoint 5: the result with its job."""
    result = ranking_of(scan, view)
    assert result is not None, "only a completed job has a result"
    job_id = scan.job.job_id
    return {**result, "job_id": job_id, "poll_url": poll_url(job_id), "notes": notes(view)}


def to_scan_parameters(job: Job) -> ScanParameters:
    """Return the effective parameters of a job."""
    return scan_parameters(job.parameters)


def to_job_preview(scan: RunningScan, *, is_demo: bool) -> JobPreview:
    """Return what a running scan has confirmed so far, ranked with the parameters of its job."""
    job, preview = scan.job, scan.preview
    # Before the first round of a scan there is no preview.
    rows = rank_selected(preview["ranked"], to_scan_parameters(job)) if preview else []
    return {
        "job_id": job.job_id,
        "status": job.status,
        "music": preview["music"] if preview else None,
        "aweme_list": rows,
        "returned_count": len(rows),
        "confirmed_count": preview["confirmed_count"] if preview else 0,
        "updated_at": to_time(scan.updated_at),
        "is_demo_data": is_demo,
    }


def track_names(engine: "Engine | None", music_ids: Collection[str]) -> dict[str, TrackName]:
    """Return title and artist by music id; tracks that were never observed are left out."""
    from warehouse.queries.results import read_track_names  # noqa: PLC0415 -- loads DuckDB and Delta, 0.3 s

    if engine is None or not music_ids:
        return {}
    rows = read_track_names(engine, sorted(music_ids))
    return {row["music_id"]: {"title": row["title"], "author": row["author"]} for row in rows}


def notes(parameters: ScanParameters) -> list[ResultNote]:
    """Return remarks on the requested parameters."""
    if parameters.candidate_limit >= LOW_CANDIDATE_LIMIT:
        return []
    return [
        {
            "type": "low_candidate_limit",
            "message": f"candidate_limit below {LOW_CANDIDATE_LIMIT} finds few related videos",
            "message_zh": f"candidate_limit 低于 {LOW_CANDIDATE_LIMIT}，找到的关联作品会较少",
        }
    ]
