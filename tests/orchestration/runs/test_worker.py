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


def test_a_run_that_was_given_up_and_comes_back_changes_nothing(house: Any) -> None:
    job_id = house.running()
    asleep = house.worker
    house.launcher.runs[job_id].is_silent = True
    house.worker = house.new_worker("two")
    house.notice_silence()
    assert (house.job(job_id).worker_id, house.job(job_id).attempt) == ("two", 2)
    progress = ProgressRecord(candidate_pool_count=99)
    jobs.save_progress(house.control, job_id, progress, run_number=1)
    assert house.job(job_id).progress != progress
    assert not jobs.finish(house.control, job_id, "completed", run_number=1)
    asleep.step()
    house.pass_by(1)
    assert (house.status(job_id), house.job(job_id).run_number) == ("running", 2)


def test_a_worker_that_is_late_on_a_starved_machine_keeps_its_job(house: Any) -> None:
    job_id = house.running()
    starved = house.worker
    house.worker = house.new_worker("two")
    for _ in range(5):  # both get the processor only every 30 seconds
        house.pass_by(30)
        starved.beat()
    assert (house.job(job_id).worker_id, house.job(job_id).attempt) == ("one", 1)


def test_after_a_sleep_of_the_machine_nobody_is_given_up_at_the_first_look(house: Any) -> None:
    job_id = house.running()
    awake = house.worker
    house.worker = house.new_worker("two")
    house.pass_by(3600)
    house.pass_by(house.worker.settings.heartbeat_s)
    awake.step()
    awake.beat()
    house.pass_by(house.worker.settings.heartbeat_s)
    assert (house.job(job_id).worker_id, house.job(job_id).attempt) == ("one", 1)


def test_a_remote_run_that_is_killed_costs_one_attempt(house: Any) -> None:
    """The worker that submitted it sees its heartbeats end, and then its run."""
    house.worker = house.new_worker("one", runs=1)
    house.launcher.runs_outlive_worker = True
    job_id = house.running()
    for attempt in (1, 2):
        run_number = house.job(job_id).run_number
        killed = house.launcher.runs[job_id]
        killed.is_silent = True
        house.notice_silence()
        killed.is_gone = True
        house.pass_by(1)
        assert house.job(job_id).attempt == attempt + 1
        assert (house.status(job_id), house.job(job_id).run_number) == ("running", run_number + 1)


def test_heartbeats_do_not_wait_for_the_loop_unless_it_hangs(house: Any) -> None:
    house.launcher.begin_at_once = False  # the worker sends the heartbeats of its job, too
    job_id = house.running()
    house.pass_by(1)
    house.clock[0] += HANGS_AFTER_S - 1  # the loop is busy, the thread is not
    house.worker.beat()
    beaten = house.job(job_id).heartbeat_at
    assert beaten.timestamp() == house.clock[0]
    house.clock[0] += 1
    house.worker.beat()
    assert house.job(job_id).heartbeat_at == beaten


def test_jobs_wait_in_the_queue_while_the_disk_is_full(house: Any) -> None:
    house.worker.has_space = lambda: False
    job_id = house.ask()
    house.pass_by(SPACE_EVERY_S)
    assert (house.status(job_id), house.job(job_id).progress.waiting_for) == ("queued", "disk")
    house.worker.has_space = lambda: True
    house.pass_by(SPACE_EVERY_S)
    assert house.status(job_id) == "running"


def test_a_job_says_what_it_waits_for(house: Any) -> None:
    first, second, third = (house.ask(name) for name in "abc")
    assert house.job(first).progress.waiting_for == "worker"
    house.launcher.instead[second] = Launched(waits_for=first)
    house.worker.step()
    assert house.job(first).progress.waiting_for == "processor"
    assert house.job(third).progress.waiting_for == "worker"
    house.pass_by(1)
    assert house.job(second).progress.waiting_for == "lease"


def test_a_job_that_waits_for_its_twin_holds_no_place_and_comes_first(house: Any) -> None:
    first, second, third, fourth = (house.ask(name) for name in "abcd")
    house.launcher.instead[second] = Launched(waits_for=first)
    house.worker.step()
    assert house.launcher.launched == [first, second]
    house.pass_by(1)
    assert house.launcher.launched == [first, second, third]
    assert house.status(second) == "running"
    jobs.finish(house.control, first, "completed")
    house.launcher.runs[first].is_gone = True
    house.pass_by(1)
    assert house.launcher.launched == [first, second, third, second]
    house.pass_by(100)
    assert house.status(second) == house.status(third) == "running"
    assert house.status(fourth) == "queued"


def test_of_ten_jobs_two_run_at_a_time_people_first_and_oldest_first(house: Any) -> None:
    schedules = [house.ask(name, priority=PRIORITY_SCHEDULED) for name in "abcde"]
    people = [house.ask(name) for name in "fghij"]
    order = [*people, *schedules]
    for number, job_id in enumerate(order):
        house.pass_by(1)
        assert house.launcher.launched == order[: number + 2]
        assert house.status(job_id) == "running"
        jobs.finish(house.control, job_id, "completed")
        house.launcher.runs[job_id].is_gone = True
    house.pass_by(1)
    assert {house.status(job_id) for job_id in order} == {"completed"}


def test_a_waiting_job_can_be_cancelled(house: Any) -> None:
    first, second = house.ask("a"), house.ask("b")
    house.launcher.instead[second] = Launched(waits_for=first)
    house.worker.step()
    house.pass_by(1)
    jobs.request_cancel(house.control, second)
    house.pass_by(1)
    assert (house.status(second), house.status(first)) == ("cancelled", "running")


def test_a_worker_that_stops_hands_its_jobs_back_without_a_lost_attempt(house: Any) -> None:
    first, second, third = house.running("a"), house.ask("b"), house.ask("c")
    house.launcher.instead[second] = Launched(waits_for=first)
    house.worker.step()
    house.pass_by(1)
    jobs.request_cancel(house.control, third)
    house.worker.hand_back_all("The worker was stopped")
    assert [house.status(name) for name in (first, second, third)] == [
        "queued", "queued", "cancelled",
    ]  # fmt: skip
    assert house.run_status(first) == DagsterRunStatus.FAILURE
    house.worker = house.new_worker("two")
    house.pass_by(1)
    job = house.job(first)
    assert (job.status, job.attempt, job.run_number) == ("running", 1, 2)


def test_jobs_of_a_silent_worker_go_on_with_another(house: Any) -> None:
    job_id = house.running()
    house.launcher.runs[job_id].is_silent = True
    house.worker = house.new_worker("two")
    house.notice_silence()
    job = house.job(job_id)
    assert (job.status, job.worker_id, job.attempt) == ("running", "two", 2)
    assert house.run_status(job_id) == DagsterRunStatus.FAILURE


@dataclass
class RemoteStore:
    """A control store whose server can be away."""

    store: ControlStore
    is_away: bool = False

    def __getattr__(self, name: str) -> Any:
        if self.is_away:
            raise WarehouseUnavailableError("reading the control store failed", retry_after=5)
        return getattr(self.store, name)


def test_scans_go_on_while_the_control_store_is_away(house: Any) -> None:
    store = house.worker.control = RemoteStore(house.control)
    job_id = house.running()
    store.is_away = True
    assert not house.worker.try_step()
    house.clock[0] += OUTAGE_LIMIT_S - 1
    assert not house.worker.try_step()
    store.is_away = False
    assert house.worker.try_step()
    house.worker.beat()
    assert (house.status(job_id), house.job(job_id).attempt) == ("running", 1)
    assert job_id in house.worker.held


def test_a_worker_ends_when_its_store_stays_away_and_at_once_for_other_faults(house: Any) -> None:
    store = house.worker.control = RemoteStore(house.control, is_away=True)
    assert not house.worker.try_step()
    house.clock[0] += OUTAGE_LIMIT_S
    with pytest.raises(WarehouseUnavailableError):
        house.worker.try_step()
    store.is_away = False
    assert house.worker.try_step()
    house.worker.has_space = lambda: 1 / 0
    house.clock[0] += SPACE_EVERY_S
    with pytest.raises(ZeroDivisionError):
        house.worker.try_step()


def test_a_scan_that_ends_while_the_store_is_away_is_tried_again(house: Any) -> None:
    store = house.worker.control = RemoteStore(house.control)
    job_id = house.running()
    house.launcher.runs[job_id].is_gone = True
    store.is_away = True
    assert not house.worker.try_step()
    store.is_away = False
    house.notice_silence()
    assert (house.status(job_id), house.job(job_id).attempt) == ("running", 2)
