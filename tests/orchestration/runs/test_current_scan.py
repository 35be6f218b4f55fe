"""The resource that holds the scan of a run: empty without one, refused where its job goes on."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dagster import DagsterExecutionInterruptedError, DagsterInstance, DagsterRun, Failure

from pipelines.orchestration.runs import run_session
from pipelines.orchestration.runs.reconciliation import JOB_TAG, ORIGIN_TAG, run_id
from pipelines.orchestration.runs.run_session import CurrentScan, ScanOutcome, scan_of_run
from pipelines.scan.scan_run import ScanRun
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.home import open_home
from warehouse.records.jobs import Job


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ControlStore]:
    """The control store that a run opens by its settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_session, "configure_process_logging", lambda: None)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    home = open_home(tmp_path / "home", "sandbox")
    with closing(open_control(home.control_url, world=home.world)) as opened:
        yield opened


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as opened:
        yield opened


def running(control: ControlStore) -> Job:
    new = NewJob(
        kind="scan", input="1", target="1", music_id="1", parameters={}, fingerprint="1",
        scan_key=None, origin="cli", priority=100,
    )  # fmt: skip
    jobs.create_or_join(control, new)
    job = jobs.claim(control, "worker")
    assert job is not None
    return job


def run_of(job_id: str, number: int = 1) -> DagsterRun:
    tags = {ORIGIN_TAG: "cli", JOB_TAG: job_id}
    return DagsterRun(job_name="scan", run_id=run_id(job_id, number), tags=tags)


def opened(run: DagsterRun | None, instance: DagsterInstance | None) -> Iterator[CurrentScan]:
    context: Any = SimpleNamespace(run=run, instance=instance)
    found: Any = scan_of_run({}).resource_fn
    iterator: Iterator[CurrentScan] = found(context)
    return iterator


def refusal_of(run: DagsterRun, instance: DagsterInstance) -> str:
    """Return the reason with which the first step of a run fails."""
    [slot] = opened(run, instance)
    with pytest.raises(Failure) as failed, slot.stage("any"):
        raise AssertionError("the stage has begun")
    return str(failed.value.description)


def test_scan_resource_is_empty_without_a_run() -> None:
    [slot] = opened(None, None)
    assert slot.session is None


@pytest.mark.usefixtures("control")
def test_a_run_of_neither_a_job_nor_a_partition_has_no_scan(instance: DagsterInstance) -> None:
    [slot] = opened(DagsterRun(job_name="canaries"), instance)
    assert slot.session is None
    with pytest.raises(Failure, match="No scan runs in this process"), slot.stage("any"):
        raise AssertionError("the stage has begun")


def test_a_run_whose_job_has_ended_meanwhile_is_refused(
    control: ControlStore, instance: DagsterInstance
) -> None:
    job = running(control)
    jobs.finish(control, job.job_id, "cancelled", expires_at=datetime.now(UTC) + timedelta(days=1))
    assert "has ended before the run began" in refusal_of(run_of(job.job_id), instance)


@pytest.mark.usefixtures("control")
def test_a_run_whose_job_is_gone_is_refused(instance: DagsterInstance) -> None:
    gone = "3b0b0d6e-0f6c-4a4e-9c39-0d6f3f8f6a11"
    assert "has ended before the run began" in refusal_of(run_of(gone), instance)


def test_a_run_that_a_later_one_has_replaced_is_refused(
    control: ControlStore, instance: DagsterInstance
) -> None:
    job = running(control)
    jobs.requeue(control, job.job_id, run_number=1, costs_attempt=True)
    assert "goes on in another run" in refusal_of(
        run_of(job.job_id), instance
    )  # in the queue again
    jobs.claim(control, "another worker")
    assert "goes on in another run" in refusal_of(run_of(job.job_id), instance)
    found = jobs.get(control, job.job_id)
    assert found is not None
    assert (found.status, found.run_number) == ("running", 2)


@dataclass
class Staged:
    """The part of a scan that its slot uses."""

    entered: list[str] = field(default_factory=list)

    def enter(self, name: str) -> None:
        self.entered.append(name)


@pytest.mark.parametrize("error", [KeyboardInterrupt, DagsterExecutionInterruptedError])
def test_a_stage_that_is_interrupted_sends_the_job_back_to_the_queue(
    error: type[BaseException],
) -> None:
    slot, session = CurrentScan(), Staged()
    slot.session = cast("ScanRun", session)
    with pytest.raises(error), slot.stage("track"):
        raise error
    assert session.entered == ["track"]
    assert slot.outcome() == ScanOutcome("queued")
