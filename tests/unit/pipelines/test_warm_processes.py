"""A process for scans: what it does to itself before its first one, and how one may end."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy.exc import OperationalError

from pipelines.orchestration.outages import STORE_WAIT_S, ResourceWait
from pipelines.orchestration.resources import CurrentScan
from pipelines.orchestration.runs import scan_runs
from pipelines.orchestration.runs.scan_runs import RunProcess, run_scan, warm
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.settings import Settings
from warehouse.records.jobs import JOB_KINDS

NOTHING = cast("Any", None)


@dataclass
class Steps:
    """The steps of a process in their order."""

    done: list[str] = field(default_factory=list)

    def step(self, name: str) -> Callable[[], None]:
        return lambda: self.done.append(name)

    def open_runtime(self, _settings: Settings, _stack: ExitStack) -> Any:
        self.done.append("open the stores")
        return SimpleNamespace(home="home")

    def open_instance(self, home: str) -> AbstractContextManager[str]:
        self.done.append(f"open the instance of {home}")
        return nullcontext("instance")


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    made = Steps()
    definitions = SimpleNamespace(resolve_job_def=lambda kind: f"job {kind}")
    for name, step in {
        "configure_process_logging": lambda: None,
        "_end_at_once_when_asked": made.step("block the signals"),
        "exit_with_parent": made.step("exit with the worker"),
        "open_runtime": made.open_runtime,
        "build_definitions": lambda *, scan: definitions,
        "open_instance": made.open_instance,
        "_process": None,
        "_open": ExitStack(),
    }.items():
        monkeypatch.setattr(scan_runs, name, step)
    return made


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> RunProcess:
    warmed = RunProcess(NOTHING, NOTHING, CurrentScan(), {})
    monkeypatch.setattr(scan_runs, "_process", warmed)
    return warmed


def test_a_process_opens_everything_before_its_first_scan(steps: Steps) -> None:
    warm(Settings(_env_file=None))
    process = scan_runs._process
    assert process is not None
    assert steps.done == [
        "block the signals", "exit with the worker", "open the stores",
        "open the instance of home",
    ]  # fmt: skip
    jobs: Any = process.jobs
    assert jobs == {kind: f"job {kind}" for kind in JOB_KINDS}


def end_with(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> Callable[[], ScanEnd]:
    """Let the execution of a job end so; return how to run it."""

    def execute(*_: object, **_named: object) -> ScanEnd:
        if error is not None:
            raise error
        return ScanEnd("completed")

    monkeypatch.setattr(scan_runs, "execute_job", execute)
    return lambda: run_scan("job", 1)


def test_a_scan_begins_without_what_the_one_before_has_left(
    process: RunProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.current_scan.has_failed = True
    run = end_with(monkeypatch, None)
    assert run() == ScanEnd("completed")
    assert not process.current_scan.has_failed


@pytest.mark.usefixtures("process")
def test_a_scan_whose_store_goes_away_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = end_with(monkeypatch, OperationalError("select 1", {}, OSError("away")))
    assert run() == ScanEnd("unwritten", wait=ResourceWait("worker", STORE_WAIT_S))


@pytest.mark.usefixtures("process")
def test_any_other_error_reaches_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    run = end_with(monkeypatch, ValueError("a fault"))
    with pytest.raises(ValueError, match="a fault"):
        run()
