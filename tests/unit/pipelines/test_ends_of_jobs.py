"""How the execution of a job ends: what its row says, and whether it goes back into the queue."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Literal, cast

import pytest

from pipelines.orchestration.worker.job_run import ScanEnd, ScanOutcome, end_job, execute_job
from pipelines.scan.runtime import Runtime
from warehouse.control import ControlStore, NewJob, open_control
from warehouse.records.errors import (
    CapacityExhaustedError,
    ForbiddenError,
    RunCancelledError,
    SametrackError,
    WarehouseUnavailableError,
)
from warehouse.records.jobs import KEYWORD_SEARCH, MAX_ATTEMPTS, SCAN, Job

AWAY = WarehouseUnavailableError("the control store is away", retry_after=1)


class CountingLake:
    """Counts how often it was compacted."""

    def __init__(self) -> None:
        self.compacted = 0

    def compact_crowded(self) -> None:
        self.compacted += 1


class Stores:
    """The part of a runtime that the end of a job needs."""

    world = "sandbox"
    music_provider = "public-graph"
    settings = SimpleNamespace(job_retention_days=30)

    def __init__(self, control: ControlStore) -> None:
        self.control = control
        self.lake = CountingLake()

    def running(self, text: str = "song", kind: str = KEYWORD_SEARCH) -> Job:
        music_id = text if kind == SCAN else None
        new = NewJob(
            kind=kind, input=text, target=text, music_id=music_id, parameters={},
            fingerprint=f"{kind} {text} {len(self.control.jobs(limit=99))}", scan_key=None,
            origin="cli", priority=100,
        )  # fmt: skip
        self.control.create_or_join(new)
        job = self.control.claim("worker")
        assert job is not None
        return job

    def execute(self, job: Job, outcome: ScanOutcome | SametrackError | None) -> ScanEnd:
        def scan(_job: Job, _music_id: str) -> ScanOutcome | None:
            if isinstance(outcome, SametrackError):
                raise outcome
            return outcome

        return execute_job(self.runtime, job.job_id, scan, run_number=job.run_number)

    def now(self, job: Job) -> Job:
        found = self.control.job(job.job_id)
        assert found is not None
        return found

    @property
    def runtime(self) -> Runtime:
        return cast("Runtime", self)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox")) as control:
        yield Stores(control)


def never(_job: Job, _music_id: str) -> ScanOutcome:
    raise AssertionError("no scan is needed")


def test_a_job_that_is_gone_has_failed(stores: Stores) -> None:
    assert execute_job(stores.runtime, "gone", never, run_number=1) == ScanEnd("failed")


def test_a_run_that_another_one_has_replaced_does_nothing(stores: Stores) -> None:
    job = stores.running()
    found = execute_job(stores.runtime, job.job_id, never, run_number=job.run_number + 1)
    assert found == ScanEnd("lost")
    assert stores.now(job).status == "running"


def test_a_job_waits_for_the_one_that_scans_the_same(stores: Stores) -> None:
    first, second = stores.running("12345", SCAN), stores.running("12345", SCAN)
    assert stores.execute(first, None) == ScanEnd("handed_over")
    found = execute_job(stores.runtime, second.job_id, never, run_number=second.run_number)
    assert found == ScanEnd("waiting", first.job_id)
    assert {stores.now(job).status for job in (first, second)} == {"running"}


def test_a_cancelled_scan_ends_as_such(stores: Stores) -> None:
    job = stores.running()
    assert stores.execute(job, RunCancelledError(job.job_id)) == ScanEnd("cancelled")
    assert stores.now(job).status == "cancelled"


def test_an_error_of_the_scan_is_that_of_its_job(stores: Stores) -> None:
    job = stores.running()
    error = ForbiddenError("no", surface="search")
    assert stores.execute(job, error) == ScanEnd("failed")
    assert stores.now(job).error == error.to_document()


def test_a_scan_that_failed_without_an_error_points_to_its_run(stores: Stores) -> None:
    job = stores.running()
    assert stores.execute(job, ScanOutcome("failed")) == ScanEnd("failed")
    error = stores.now(job).error
    assert error is not None
    assert "before its result was complete" in str(error["detail"])


def test_a_completed_job_gives_back_its_leases_and_the_lake_is_compacted(stores: Stores) -> None:
    job = stores.running()
    stores.control.acquire_lease("scan:twin", job.job_id, 60)
    assert stores.execute(job, ScanOutcome("completed")) == ScanEnd("completed")
    assert stores.control.lease_holder("scan:twin") is None
    assert stores.lake.compacted == 1
    assert stores.now(job).expires_at is not None


@pytest.mark.parametrize(
    ("error", "waiting_for"),
    [
        pytest.param(CapacityExhaustedError("the disk is full"), "disk", id="full"),
        pytest.param(AWAY, "worker", id="away"),
    ],
)
def test_a_scan_whose_store_is_full_or_away_goes_on_later(
    stores: Stores, error: SametrackError, waiting_for: str
) -> None:
    job = stores.running()
    assert stores.execute(job, error) == ScanEnd("queued")
    found = stores.now(job)
    assert (found.status, found.attempt) == ("queued", job.attempt + 1)
    assert found.progress.waiting_for == waiting_for


def test_a_store_that_stays_away_fails_the_job_after_the_last_attempt(stores: Stores) -> None:
    job = stores.running()
    for _ in range(1, MAX_ATTEMPTS):
        assert stores.execute(job, AWAY) == ScanEnd("queued")
        claimed = stores.control.claim("worker")
        assert claimed is not None
        job = claimed
    assert stores.execute(job, AWAY) == ScanEnd("failed")
    assert stores.now(job).error == AWAY.to_document()


def test_a_run_that_broke_between_two_stages_costs_an_attempt(stores: Stores) -> None:
    job = stores.running()
    assert end_job(stores.runtime, job, ScanOutcome("lost")) == "queued"
    assert stores.now(job).attempt == job.attempt + 1
    assert end_job(stores.runtime, job, ScanOutcome("lost")) == "lost"  # it has no run any more


def test_a_scan_whose_process_was_asked_to_end_goes_on_without_losing_an_attempt(
    stores: Stores,
) -> None:
    job = stores.running()
    assert end_job(stores.runtime, job, ScanOutcome("queued")) == "queued"
    assert (stores.now(job).status, stores.now(job).attempt) == ("queued", job.attempt)


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(ScanOutcome("queued"), id="asked to end"),
        pytest.param(ScanOutcome("failed", AWAY), id="store away"),
    ],
)
def test_a_job_that_cannot_go_back_into_the_queue_is_cancelled_if_that_was_asked_for(
    stores: Stores, outcome: ScanOutcome
) -> None:
    job = stores.running()
    stores.control.request_cancel(job.job_id)
    assert end_job(stores.runtime, job, outcome) == "cancelled"
    assert (stores.now(job).status, stores.now(job).error) == ("cancelled", None)


@pytest.mark.parametrize("status", ["completed", "queued"])
def test_a_run_that_has_lost_its_job_changes_nothing(
    stores: Stores, status: Literal["completed", "queued"]
) -> None:
    job = stores.running()
    stores.control.requeue(job.job_id, run_number=job.run_number, costs_attempt=True)
    stores.control.claim("another worker")
    assert end_job(stores.runtime, job, ScanOutcome(status)) == "lost"
    assert stores.now(job).status == "running"
    assert stores.lake.compacted == 0
