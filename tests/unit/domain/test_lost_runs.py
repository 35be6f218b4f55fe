"""What is written of a job whose run was lost, and that a run without its job writes nothing."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from pipelines.scan.service.job_endings import end_lost_run
from tests.job_states import JOB as RUNNING
from warehouse.control import ControlStore
from warehouse.records.jobs import Job, JobStatus

IN_THIRTY_DAYS = datetime(2026, 12, 22, tzinfo=UTC)
JOB = replace(RUNNING, run_number=4)
LAST_ATTEMPT = replace(JOB, attempt=3)


class OneJob:
    """A control store with one job, which only the run that holds it can move."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def requeue(self, job_id: str, *, run_number: int, costs_attempt: bool) -> bool:
        if (job_id, run_number) != (self.job.job_id, self.job.run_number):
            return False
        self.job = replace(self.job, status="queued", attempt=self.job.attempt + costs_attempt)
        return True

    def finish(
        self,
        job_id: str,
        status: JobStatus,
        *,
        error: dict[str, object] | None = None,
        expires_at: datetime | None = None,
        run_number: int | None = None,
    ) -> bool:
        """Without a run number whoever asks is obeyed."""
        is_held = run_number is None or run_number == self.job.run_number
        if job_id != self.job.job_id or not is_held:
            return False
        self.job = replace(self.job, status=status, error=error, expires_at=expires_at)
        return True

    def lose(self, job: Job, *, has_result: bool = False) -> JobStatus | None:
        store, why = cast("ControlStore", self), "The worker is gone"
        return end_lost_run(store, job, why, has_result=has_result, expires_at=IN_THIRTY_DAYS)


def test_a_lost_run_costs_an_attempt_and_the_job_is_queued_again() -> None:
    store = OneJob(JOB)
    assert store.lose(JOB) == "queued"
    assert store.job == replace(JOB, status="queued", attempt=2)


def test_the_last_lost_run_fails_the_job_with_its_reason_which_is_kept_as_long_as_a_result() -> (
    None
):
    store = OneJob(LAST_ATTEMPT)
    assert store.lose(LAST_ATTEMPT) == "failed"
    assert (store.job.status, store.job.expires_at) == ("failed", IN_THIRTY_DAYS)
    assert store.job.error is not None
    assert store.job.error["detail"] == "The worker is gone. 3 attempts were made"


def test_a_job_whose_result_is_stored_is_completed_although_its_run_was_lost() -> None:
    store = OneJob(LAST_ATTEMPT)
    assert store.lose(LAST_ATTEMPT, has_result=True) == "completed"
    assert store.job == replace(LAST_ATTEMPT, status="completed", expires_at=IN_THIRTY_DAYS)


def test_a_lost_job_whose_cancellation_was_requested_is_cancelled() -> None:
    job = replace(JOB, cancel_requested=True)
    store = OneJob(job)
    assert store.lose(job) == "cancelled"
    assert store.job == replace(job, status="cancelled", expires_at=IN_THIRTY_DAYS)


@pytest.mark.parametrize("seen", [JOB, LAST_ATTEMPT], ids=["attempts left", "none left"])
def test_a_job_that_a_later_run_holds_is_left_to_it(seen: Job) -> None:
    taken_over = replace(seen, run_number=5)
    store = OneJob(taken_over)
    assert store.lose(seen) is None
    assert store.job == taken_over
