"""A worker is started where none is alive, looked after, and not started twice."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self

import pytest

from api.cli.processes import child_processes
from api.cli.processes.child_processes import LOOK_FOR_WORKER_EVERY_S, WorkerSupervisor
from warehouse.records.errors import WorkerUnavailableError


class Group:
    """Keeps what was started, and which of it has exited."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.exited: list[str] = []
        self.is_open = False

    def __enter__(self) -> Self:
        self.is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_open = False

    def start(self, program: Any) -> None:
        self.started.append(program.name)

    def exited_children(self) -> list[str]:
        return self.exited


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The only process group, whether a worker is alive, and the time."""
    found = SimpleNamespace(group=Group(), is_alive=False, now=100.0)
    monkeypatch.setattr(child_processes, "ChildProcessGroup", lambda: found.group)
    monkeypatch.setattr("api.cli.processes.child_processes.time.monotonic", lambda: found.now)
    monkeypatch.setattr("api.cli.local_job_client.has_live_worker", lambda _: found.is_alive)
    return found


def watched(*, is_wanted: bool, look: Callable[[WorkerSupervisor], None]) -> None:
    with WorkerSupervisor(is_wanted=is_wanted) as supervisor:
        look(supervisor)


def test_a_worker_is_started_where_none_is_alive_and_stopped_at_the_end(stage: Any) -> None:
    def look(supervisor: WorkerSupervisor) -> None:
        supervisor.look()
        assert stage.group.is_open

    watched(is_wanted=True, look=look)
    assert stage.group.started == ["worker"]
    assert not stage.group.is_open


def test_a_worker_of_another_program_is_missed_when_it_goes(stage: Any) -> None:
    stage.is_alive = True

    def look(supervisor: WorkerSupervisor) -> None:
        assert stage.group.started == []
        stage.is_alive = False
        supervisor.look()
        assert stage.group.started == []  # it was looked at a moment ago
        stage.now += LOOK_FOR_WORKER_EVERY_S
        supervisor.look()
        assert stage.group.started == ["worker"]

    watched(is_wanted=True, look=look)


def test_a_worker_that_exits_ends_the_wait(stage: Any) -> None:
    def look(supervisor: WorkerSupervisor) -> None:
        stage.group.exited.append("worker")
        with pytest.raises(WorkerUnavailableError, match="has exited"):
            supervisor.look()

    watched(is_wanted=True, look=look)


def test_supervisor_starts_no_worker_if_none_is_wanted(stage: Any) -> None:
    def look(supervisor: WorkerSupervisor) -> None:
        stage.now += 10 * LOOK_FOR_WORKER_EVERY_S
        supervisor.look()
        with supervisor.held():
            """Signals wait."""

    watched(is_wanted=False, look=look)
    assert stage.group.started == []
