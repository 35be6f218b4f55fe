"""What a worker makes of scans with a fault, of jobs that wait for others, and of silent ones."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus
from sqlalchemy.exc import OperationalError

from pipelines.orchestration.runs.reconciliation import JOB_TAG, ORIGIN_TAG, run_id_of
from pipelines.orchestration.runs.run_session import SILENT_CHECKS
from pipelines.orchestration.worker.launch import Launched
from pipelines.orchestration.worker.worker import WAITERS_EVERY_S, Worker
from pipelines.settings import Settings
from tests.fake_clock import FakeClock
from tests.orchestration.runs.fake_runs import FakeLauncher, FakeRun, empty_scan
from warehouse.control import ControlStore, jobs, open_control
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
    launcher: FakeLauncher = field(default_factory=FakeLauncher)

    def __post_init__(self) -> None:
        settings = Settings(
            _env_file=None, worker_runs=self.places, worker_lost_after_s=LOST_AFTER_S
        )
        self.worker = Worker(
            "worker", settings, self.control, self.instance, self.launcher,
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

    def run(self, job_id: str) -> FakeRun:
        return self.launcher.runs[job_id]

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


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    clock, url = FakeClock(), f"sqlite:///{tmp_path / 'control.sqlite'}"
    with (
        closing(open_control(url, world="sandbox", clock=clock.unix)) as control,
        DagsterInstance.ephemeral() as instance,
    ):
        yield Stage(control, instance, clock)


AWAY = OperationalError("select", {}, Exception("server closed the connection unexpectedly"))
FAULT = ZeroDivisionError("a fault")


def test_a_run_whose_process_is_gone_costs_an_attempt_and_is_ended(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    run = stage.begin_run(job_id)
    stage.step()
    stage.run(job_id).is_gone = True
    stage.worker.has_space = lambda: False  # it is not claimed again at once
    stage.step(10.0)
    found = stage.now(job_id)
    assert (found.status, found.attempt, stage.worker.held) == ("queued", 2, {})
    ended = stage.instance.get_run_by_id(run)
    assert ended is not None
    assert ended.is_finished


def test_a_store_that_is_away_when_a_job_is_prepared_costs_no_attempt(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.launcher.instead[job_id] = AWAY
    stage.step()
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt, found.progress.waiting_for) == ("queued", 1, "worker")
    stage.step(10.0)
    assert stage.now(job_id).status == "running"


def test_a_job_is_handed_back_once_the_store_is_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = stage.ask("1")
    stage.launcher.instead[job_id] = AWAY
    stage.step()

    def away(*_: object, **__: object) -> bool:
        raise AWAY

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "requeue", away)
        for _ in range(3):
            stage.clock.advance(1.0)
            assert not stage.worker.try_step()
    assert stage.now(job_id).status == "running"
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt, stage.worker.held) == ("queued", 1, {})


def test_a_fault_of_ours_fails_the_job(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.launcher.instead[job_id] = FAULT
    stage.step()
    stage.step()
    found = stage.now(job_id)
    assert (found.status, found.attempt, stage.worker.held) == ("failed", 1, {})
    assert "failed unexpectedly" in str(found.error)


def test_a_fault_after_somebody_cancelled_is_a_cancelled_job(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.launcher.instead[job_id] = FAULT
    stage.step()
    jobs.request_cancel(stage.control, job_id)
    stage.step()
    assert stage.now(job_id).status == "cancelled"


def test_a_lost_process_changes_nothing_of_a_job_that_has_ended_or_is_gone(stage: Stage) -> None:
    ended, gone = stage.ask("1"), stage.ask("2")
    stage.step()
    run = stage.begin_run(ended)
    stage.step()
    jobs.finish(stage.control, ended, "completed", expires_at=stage.clock.now())
    jobs.finish(stage.control, gone, "failed", expires_at=stage.clock.now())
    jobs.delete_ended(stage.control, [gone])
    stage.run(ended).is_gone = stage.run(gone).is_gone = True
    stage.step()
    assert stage.now(ended).status == "completed"
    left = stage.instance.get_run_by_id(run)
    assert left is not None
    assert not left.is_finished
    assert jobs.get(stage.control, gone) is None


def test_a_job_whose_twin_has_ended_waits_until_there_is_a_place(stage: Stage) -> None:
    waiting, twin, other = stage.ask("1"), stage.ask("2"), stage.ask("3")
    stage.launcher.instead[waiting] = Launched(waits_for=twin)
    stage.step()
    stage.step(0.0)
    held = stage.worker.held
    assert {name: one.waits_for for name, one in held.items()} == {
        waiting: twin, twin: None, other: None
    }  # fmt: skip
    jobs.finish(stage.control, twin, "completed", expires_at=stage.clock.now())
    stage.step(WAITERS_EVERY_S)  # the run of the twin has not let go of its place
    assert stage.launcher.launched.count(waiting) == 1
    stage.run(twin).is_gone = True
    stage.step(WAITERS_EVERY_S)
    stage.step(WAITERS_EVERY_S)
    assert stage.launcher.launched.count(waiting) == 2
    assert held[waiting].waits_for is None


def test_a_job_whose_run_has_not_begun_is_not_lost_however_silent(stage: Stage) -> None:
    stage.launcher.begin_at_once = False
    job_id = stage.ask("1")
    stage.step()
    for _ in range(SILENT_CHECKS + 1):
        stage.step(2 * LOST_AFTER_S)  # no heartbeat is sent
    assert [job.job_id for job in jobs.lost(stage.control, LOST_AFTER_S)] == [job_id]
    assert (stage.now(job_id).status, stage.now(job_id).run_number) == ("running", 1)


def test_a_run_that_fell_silent_is_given_to_the_queue_again(stage: Stage) -> None:
    job_id = stage.ask("1")
    stage.step()
    for _ in range(SILENT_CHECKS):
        stage.step(2 * LOST_AFTER_S)
    found = stage.now(job_id)
    assert (found.status, found.attempt) == ("queued", 2)
