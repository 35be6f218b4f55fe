"""Dagster's daemon in a process that does something else, too."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from pipelines.orchestration import dagster_compat


class Controller:
    """A daemon whose threads have ended or not."""

    def __init__(self, *, is_alive: bool) -> None:
        self.is_alive = is_alive
        self.refreshed: list[float] = []
        self.checked = threading.Semaphore(0)

    def check_daemon_threads(self) -> None:
        if not self.is_alive:
            raise RuntimeError("threads no longer running")

    def check_workspace_freshness(self, last: float) -> float:
        self.refreshed.append(last)
        self.checked.release()
        return last + 1


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The signals that were sent, to whom."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *given: sent.append(given))
    monkeypatch.setattr(dagster_compat, "_CHECK_DAEMON_EVERY_S", 0)
    return sent


def check_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "check-daemon"]


def run(monkeypatch: pytest.MonkeyPatch, controller: Controller) -> Any:
    @contextmanager
    def from_instance(*_given: object, log_level: str) -> Iterator[Controller]:
        assert log_level == "warning"
        yield controller

    monkeypatch.setattr("dagster._daemon.controller.daemon_controller_from_instance", from_instance)
    nothing = cast("Any", None)
    return dagster_compat.running_daemon(nothing, nothing)


def test_it_is_looked_at_and_refreshed_until_the_block_ends(
    monkeypatch: pytest.MonkeyPatch, signals: list[tuple[int, int]]
) -> None:
    controller = Controller(is_alive=True)
    with run(monkeypatch, controller):
        for _ in range(3):
            controller.checked.acquire()
        (thread,) = check_threads()
    thread.join()
    begun, *later = controller.refreshed
    assert later == [begun + number for number in range(1, len(controller.refreshed))]
    assert signals == []


def test_a_process_whose_daemon_has_stopped_is_asked_to_end(
    monkeypatch: pytest.MonkeyPatch, signals: list[tuple[int, int]]
) -> None:
    with run(monkeypatch, Controller(is_alive=False)):
        for thread in check_threads():
            thread.join()
        assert signals == [(os.getpid(), signal.SIGTERM)]
