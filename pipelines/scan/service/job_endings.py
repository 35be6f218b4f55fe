"""End a job whose worker cannot do so: killed, stopped, or without its process."""

from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import Job, JobStatus

ASK_AGAIN = "Retry: the new scan reuses the observations stored so far"
WORKER_GONE = "The worker that ran this scan stopped responding"


def lost_ending(
    job: Job, why: str, *, has_result: bool = False
) -> tuple[JobStatus, dict[str, object] | None]:
    """Return status and error document of a job whose worker is gone.

    Completed if its result is stored, cancelled if cancellation was requested, else failed.
    """
    if has_result:
        return "completed", None
    if job.cancel_requested:
        return "cancelled", None
    return "failed", WorkerUnavailableError(why, hint=ASK_AGAIN).to_document()
