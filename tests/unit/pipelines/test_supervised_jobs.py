"""What a worker makes of scans with a fault, of jobs that wait for others, and of silent ones."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus
from sqlalchemy.exc import OperationalError

from pipelines.orchestration.outages import ResourceWait
from pipelines.orchestration.runs.run_identity import JOB_TAG, ORIGIN_TAG, run_id_of
from pipelines.orchestration.worker.heartbeats import LOOKS
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.orchestration.worker.worker import WAITERS_EVERY_S, Worker
from pipelines.settings import Settings
from tests.fake_clock import FakeClock
from tests.fake_runs import FakeEnding, FakeRuns, empty_scan
from warehouse.control import ControlStore, job_claims, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.jobs import Job

LOST_AFTER_S = 20.0


@dataclass
class Stage:
    """One worker with its stores; nothing happens but what a test lets happen."""

    control: ControlStore
    instance: DagsterInstance
    clock: FakeClock
    places: int = 2
    runs: FakeRuns = field(default_factory=FakeRuns)

    def __post_init__(self) -> None:
        settings = Settings(
            _env_file=None, worker_runs=self.places, worker_lost_after_s=LOST_AFTER_S
        )
        self.worker = Worker(
            "worker", settings, self.control, self.instance, self.runs,
            self.clock.monotonic, self.clock.now,
        )  # fmt: skip

    def ask(self, text: str) -> str:
        new = NewJob(
            kind="scan", input=text, target=text, music_id=text, parameters={},
            fingerprint=text, scan_key=None, origin="cli", priority=100,
        )  # fmt: skip
        self.clock.advance(0.001)  # jobs are claimed in the order in which they were asked for
        job, _ = jobs.create_or_join(self.control, new)
        return job.job_id

    def step(self, seconds: float = 1.0) -> None:
        self.clock.advance(seconds)
        self.worker.step()

    def scan(self, job_id: str) -> FakeEnding:
        return self.runs.endings[job_id]

    def now(self, job_id: str) -> Job:
        found = jobs.get(self.control, job_id)
        assert found is not None
        return found

    def begin_run(self, job_id: str) -> str:
        name = run_id_of(self.now(job_id))
        self.instance.create_run_for_job(
            empty_scan, run_id=name, tags={ORIGIN_TAG: "cli", JOB_TAG: job_id},
            status=DagsterRunStatus.STARTED,
        )  # fmt: skip
        return name

    def break_down(self, job_id: str) -> None:
        """Let the scan end with a fault of its own."""
        scan = self.scan(job_id)
        scan.fault, scan.is_gone = ZeroDivisionError("a fault"), True


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    clock, url = FakeClock(), f"sqlite:///{tmp_path / 'control.sqlite'}"
    with (
        closing(open_control(url, world="sandbox", clock=clock.unix)) as control,
        DagsterInstance.ephemeral() as instance,
    ):
        yield Stage(control, instance, clock)


def test_a_fault_in_a_scan_fails_its_job_and_ends_its_run(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    run = stage.begin_run(job_id)
    stage.break_down(job_id)
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt) == ("failed", 1)
    assert "failed unexpectedly" in str(found.error)
    ended = stage.instance.get_run_by_id(run)
    assert ended is not None
    assert ended.is_finished


AWAY = OperationalError("select", {}, Exception("server closed the connection unexpectedly"))


def test_a_scan_whose_end_could_not_be_written_goes_on_with_its_attempts(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    run = stage.begin_run(job_id)
    stage.scan(job_id).end = ScanEnd("unwritten", wait=ResourceWait("disk", 15.0))
    stage.scan(job_id).is_gone = True
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt, found.progress.waiting_for) == ("queued", 1, "disk")
    ended = stage.instance.get_run_by_id(run)
    assert ended is not None
    assert ended.is_finished
    stage.step(14.0)
    assert stage.now(job_id).status == "queued"
    stage.step(2.0)
    assert stage.now(job_id).status == "running"


def test_a_store_that_is_away_when_a_scan_is_prepared_costs_no_attempt(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    scan = stage.scan(job_id)
    scan.fault, scan.is_gone = AWAY, True
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt, found.progress.waiting_for) == ("queued", 1, "worker")


def test_the_end_of_a_scan_is_written_once_the_store_is_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = stage.ask("1")
    stage.step()
    stage.scan(job_id).end = ScanEnd("unwritten", wait=ResourceWait("worker", 5.0))
    stage.scan(job_id).is_gone = True

    def away(*_: object, **__: object) -> bool:
        raise AWAY

    with monkeypatch.context() as patched:
        patched.setattr(job_claims, "requeue", away)
        for _ in range(3):
            stage.clock.advance(1.0)
            assert not stage.worker.try_step()
    assert stage.now(job_id).status == "running"
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt) == ("queued", 1)
    assert (stage.worker.running, stage.worker.claims) == ({}, {})


def test_a_fault_before_there_is_a_run_fails_the_job_alike(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    stage.break_down(job_id)
    stage.step()
    assert stage.now(job_id).status == "failed"
    assert (stage.worker.running, stage.worker.claims) == ({}, {})


def test_a_fault_after_somebody_cancelled_is_a_cancelled_job(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    jobs.request_cancel(stage.control, job_id)
    stage.break_down(job_id)
    stage.step()
    assert stage.now(job_id).status == "cancelled"


def test_a_fault_changes_nothing_of_a_job_that_has_ended_or_is_gone(stage: Stage) -> None:
    ended, gone = stage.ask("1"), stage.ask("2")
    stage.step()
    run = stage.begin_run(ended)
    jobs.finish(stage.control, ended, "completed", expires_at=stage.clock.now())
    jobs.finish(stage.control, gone, "failed", expires_at=stage.clock.now())
    jobs.delete_ended(stage.control, [gone])
    stage.break_down(ended)
    stage.break_down(gone)
    stage.step()
    assert stage.now(ended).status == "completed"
    left = stage.instance.get_run_by_id(run)
    assert left is not None
    assert not left.is_finished
    assert jobs.get(stage.control, gone) is None


def test_a_job_whose_twin_has_ended_waits_until_there_is_a_place(stage: Stage) -> None:
    waiting, twin, other = stage.ask("1"), stage.ask("2"), stage.ask("3")
    stage.step()
    stage.scan(waiting).end = ScanEnd("waiting", twin)
    stage.step(0.0)
    assert stage.worker.running.keys() == {twin, other}
    jobs.finish(stage.control, twin, "completed", expires_at=stage.clock.now())
    stage.step(WAITERS_EVERY_S)  # the scan of the twin has not let go of its place
    assert stage.runs.launched.count(waiting) == 1
    assert stage.worker.waiting == {waiting: twin}
    stage.scan(twin).end = ScanEnd("completed")
    stage.step(WAITERS_EVERY_S)
    assert stage.runs.launched.count(waiting) == 2
    assert stage.worker.waiting == {}


def test_a_job_that_this_worker_still_runs_is_not_lost_however_silent(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    for _ in range(LOOKS + 1):
        stage.step(2 * LOST_AFTER_S)  # no heartbeat is sent
    assert [job.job_id for job in job_claims.lost(stage.control, LOST_AFTER_S)] == [job_id]
    assert (stage.now(job_id).status, stage.now(job_id).run_number) == ("running", 1)


def test_a_remote_scan_that_fell_silent_is_given_to_the_queue_again(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    stage.scan(job_id).beats_itself = True
    for _ in range(LOOKS):
        stage.step(2 * LOST_AFTER_S)
    found = stage.now(job_id)
    assert (found.status, found.attempt) == ("queued", 2)
