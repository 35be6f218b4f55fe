"""What becomes of a claimed job before it has a run: prepared, served, waiting, or ended."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.runs.reconciliation import JOB_TAG, run_id_of
from pipelines.orchestration.worker.launch import JobLauncher, Launched
from tests.fake_clock import FakeClock
from tests.orchestration.runs.fake_runs import FakeRun
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import SCAN, Job


class FakeExecutor:
    """Starts runs that do nothing; with a `fault`, none."""

    outlives_worker = False

    def __init__(self) -> None:
        self.started: list[str] = []
        self.fault: Exception | None = None

    def start(self, run_id: str) -> FakeRun:
        if self.fault is not None:
            raise self.fault
        self.started.append(run_id)
        return FakeRun()


class LaunchingWorker:
    """A launcher over a control store."""

    def __init__(self, control: ControlStore, root: Path, instance: DagsterInstance) -> None:
        self.control, self.instance, self.executor = control, instance, FakeExecutor()
        runtime: Any = SimpleNamespace(
            control=control,
            world="sandbox",
            music_provider="public-graph",
            settings=SimpleNamespace(job_retention_days=30),
            home=SimpleNamespace(root=root),
            lake=SimpleNamespace(compact_all=lambda: None),
        )
        self.launcher = JobLauncher(runtime, instance, self.executor)

    def claimed(self, text: str = "7342451722773117559") -> Job:
        new = NewJob(
            kind=SCAN, input=text, target=text, music_id=text, parameters={},
            fingerprint=f"{text} {len(jobs.newest(self.control, limit=99))}", scan_key=None,
            origin="cli", priority=100,
        )  # fmt: skip
        jobs.create_or_join(self.control, new)
        return cast("Job", jobs.claim(self.control, "worker"))

    def launch(self, job: Job, *, run_number: int | None = None) -> Launched:
        number = job.run_number if run_number is None else run_number
        return self.launcher.launch(job.job_id, number).result(timeout=60)

    def status(self, job: Job) -> str:
        return cast("Job", jobs.get(self.control, job.job_id)).status


@pytest.fixture
def launching(tmp_path: Path) -> Iterator[LaunchingWorker]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with (
        closing(open_control(url, world="sandbox", clock=FakeClock().unix)) as control,
        DagsterInstance.ephemeral() as instance,
    ):
        yield LaunchingWorker(control, tmp_path, instance)


def test_a_claimed_job_gets_a_run_that_any_executor_can_load(launching: LaunchingWorker) -> None:
    job = launching.claimed()
    launched = launching.launch(job)
    assert launched.run is not None
    assert launching.executor.started == [run_id_of(job)]
    run = launching.instance.get_run_by_id(run_id_of(job))
    assert run is not None
    assert (run.status, run.tags[JOB_TAG]) == (DagsterRunStatus.NOT_STARTED, job.job_id)
    assert run.tags["dagster/partition"] == f"music:{job.music_id}"
    assert run.remote_job_origin is not None
    assert run.job_code_origin is not None


def test_a_job_waits_for_the_one_that_scans_the_same(launching: LaunchingWorker) -> None:
    first, second = launching.claimed(), launching.claimed()
    launching.launch(first)
    assert launching.launch(second) == Launched(waits_for=first.job_id)
    assert {launching.status(job) for job in (first, second)} == {"running"}


def test_a_run_that_another_one_has_replaced_is_not_launched(launching: LaunchingWorker) -> None:
    job = launching.claimed()
    assert launching.launch(job, run_number=job.run_number + 1) == Launched()
    assert (launching.executor.started, launching.status(job)) == ([], "running")


def test_a_run_that_cannot_be_started_fails_its_job_with_the_reason(
    launching: LaunchingWorker,
) -> None:
    launching.executor.fault = WorkerUnavailableError("Dagster's daemon is not running")
    job = launching.claimed()
    assert launching.launch(job) == Launched()
    found = cast("Job", jobs.get(launching.control, job.job_id))
    assert (found.status, found.error and found.error["type"]) == ("failed", "worker_unavailable")


def test_a_fault_is_passed_on_to_the_worker(launching: LaunchingWorker) -> None:
    launching.executor.fault = ZeroDivisionError("a fault")
    job = launching.claimed()
    with pytest.raises(ZeroDivisionError):
        launching.launch(job)
