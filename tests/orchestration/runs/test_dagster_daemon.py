"""A remote run waits for Dagster's daemon, and can be given up."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.runs import remote
from pipelines.orchestration.runs.remote import (
    CHECK_EVERY_S,
    DAEMON_LOST_AFTER_S,
    DAEMON_TIMEOUT_S,
    QUEUE_DAEMON,
    RemoteRun,
    check_daemon,
)
from tests.orchestration.runs.fake_runs import empty_scan
from warehouse.records.errors import WorkerUnavailableError

RUN = "3b0b0d6e-0f6c-4a4e-9c39-0d6f3f8f6a11"


class Time:
    """Time that passes while somebody sleeps. `beats_at`: when the daemon sends a heartbeat."""

    def __init__(self, beats_at: float | None = None, *, daemon: str = QUEUE_DAEMON) -> None:
        self.passed_s = 1000.0
        self.slept: list[float] = []
        self._beats_at = beats_at
        self._daemon = daemon

    def monotonic(self) -> float:
        return self.passed_s

    time = monotonic

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed_s += seconds

    def get_daemon_heartbeats(self) -> dict[str, object]:
        if self._beats_at is None or self._beats_at > self.passed_s:
            return {}
        return {self._daemon: SimpleNamespace(timestamp=self._beats_at)}


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[Time], None]:
    def wait_for_daemon(passing: Time) -> None:
        monkeypatch.setattr(remote, "time", passing)
        check_daemon(cast("DagsterInstance", passing))

    return wait_for_daemon


def test_a_daemon_that_is_alive_is_not_waited_for(wait: Callable[[Time], None]) -> None:
    alive = Time(1000.0 - DAEMON_LOST_AFTER_S + 1)
    wait(alive)
    assert alive.slept == []


def test_a_daemon_that_is_starting_is_waited_for(wait: Callable[[Time], None]) -> None:
    starting = Time(1000.0 + 2 * CHECK_EVERY_S)
    wait(starting)
    assert starting.slept == [CHECK_EVERY_S] * 2


@pytest.mark.parametrize(
    "passing",
    [
        pytest.param(Time(), id="never-seen"),
        pytest.param(Time(1000.0 - DAEMON_LOST_AFTER_S), id="long-silent"),
        pytest.param(Time(1000.0, daemon="SENSOR"), id="another-daemon"),
    ],
)
def test_a_daemon_that_is_not_there_is_an_error_after_a_minute(
    wait: Callable[[Time], None], passing: Time
) -> None:
    with pytest.raises(WorkerUnavailableError, match="is not running") as caught:
        wait(passing)
    assert sum(passing.slept) == pytest.approx(DAEMON_TIMEOUT_S, abs=CHECK_EVERY_S)
    assert "RUNS=local" in str(caught.value.hint)


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as opened:
        yield opened


def status_after_giving_up(instance: DagsterInstance, begun: DagsterRunStatus) -> object:
    instance.create_run_for_job(empty_scan, run_id=RUN, status=begun)
    RemoteRun(instance, RUN).kill()
    found = instance.get_run_by_id(RUN)
    return None if found is None else found.status


def test_a_run_that_is_given_up_is_canceled_at_once(instance: DagsterInstance) -> None:
    found = status_after_giving_up(instance, DagsterRunStatus.STARTED)
    assert found == DagsterRunStatus.CANCELED


def test_a_run_that_has_ended_stays_as_it_ended(instance: DagsterInstance) -> None:
    found = status_after_giving_up(instance, DagsterRunStatus.SUCCESS)
    assert found == DagsterRunStatus.SUCCESS


def test_a_run_that_is_gone_is_over(instance: DagsterInstance) -> None:
    run = RemoteRun(instance, RUN)
    run.kill()
    assert run.is_over()
