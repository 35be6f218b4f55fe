"""Dagster's storage of an empty home, and a worker without processes, whose time the tests move."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.runs.reconciliation import ORIGIN_TAG
from pipelines.orchestration.runs.run_session import SILENT_CHECKS
from pipelines.orchestration.worker.worker import Worker
from pipelines.settings import Settings
from tests.orchestration.runs.fake_runs import FakeLauncher, empty_scan
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.home import open_home
from warehouse.records.jobs import PRIORITY_INTERACTIVE, Job, JobStatus


@dataclass
class WorkerHarness:
    """A worker with everything but scans; `pass_by` moves all clocks."""

    control: ControlStore
    instance: DagsterInstance
    clock: list[float]
    launcher: FakeLauncher = field(default_factory=FakeLauncher)

    def __post_init__(self) -> None:
        self.worker = self.new_worker("one")

    def new_worker(self, name: str, *, runs: int = 2) -> Worker:
        settings = Settings(_env_file=None, worker_runs=runs)
        return Worker(
            name,
            settings,
            self.control,
            self.instance,
            self.launcher,
            lambda: self.clock[0],
            lambda: datetime.fromtimestamp(self.clock[0], UTC),
        )

    def pass_by(self, seconds: float) -> None:
        self.clock[0] += seconds
        self.worker.step()
        self.worker.step()  # takes over what the first one has launched
        self.worker.beat()
        for job_id, run in self.launcher.runs.items():
            if run.begun and not run.is_gone and not run.is_silent:
                jobs.beat_job(self.control, job_id, run_number=run.run_number)

    def notice_silence(self) -> None:
        """So much time passes that the worker gives up who has sent nothing, and claims."""
        self.pass_by(61)
        for _ in range(SILENT_CHECKS):
            self.pass_by(self.worker.settings.heartbeat_s)

    def ask(self, name: str = "a", *, priority: int = PRIORITY_INTERACTIVE) -> str:
        self.clock[0] += 0.001
        new = NewJob(
            kind="scan", input=name, target=name, music_id=None, parameters={}, fingerprint=name,
            scan_key=None, origin="api" if priority == PRIORITY_INTERACTIVE else "schedule",
            priority=priority,
        )  # fmt: skip
        return jobs.create_or_join(self.control, new)[0].job_id

    def running(self, name: str = "a") -> str:
        """A job that is being scanned, with its run."""
        job_id = self.ask(name)
        self.worker.step()
        run = self.instance.create_run_for_job(
            empty_scan, run_id=job_id, tags={ORIGIN_TAG: "api"}, status=DagsterRunStatus.STARTED
        )
        assert run.run_id == job_id
        return job_id

    def job(self, job_id: str) -> Job:
        found = jobs.get(self.control, job_id)
        assert found is not None
        return found

    def run_status(self, job_id: str) -> DagsterRunStatus:
        run = self.instance.get_run_by_id(job_id)
        assert run is not None
        return run.status

    def status(self, job_id: str) -> JobStatus:
        return self.job(job_id).status


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    """One for all tests: its tables take seconds to make, and runs have ids of their own."""
    with open_instance(open_home(tmp_path_factory.mktemp("home"), "sandbox")) as opened:
        yield opened


@pytest.fixture
def harness(tmp_path: Path, instance: DagsterInstance) -> Iterator[WorkerHarness]:
    clock = [1_790_000_000.0]
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=lambda: clock[0])) as control:
        yield WorkerHarness(control, instance, clock)
