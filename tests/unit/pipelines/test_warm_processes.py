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

WORKER = 4711
NOTHING = cast("Any", None)


@dataclass
class Steps:
    """The steps of a process in their order. `tell`: what hears of a want of the processor."""

    done: list[str] = field(default_factory=list)
    tell: Callable[[bool], object] = lambda _: None

    def step(self, name: str) -> Callable[..., None]:
        def note(**named: object) -> None:
            said = "".join(f" {key}={value}" for key, value in named.items())
            self.done.append(f"{name}{said}")

        return note

    def exit_with(self, worker_pid: int) -> None:
        self.done.append(f"exit with {worker_pid}")

    def open_runtime(self, _settings: Settings, _stack: ExitStack) -> Any:
        self.done.append("open the stores")
        return SimpleNamespace(home="home")

    def open_instance(self, home: str) -> AbstractContextManager[str]:
        self.done.append(f"open the instance of {home}")
        return nullcontext("instance")

    def guard_share(self, tell: Callable[[bool], object]) -> None:
        self.done.append("guard the share")
        self.tell = tell


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    made = Steps()
    definitions = SimpleNamespace(resolve_job_def=lambda kind: f"job {kind}")
    for name, step in {
        "configure_process_logging": lambda: None,
        "_end_at_once_when_asked": made.step("block the signals"),
        "exit_with": made.exit_with,
        "lower_process_priority": made.step("lower the process"),
        "open_runtime": made.open_runtime,
        "build_definitions": lambda *, scan: definitions,
        "open_instance": made.open_instance,
        "guard_share": made.guard_share,
        "lower_session_priority": made.step("lower the session"),
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


def warmed(**settings: Any) -> RunProcess:
    warm(Settings(_env_file=None, **settings), WORKER)
    found = scan_runs._process
    assert found is not None
    return found


def test_a_process_that_gives_way_does_so_as_a_session_once_it_is_warm(steps: Steps) -> None:
    found = warmed(worker_gives_way=True)
    assert steps.done == [
        "block the signals", f"exit with {WORKER}", "lower the process", "open the stores",
        "open the instance of home", "guard the share", f"lower the session leader={WORKER}",
    ]  # fmt: skip
    jobs: Any = found.jobs
    assert jobs == {kind: f"job {kind}" for kind in JOB_KINDS}
    session: Any = SimpleNamespace(is_starved=False)
    found.current_scan.session = session
    steps.tell(True)
    assert session.is_starved


def test_a_process_that_does_not_give_way_keeps_its_priority(steps: Steps) -> None:
    warmed(worker_gives_way=False)
    assert steps.done == [
        "block the signals", f"exit with {WORKER}", "open the stores", "open the instance of home",
    ]  # fmt: skip


def end_with(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> tuple[Callable[[], ScanEnd], list[str]]:
    """Let the execution of a job end so; return how to run it, and the memory given back."""
    given_back: list[str] = []

    def execute(*_: object, **_named: object) -> ScanEnd:
        if error is not None:
            raise error
        return ScanEnd("completed")

    monkeypatch.setattr(scan_runs, "execute_job", execute)
    monkeypatch.setattr(scan_runs, "give_back_memory", lambda: given_back.append("all"))
    return lambda: run_scan("job", 1), given_back


def test_a_scan_begins_without_what_the_one_before_has_left(
    process: RunProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.current_scan.has_failed = True
    run, given_back = end_with(monkeypatch, None)
    assert run() == ScanEnd("completed")
    assert not process.current_scan.has_failed
    assert given_back == ["all"]


@pytest.mark.usefixtures("process")
def test_a_scan_whose_store_goes_away_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, given_back = end_with(monkeypatch, OperationalError("select 1", {}, OSError("away")))
    assert run() == ScanEnd("unwritten", wait=ResourceWait("worker", STORE_WAIT_S))
    assert given_back == ["all"]


@pytest.mark.usefixtures("process")
def test_any_other_error_reaches_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    run, given_back = end_with(monkeypatch, ValueError("a fault"))
    with pytest.raises(ValueError, match="a fault"):
        run()
    assert given_back == ["all"]
