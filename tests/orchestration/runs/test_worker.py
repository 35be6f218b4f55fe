"""A worker takes jobs in their order, and keeps them for as long as it lives and its store does."""

from dataclasses import dataclass
from typing import Any

import pytest
from dagster import DagsterRunStatus

from pipelines.orchestration.worker.launch import Launched
from pipelines.orchestration.worker.worker import HANGS_AFTER_S, OUTAGE_LIMIT_S, SPACE_EVERY_S
from warehouse.control import ControlStore, jobs
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import PRIORITY_SCHEDULED, ProgressRecord

pytestmark = pytest.mark.full


def test_a_run_that_was_given_up_and_comes_back_changes_nothing(harness: Any) -> None:
    job_id = harness.running()
    asleep = harness.worker
    harness.launcher.runs[job_id].is_silent = True
    harness.worker = harness.new_worker("two")
    harness.notice_silence()
    assert (harness.job(job_id).worker_id, harness.job(job_id).attempt) == ("two", 2)
    progress = ProgressRecord(candidate_pool_count=99)
    jobs.save_progress(harness.control, job_id, progress, run_number=1)
    assert harness.job(job_id).progress != progress
    assert not jobs.finish(harness.control, job_id, "completed", run_number=1)
    asleep.step()
    harness.pass_by(1)
    assert (harness.status(job_id), harness.job(job_id).run_number) == ("running", 2)


def test_a_worker_that_is_late_on_a_starved_machine_keeps_its_job(harness: Any) -> None:
    job_id = harness.running()
    starved = harness.worker
    harness.worker = harness.new_worker("two")
    for _ in range(5):  # both get the processor only every 30 seconds
        harness.pass_by(30)
        starved.beat()
    assert (harness.job(job_id).worker_id, harness.job(job_id).attempt) == ("one", 1)


def test_after_a_sleep_of_the_machine_nobody_is_given_up_at_the_first_look(harness: Any) -> None:
    job_id = harness.running()
    awake = harness.worker
    harness.worker = harness.new_worker("two")
    harness.pass_by(3600)
    harness.pass_by(harness.worker.settings.heartbeat_s)
    awake.step()
    awake.beat()
    harness.pass_by(harness.worker.settings.heartbeat_s)
    assert (harness.job(job_id).worker_id, harness.job(job_id).attempt) == ("one", 1)


def test_a_remote_run_that_is_killed_costs_one_attempt(harness: Any) -> None:
    """The worker that submitted it sees its heartbeats end, and then its run."""
    harness.worker = harness.new_worker("one", runs=1)
    harness.launcher.runs_outlive_worker = True
    job_id = harness.running()
    for attempt in (1, 2):
        run_number = harness.job(job_id).run_number
        killed = harness.launcher.runs[job_id]
        killed.is_silent = True
        harness.notice_silence()
        killed.is_gone = True
        harness.pass_by(1)
        assert harness.job(job_id).attempt == attempt + 1
        assert (harness.status(job_id), harness.job(job_id).run_number) == (
            "running",
            run_number + 1,
        )


def test_heartbeats_do_not_wait_for_the_loop_unless_it_hangs(harness: Any) -> None:
    harness.launcher.begin_at_once = False  # the worker sends the heartbeats of its job, too
    job_id = harness.running()
    harness.pass_by(1)
    harness.clock[0] += HANGS_AFTER_S - 1  # the loop is busy, the thread is not
    harness.worker.beat()
    beaten = harness.job(job_id).heartbeat_at
    assert beaten.timestamp() == harness.clock[0]
    harness.clock[0] += 1
    harness.worker.beat()
    assert harness.job(job_id).heartbeat_at == beaten


def test_jobs_wait_in_the_queue_while_the_disk_is_full(harness: Any) -> None:
    harness.worker.has_space = lambda: False
    job_id = harness.ask()
    harness.pass_by(SPACE_EVERY_S)
    assert (harness.status(job_id), harness.job(job_id).progress.waiting_for) == ("queued", "disk")
    harness.worker.has_space = lambda: True
    harness.pass_by(SPACE_EVERY_S)
    assert harness.status(job_id) == "running"


def test_a_job_says_what_it_waits_for(harness: Any) -> None:
    first, second, third = (harness.ask(name) for name in "abc")
    assert harness.job(first).progress.waiting_for == "worker"
    harness.launcher.instead[second] = Launched(waits_for=first)
    harness.worker.step()
    assert harness.job(first).progress.waiting_for == "processor"
    assert harness.job(third).progress.waiting_for == "worker"
    harness.pass_by(1)
    assert harness.job(second).progress.waiting_for == "lease"


def test_a_job_that_waits_for_its_twin_holds_no_place_and_comes_first(harness: Any) -> None:
    first, second, third, fourth = (harness.ask(name) for name in "abcd")
    harness.launcher.instead[second] = Launched(waits_for=first)
    harness.worker.step()
    assert harness.launcher.launched == [first, second]
    harness.pass_by(1)
    assert harness.launcher.launched == [first, second, third]
    assert harness.status(second) == "running"
    jobs.finish(harness.control, first, "completed")
    harness.launcher.runs[first].is_gone = True
    harness.pass_by(1)
    assert harness.launcher.launched == [first, second, third, second]
    harness.pass_by(100)
    assert harness.status(second) == harness.status(third) == "running"
    assert harness.status(fourth) == "queued"


def test_of_ten_jobs_two_run_at_a_time_people_first_and_oldest_first(harness: Any) -> None:
    schedules = [harness.ask(name, priority=PRIORITY_SCHEDULED) for name in "abcde"]
    people = [harness.ask(name) for name in "fghij"]
    order = [*people, *schedules]
    for number, job_id in enumerate(order):
        harness.pass_by(1)
        assert harness.launcher.launched == order[: number + 2]
        assert harness.status(job_id) == "running"
        jobs.finish(harness.control, job_id, "completed")
        harness.launcher.runs[job_id].is_gone = True
    harness.pass_by(1)
    assert {harness.status(job_id) for job_id in order} == {"completed"}


def test_a_waiting_job_can_be_cancelled(harness: Any) -> None:
    first, second = harness.ask("a"), harness.ask("b")
    harness.launcher.instead[second] = Launched(waits_for=first)
    harness.worker.step()
    harness.pass_by(1)
    jobs.request_cancel(harness.control, second)
    harness.pass_by(1)
    assert (harness.status(second), harness.status(first)) == ("cancelled", "running")


def test_a_worker_that_stops_hands_its_jobs_back_without_a_lost_attempt(harness: Any) -> None:
    first, second, third = harness.running("a"), harness.ask("b"), harness.ask("c")
    harness.launcher.instead[second] = Launched(waits_for=first)
    harness.worker.step()
    harness.pass_by(1)
    jobs.request_cancel(harness.control, third)
    harness.worker.hand_back_all("The worker was stopped")
    assert [harness.status(name) for name in (first, second, third)] == [
        "queued", "queued", "cancelled",
    ]  # fmt: skip
    assert harness.run_status(first) == DagsterRunStatus.FAILURE
    harness.worker = harness.new_worker("two")
    harness.pass_by(1)
    job = harness.job(first)
    assert (job.status, job.attempt, job.run_number) == ("running", 1, 2)


def test_jobs_of_a_silent_worker_go_on_with_another(harness: Any) -> None:
    job_id = harness.running()
    harness.launcher.runs[job_id].is_silent = True
    harness.worker = harness.new_worker("two")
    harness.notice_silence()
    job = harness.job(job_id)
    assert (job.status, job.worker_id, job.attempt) == ("running", "two", 2)
    assert harness.run_status(job_id) == DagsterRunStatus.FAILURE


@dataclass
class RemoteStore:
    """A control store whose server can be away."""

    store: ControlStore
    is_away: bool = False

    def __getattr__(self, name: str) -> Any:
        if self.is_away:
            raise WarehouseUnavailableError("reading the control store failed", retry_after=5)
        return getattr(self.store, name)


def test_scans_go_on_while_the_control_store_is_away(harness: Any) -> None:
    store = harness.worker.control = RemoteStore(harness.control)
    job_id = harness.running()
    store.is_away = True
    assert not harness.worker.try_step()
    harness.clock[0] += OUTAGE_LIMIT_S - 1
    assert not harness.worker.try_step()
    store.is_away = False
    assert harness.worker.try_step()
    harness.worker.beat()
    assert (harness.status(job_id), harness.job(job_id).attempt) == ("running", 1)
    assert job_id in harness.worker.held


def test_a_worker_ends_when_its_store_stays_away_and_at_once_for_other_faults(harness: Any) -> None:
    store = harness.worker.control = RemoteStore(harness.control, is_away=True)
    assert not harness.worker.try_step()
    harness.clock[0] += OUTAGE_LIMIT_S
    with pytest.raises(WarehouseUnavailableError):
        harness.worker.try_step()
    store.is_away = False
    assert harness.worker.try_step()
    harness.worker.has_space = lambda: 1 / 0
    harness.clock[0] += SPACE_EVERY_S
    with pytest.raises(ZeroDivisionError):
        harness.worker.try_step()


def test_a_scan_that_ends_while_the_store_is_away_is_tried_again(harness: Any) -> None:
    store = harness.worker.control = RemoteStore(harness.control)
    job_id = harness.running()
    harness.launcher.runs[job_id].is_gone = True
    store.is_away = True
    assert not harness.worker.try_step()
    store.is_away = False
    harness.notice_silence()
    assert (harness.status(job_id), harness.job(job_id).attempt) == ("running", 2)
