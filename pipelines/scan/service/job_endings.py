"""How a job ends when its worker cannot end it: killed, stopped, or without its process."""

from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import Job, JobStatus

ASK_AGAIN = "Ask again: the new scan starts from the observations already kept"
WORKER_GONE = "The worker that ran this scan is gone"


def lost_ending(
    job: Job, why: str, *, has_result: bool = False
) -> tuple[JobStatus, dict[str, object] | None]:
    """Status and error document: completed where its result is there and only its row does not say
    so yet, cancelled where that was asked for, else failed by name.
    """
    if has_result:
        return "completed", None
    if job.cancel_requested:
        return "cancelled", None
    return "failed", WorkerUnavailableError(why, hint=ASK_AGAIN).to_document()
