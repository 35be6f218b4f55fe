"""What is written of a job whose run was lost, and that a run without its job writes nothing."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.scan.service.service import end_lost_run
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.jobs import Job, JobStatus

IN_THIRTY_DAYS = datetime(2026, 12, 22, tzinfo=UTC)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlStore]:
    with closing(
        open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="sandbox")
    ) as store:
        yield store


def running_job(control: ControlStore, *, attempt: int = 1) -> Job:
    new = NewJob(
        kind="scan", input="1", target="1", music_id="1", parameters={}, fingerprint="1",
        scan_key="1", origin="api", priority=100,
    )  # fmt: skip
    jobs.create_or_join(control, new)
    for _ in range(attempt - 1):
        hand_back(control, claimed(control), costs_attempt=True)
    return claimed(control)


def claimed(control: ControlStore) -> Job:
    job = jobs.claim(control, "worker")
    assert job is not None
    return job


def hand_back(control: ControlStore, job: Job, *, costs_attempt: bool) -> None:
    assert jobs.requeue(control, job.job_id, run_number=job.run_number, costs_attempt=costs_attempt)


def now(control: ControlStore, job: Job) -> Job:
    stored = jobs.get(control, job.job_id)
    assert stored is not None
    return stored


def lose(control: ControlStore, job: Job, *, has_result: bool = False) -> JobStatus | None:
    return end_lost_run(
        control, job, "The worker is gone", has_result=has_result, expires_at=IN_THIRTY_DAYS
    )


def test_a_lost_run_costs_an_attempt_and_the_job_is_queued_again(control: ControlStore) -> None:
    job = running_job(control)
    assert lose(control, job) == "queued"
    assert (now(control, job).status, now(control, job).attempt) == ("queued", 2)


def test_the_last_lost_run_fails_the_job_with_its_reason_which_is_kept_as_long_as_a_result(
    control: ControlStore,
) -> None:
    job = running_job(control, attempt=3)
    assert lose(control, job) == "failed"
    failed = now(control, job)
    assert (failed.status, failed.expires_at) == ("failed", IN_THIRTY_DAYS)
    assert failed.error is not None
    assert failed.error["detail"] == "The worker is gone. 3 attempts were made"


def test_a_job_whose_result_is_stored_is_completed_although_its_run_was_lost(
    control: ControlStore,
) -> None:
    job = running_job(control, attempt=3)
    assert lose(control, job, has_result=True) == "completed"
    ended = now(control, job)
    assert (ended.status, ended.error, ended.expires_at) == ("completed", None, IN_THIRTY_DAYS)


def test_a_lost_job_whose_cancellation_was_requested_is_cancelled(control: ControlStore) -> None:
    job = running_job(control)
    asked = jobs.request_cancel(control, job.job_id)
    assert asked is not None
    assert lose(control, asked) == "cancelled"
    ended = now(control, job)
    assert (ended.status, ended.error, ended.expires_at) == ("cancelled", None, IN_THIRTY_DAYS)


@pytest.mark.parametrize("attempt", [1, 3], ids=["attempts left", "none left"])
def test_a_job_that_a_later_run_holds_is_left_to_it(attempt: int, control: ControlStore) -> None:
    lost = running_job(control, attempt=attempt)
    hand_back(control, lost, costs_attempt=False)
    held = claimed(control)
    assert lose(control, lost) is None
    assert now(control, lost) == held
