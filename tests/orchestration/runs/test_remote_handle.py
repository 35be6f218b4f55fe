"""The worker answers for a remote run until it begins, but not for ever."""

from collections.abc import Iterator, Sequence

import pytest
from dagster import DagsterEvent, DagsterEventType, DagsterInstance, DagsterRunStatus

from pipelines.orchestration.runs.remote import CHECK_EVERY_S, START_LIMIT_S, RemoteRun
from tests.fake_clock import FakeClock
from tests.orchestration.runs.fake_runs import empty_scan

RUN = "3b0b0d6e-0f6c-4a4e-9c39-0d6f3f8f6a11"


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as opened:
        yield opened


def run_of(instance: DagsterInstance, clock: FakeClock, waiting: Sequence[str] = ()) -> RemoteRun:
    """`waiting`: runs that no Celery worker has taken yet."""
    return RemoteRun(instance, RUN, has_waiting_runs=lambda: bool(waiting), clock=clock.monotonic)


def begin(instance: DagsterInstance, kind: DagsterEventType) -> None:
    event = DagsterEvent(event_type_value=kind.value, job_name=empty_scan.name)
    instance.report_dagster_event(event, run_id=RUN)


def test_a_run_in_the_queue_may_wait_as_long_as_it_takes(instance: DagsterInstance) -> None:
    instance.create_run_for_job(empty_scan, run_id=RUN, status=DagsterRunStatus.NOT_STARTED)
    clock = FakeClock()
    run = run_of(instance, clock)
    clock.advance(10 * START_LIMIT_S)
    assert not run.has_begun()


def test_a_launched_run_that_never_begins_is_given_up(instance: DagsterInstance) -> None:
    instance.create_run_for_job(empty_scan, run_id=RUN, status=DagsterRunStatus.STARTING)
    clock = FakeClock()
    run = run_of(instance, clock)
    assert not run.has_begun()
    clock.advance(START_LIMIT_S - 1)
    assert not run.has_begun()
    clock.advance(1)
    assert run.has_begun()


def test_a_launched_run_may_be_one_of_those_that_wait_for_a_celery_worker(
    instance: DagsterInstance,
) -> None:
    instance.create_run_for_job(empty_scan, run_id=RUN, status=DagsterRunStatus.STARTING)
    clock, waiting = FakeClock(), [RUN]
    run = run_of(instance, clock, waiting)
    for _ in range(3):
        assert not run.has_begun()
        clock.advance(START_LIMIT_S)
    waiting.clear()
    assert run.has_begun()


def test_a_run_that_has_begun_sends_its_own_heartbeats(instance: DagsterInstance) -> None:
    instance.create_run_for_job(empty_scan, run_id=RUN, status=DagsterRunStatus.STARTING)
    clock = FakeClock()
    run = run_of(instance, clock)
    assert not run.has_begun()
    begin(instance, DagsterEventType.RUN_START)
    clock.advance(CHECK_EVERY_S)
    assert run.has_begun()
    assert not run.is_over()
    begin(instance, DagsterEventType.RUN_SUCCESS)
    clock.advance(CHECK_EVERY_S)
    assert run.is_over()
