"""How the execution of a job ends: what its row says, and whether it goes back into the queue."""

import errno
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from deltalake.exceptions import DeltaError
from sqlalchemy.exc import OperationalError

from pipelines.orchestration.failures import awaited_resource
from pipelines.orchestration.runs import run_session
from pipelines.orchestration.runs.run_session import ScanOutcome, end_job, end_job_patiently
from pipelines.scan.runtime import Runtime
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, jobs, leases, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.errors import (
    BudgetSpentError,
    CapacityExhaustedError,
    ForbiddenError,
    RateLimitedError,
    SametrackError,
    WarehouseUnavailableError,
)
from warehouse.records.jobs import KEYWORD_SEARCH, LONGEST_WAIT_S, MAX_ATTEMPTS, SCAN, Job

AWAY = WarehouseUnavailableError("the control store is away", retry_after=1)
BUDGET = BudgetSpentError("spent", surface="music_info", retry_after=40_000)
PAUSED = RateLimitedError("paused", surface="music_info", reason="paused", retry_after=120)


def caused_by(cause: Exception) -> SametrackError:
    """An error of the lake with its cause."""
    error = WarehouseUnavailableError("appending to raw.captures failed")
    error.__cause__ = cause
    return error


class CountingLake:
    """Counts how often it was compacted."""

    def __init__(self) -> None:
        self.compacted = 0

    def compact_all(self) -> None:
        self.compacted += 1


class Stores:
    """The part of a runtime that the end of a job needs."""

    world = "sandbox"
    music_provider = "public-graph"
    settings = SimpleNamespace(job_retention_days=30)

    def __init__(self, control: ControlStore, root: Path, clock: FakeClock) -> None:
        self.control = control
        self.home = SimpleNamespace(root=root)
        self.clock = clock
        self.lake = CountingLake()

    def running(self, text: str = "song", kind: str = KEYWORD_SEARCH) -> Job:
        music_id = text if kind == SCAN else None
        new = NewJob(
            kind=kind, input=text, target=text, music_id=music_id, parameters={},
            fingerprint=f"{kind} {text} {len(jobs.newest(self.control, limit=99))}", scan_key=None,
            origin="cli", priority=100,
        )  # fmt: skip
        jobs.create_or_join(self.control, new)
        job = jobs.claim(self.control, "worker")
        assert job is not None
        return job

    def end(self, job: Job, outcome: ScanOutcome | SametrackError) -> str:
        """End a job as its run does, by an outcome or by the error that ended its scan."""
        if isinstance(outcome, SametrackError):
            outcome = ScanOutcome("failed", outcome, awaited_resource(outcome))
        return end_job(self.runtime, job, outcome)

    def now(self, job: Job) -> Job:
        found = jobs.get(self.control, job.job_id)
        assert found is not None
        return found

    @property
    def runtime(self) -> Runtime:
        return cast("Runtime", self)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    url, clock = f"sqlite:///{tmp_path / 'control.sqlite'}", FakeClock()
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as control:
        yield Stores(control, tmp_path, clock)


def test_a_cancelled_scan_ends_as_such(stores: Stores) -> None:
    job = stores.running()
    assert stores.end(job, ScanOutcome("cancelled")) == "cancelled"
    assert stores.now(job).status == "cancelled"


def test_an_error_of_the_scan_is_that_of_its_job(stores: Stores) -> None:
    job = stores.running()
    error = ForbiddenError("no", surface="search")
    assert stores.end(job, error) == "failed"
    assert stores.now(job).error == error.to_document()


def test_a_scan_that_failed_without_an_error_points_to_its_run(stores: Stores) -> None:
    job = stores.running()
    assert stores.end(job, ScanOutcome("failed")) == "failed"
    error = stores.now(job).error
    assert error is not None
    assert "before its result was complete" in str(error["detail"])


def test_a_completed_job_gives_back_its_leases_and_the_lake_is_compacted(stores: Stores) -> None:
    job = stores.running()
    leases.acquire(stores.control, "scan:twin", job.job_id, 60)
    assert stores.end(job, ScanOutcome("completed")) == "completed"
    assert leases.holder(stores.control, "scan:twin") is None
    assert stores.lake.compacted == 1
    assert stores.now(job).expires_at is not None


@pytest.mark.parametrize(
    ("error", "waiting_for"),
    [
        pytest.param(CapacityExhaustedError("only 3 MB are free"), "disk", id="full"),
        pytest.param(caused_by(OSError(errno.ENOSPC, "full")), "disk", id="full while writing"),
        pytest.param(caused_by(DeltaError("No space left on device")), "disk", id="full lake"),
        pytest.param(caused_by(OSError(errno.EROFS, "Read-only")), "disk", id="read-only"),
        pytest.param(AWAY, "worker", id="away"),
        pytest.param(BUDGET, "budget", id="budget"),
        pytest.param(PAUSED, "host_pause", id="pause"),
    ],
)
def test_a_job_that_waits_for_a_resource_keeps_its_attempts_however_often(
    stores: Stores, error: SametrackError, waiting_for: str
) -> None:
    job = stores.running()
    for _ in range(3 * MAX_ATTEMPTS):
        assert stores.end(job, error) == "queued"
        found = stores.now(job)
        assert (found.status, found.attempt) == ("queued", 1)
        assert found.progress.waiting_for == waiting_for
        assert jobs.claim(stores.control, "worker") is None  # not at once, or it would spin
        stores.clock.advance(LONGEST_WAIT_S)
        claimed = jobs.claim(stores.control, "worker")
        assert claimed is not None
        job = claimed
    assert stores.end(job, ScanOutcome("completed")) == "completed"


def test_a_paused_host_is_asked_again_when_it_said(stores: Stores) -> None:
    job = stores.running()
    stores.end(job, PAUSED)
    stores.clock.advance(119)
    assert jobs.claim(stores.control, "worker") is None
    stores.clock.advance(1.1)
    assert jobs.claim(stores.control, "worker") is not None


def test_another_job_does_not_wait_for_the_resource_of_the_first(stores: Stores) -> None:
    job = stores.running()
    stores.end(job, PAUSED)
    assert stores.running("another").job_id != job.job_id


def test_a_job_that_waits_can_be_cancelled(stores: Stores) -> None:
    job = stores.running()
    stores.end(job, PAUSED)
    cancelled = jobs.request_cancel(stores.control, job.job_id)
    assert cancelled is not None
    assert cancelled.status == "cancelled"


def test_an_error_without_its_own_class_is_judged_by_its_cause() -> None:
    full = OperationalError("insert", {}, Exception("database or disk is full"))
    locked = OperationalError("insert", {}, Exception("database is locked"))
    found = [awaited_resource(error) for error in (full, locked, ValueError("no"), None)]
    assert [wait and wait.resource for wait in found] == ["disk", "worker", None, None]


def test_a_run_writes_its_end_once_the_store_is_back(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, pauses = stores.running(), list[float]()
    finish, away = jobs.finish, OperationalError("update", {}, Exception("gone"))

    def finish_later(*given: Any, **more: Any) -> bool:
        if len(pauses) < 3:
            raise away
        return finish(*given, **more)

    monkeypatch.setattr(jobs, "finish", finish_later)
    ended = end_job_patiently(stores.runtime, job, ScanOutcome("completed"), sleep=pauses.append)
    assert (ended, len(pauses), stores.now(job).attempt) == ("completed", 3, 1)


def test_a_run_that_broke_on_a_full_disk_waits_for_space(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_session, "free_bytes", lambda _folder: 0)
    job = stores.running()
    assert end_job(stores.runtime, job, ScanOutcome("lost")) == "queued"
    assert (stores.now(job).attempt, stores.now(job).progress.waiting_for) == (1, "disk")


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
        pytest.param(ScanOutcome("failed", AWAY, awaited_resource(AWAY)), id="store away"),
    ],
)
def test_a_job_that_cannot_go_back_into_the_queue_is_cancelled_if_that_was_asked_for(
    stores: Stores, outcome: ScanOutcome
) -> None:
    job = stores.running()
    jobs.request_cancel(stores.control, job.job_id)
    assert end_job(stores.runtime, job, outcome) == "cancelled"
    assert (stores.now(job).status, stores.now(job).error) == ("cancelled", None)


@pytest.mark.parametrize("status", ["completed", "queued"])
def test_a_run_that_has_lost_its_job_changes_nothing(
    stores: Stores, status: Literal["completed", "queued"]
) -> None:
    job = stores.running()
    jobs.requeue(stores.control, job.job_id, run_number=job.run_number, costs_attempt=True)
    jobs.claim(stores.control, "another worker")
    assert end_job(stores.runtime, job, ScanOutcome(status)) == "lost"
    assert stores.now(job).status == "running"
    assert stores.lake.compacted == 0
