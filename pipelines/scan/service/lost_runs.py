"""Decide and write what becomes of a job whose run was lost: killed, stopped, without a process."""

from datetime import datetime

from warehouse.control import ControlStore, jobs
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import MAX_ATTEMPTS, Job, JobStatus

ASK_AGAIN = "Retry: the new scan reuses the observations stored so far"
WORKER_GONE = "The worker that ran this scan stopped responding"


def outcome_of_lost_run(
    job: Job, why: str, *, has_result: bool = False
) -> tuple[JobStatus, dict[str, object] | None]:
    """Return status and error document of a job whose run was lost.

    Completed if its result is stored, cancelled if cancellation was requested, queued while there
    are attempts left, else failed with the reason of the last loss.
    """
    if has_result:
        return "completed", None
    if job.cancel_requested:
        return "cancelled", None
    if job.attempt < MAX_ATTEMPTS:
        return "queued", None
    detail = f"{why}. {MAX_ATTEMPTS} attempts were made"
    return "failed", WorkerUnavailableError(detail, hint=ASK_AGAIN).to_document()


def end_lost_run(
    control: ControlStore, job: Job, why: str, *, has_result: bool, expires_at: datetime
) -> JobStatus | None:
    """Write what becomes of a job whose run was lost, and return its new status.

    Returns None, without effect, if the run was not lost: another run has the job, or it has ended.
    """
    status, error = outcome_of_lost_run(job, why, has_result=has_result)
    if status == "queued":
        is_written = jobs.requeue(
            control, job.job_id, run_number=job.run_number, costs_attempt=True
        )
    else:
        is_written = jobs.finish(
            control,
            job.job_id,
            status,
            error=error,
            expires_at=expires_at,
            run_number=job.run_number,
        )
    return status if is_written else None
