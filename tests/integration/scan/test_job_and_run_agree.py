"""Job row and orchestrator's run end together, whoever ends one of them."""

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.dagster_compat import GRPC_INFO_TAG
from pipelines.orchestration.runs.lost_runs import end_unserved_runs
from pipelines.orchestration.runs.reconciliation import (
    cancel_jobs_of_terminated_runs,
    end_run,
)
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG
from pipelines.orchestration.runs.scan_runs import open_instance
from pipelines.orchestration.sensors import WATCH_RUN_TAG
from pipelines.orchestration.worker.heartbeats import LOOKS
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.orchestration.worker.worker import (
    CANCEL_GRACE_S,
    HANGS_AFTER_S,
    OUTAGE_LIMIT_S,
    RECONCILE_EVERY_S,
    SPACE_EVERY_S,
    Worker,
)
from pipelines.settings import Settings
from tests.fake_runs import FakeRuns, empty_scan
from warehouse.control import ControlStore, NewJob, open_control
from warehouse.home.folder import open_home
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import (
    PRIORITY_INTERACTIVE,
    PRIORITY_SCHEDULED,
    Job,
    JobStatus,
    ProgressRecord,
)


@dataclass
class House:
    """A worker with everything but scans; `pass_by` moves all clocks."""

    control: ControlStore
    instance: DagsterInstance
    clock: list[float]
    runs: FakeRuns = field(default_factory=FakeRuns)

    def __post_init__(self) -> None:
        self.worker = self.new_worker("one")

    def new_worker(self, name: str, *, runs: int = 2) -> Worker:
        settings = Settings(_env_file=None, worker_runs=runs)
        return Worker(
            name,
            settings,
            self.control,
            self.instance,
            self.runs,
            lambda: self.clock[0],
            lambda: datetime.fromtimestamp(self.clock[0], UTC),
        )

    def pass_by(self, seconds: float) -> None:
        self.clock[0] += seconds
        self.worker.step()
        self.worker.beat()

    def notice_silence(self) -> None:
        """So much time passes that the worker gives up who has sent nothing, and claims."""
        self.pass_by(61)
        for _ in range(LOOKS):
            self.pass_by(self.worker.settings.heartbeat_s)

    def ask(self, name: str = "a", *, priority: int = PRIORITY_INTERACTIVE) -> str:
        self.clock[0] += 0.001
        new = NewJob(
            kind="scan", input=name, target=name, music_id=None, parameters={}, fingerprint=name,
            scan_key=None, origin="api" if priority == PRIORITY_INTERACTIVE else "schedule",
            priority=priority,
        )  # fmt: skip
        return self.control.create_or_join(new)[0].job_id

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
        found = self.control.job(job_id)
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
def house(tmp_path: Path, instance: DagsterInstance) -> Iterator[Any]:
    clock = [1_790_000_000.0]
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=lambda: clock[0])) as control:
        yield House(control, instance, clock)


def test_terminate_in_the_ui_asks_the_job_to_stop(house: Any) -> None:
    job_id = house.running()
    assert house.instance.run_launcher.terminate(job_id)
    assert house.run_status(job_id) == DagsterRunStatus.CANCELING
    house.pass_by(3)
    assert house.control.is_cancel_requested(job_id)
    assert house.status(job_id) == "running"


def test_a_run_marked_as_cancelled_at_once_stops_its_job_too(house: Any) -> None:
    job_id = house.running()
    house.instance.report_run_canceled(house.instance.get_run_by_id(job_id))
    house.pass_by(3)
    assert house.control.is_cancel_requested(job_id)


def test_a_job_that_ends_as_its_lost_run_is_terminated_is_not_kept_for_ever(house: Any) -> None:
    job_id = house.running()
    house.control.requeue(job_id, run_number=1, costs_attempt=True)
    house.instance.report_run_canceled(house.instance.get_run_by_id(job_id))
    kept_until = datetime(2027, 1, 1, tzinfo=UTC)
    cancel_jobs_of_terminated_runs(house.instance, house.control, [job_id], expires_at=kept_until)
    assert (house.status(job_id), house.job(job_id).expires_at) == ("cancelled", kept_until)


def test_a_run_of_something_else_is_terminated_as_ever(house: Any) -> None:
    run = house.instance.create_run_for_job(empty_scan, status=DagsterRunStatus.STARTED)
    assert not house.instance.run_launcher.terminate(run.run_id)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("failed", DagsterRunStatus.FAILURE),
        ("cancelled", DagsterRunStatus.CANCELED),
        ("completed", DagsterRunStatus.SUCCESS),
    ],
)
def test_a_job_ended_by_somebody_else_takes_its_run_along(
    house: Any, status: JobStatus, expected: DagsterRunStatus
) -> None:
    job_id = house.running()
    house.worker.running.clear()
    house.control.finish(job_id, status)
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.run_status(job_id) == expected


def test_a_run_whose_job_is_gone_is_ended_and_one_at_work_is_not(house: Any) -> None:
    job_id = house.running()
    left = house.instance.create_run_for_job(
        empty_scan, tags={ORIGIN_TAG: "api"}, status=DagsterRunStatus.STARTED
    )
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.run_status(left.run_id) == DagsterRunStatus.FAILURE
    assert house.run_status(job_id) == DagsterRunStatus.STARTED


def test_what_a_gone_code_server_ran_is_ended_and_what_a_live_one_runs_is_not(
    house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short

    def under_way(server: str | None, **tags: str) -> str:
        info = {} if server is None else {GRPC_INFO_TAG: f'{{"socket": "{server}"}}'}
        run = house.instance.create_run_for_job(
            empty_scan, tags=tags | info, status=DagsterRunStatus.STARTED
        )
        return str(run.run_id)

    with socket(AF_UNIX) as server:
        server.bind("live.sock")
        server.listen()
        lost = under_way("gone.sock")
        others = [
            under_way("live.sock"), under_way(None), under_way("gone.sock", **{ORIGIN_TAG: "api"})
        ]  # fmt: skip
        assert end_unserved_runs(house.instance) == [lost]
    assert house.run_status(lost) == DagsterRunStatus.FAILURE
    assert {house.run_status(one) for one in others} == {DagsterRunStatus.STARTED}


def test_no_number_of_local_scans_keeps_other_runs_waiting(house: Any) -> None:
    queue = house.instance.get_concurrency_config().run_queue_config
    assert queue.max_concurrent_runs == -1, "no limit over all runs"
    assert {limit["key"] for limit in queue.tag_concurrency_limits} == {
        "dagster/backfill", WATCH_RUN_TAG
    }  # fmt: skip


def test_a_scan_that_does_not_stop_is_ended_by_force(house: Any) -> None:
    job_id = house.running()
    house.control.request_cancel(job_id)
    house.pass_by(3)
    assert not house.runs.endings[job_id].is_gone
    house.pass_by(CANCEL_GRACE_S)
    assert house.runs.endings[job_id].is_gone
    house.pass_by(1)
    assert (house.status(job_id), house.run_status(job_id)) == (
        "cancelled",
        DagsterRunStatus.CANCELED,
    )


def test_a_cancelled_scan_that_has_not_begun_is_not_waited_for(house: Any) -> None:
    house.runs.begin_at_once = False
    job_id = house.ask()
    house.pass_by(1)
    house.control.request_cancel(job_id)
    house.pass_by(3)
    house.pass_by(1)
    assert house.status(job_id) == "cancelled"


def test_a_scan_whose_run_has_failed_begins_another_run(house: Any) -> None:
    job_id = house.running()
    house.instance.report_run_failed(house.instance.get_run_by_id(job_id))
    house.pass_by(3)
    house.pass_by(CANCEL_GRACE_S)
    house.pass_by(1)
    job = house.job(job_id)
    assert (job.status, job.attempt, job.run_number) == ("running", 2, 2)


def test_a_scan_that_loses_its_process_three_times_fails_with_the_reason(house: Any) -> None:
    job_id = house.running()
    for attempt in (1, 2, 3):
        assert (house.status(job_id), house.job(job_id).attempt) == ("running", attempt)
        house.runs.endings[job_id].is_gone = True
        house.pass_by(1)
    error = house.job(job_id).error
    assert (house.status(job_id), error["type"]) == ("failed", "worker_unavailable")
    assert error["detail"] == (
        "The process that ran this scan ended unexpectedly. 3 attempts were made"
    )
    assert house.run_status(job_id) == DagsterRunStatus.FAILURE


def test_a_job_is_cancelled_between_two_attempts(house: Any) -> None:
    job_id = house.running()
    house.worker.running.clear()
    assert house.control.requeue(job_id, run_number=1, costs_attempt=True)
    assert house.control.request_cancel(job_id).status == "cancelled"
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.runs.launched == [job_id]
    assert house.run_status(job_id) == DagsterRunStatus.CANCELED


def test_a_run_that_was_given_up_and_comes_back_changes_nothing(house: Any) -> None:
    job_id = house.running()
    asleep = house.worker
    house.worker = house.new_worker("two")
    house.notice_silence()
    assert (house.job(job_id).worker_id, house.job(job_id).attempt) == ("two", 2)
    progress = ProgressRecord(candidate_pool_count=99)
    house.control.save_progress(job_id, progress, run_number=1)
    assert house.job(job_id).progress != progress
    assert not house.control.finish(job_id, "completed", run_number=1)
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
    job_id = house.running()
    for attempt in (1, 2):
        run_number = house.job(job_id).run_number
        killed = house.runs.endings[job_id]
        killed.beats_itself = True
        house.notice_silence()
        killed.end = ScanEnd("handed_over")
        house.pass_by(1)
        assert house.job(job_id).attempt == attempt + 1
        assert (house.status(job_id), house.job(job_id).run_number) == ("running", run_number + 1)


def test_heartbeats_do_not_wait_for_the_loop_unless_it_hangs(house: Any) -> None:
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
    house.worker.step()
    assert house.job(first).progress.waiting_for == "processor"
    assert house.job(third).progress.waiting_for == "worker"
    house.runs.endings[second].end = ScanEnd("waiting", first)
    house.pass_by(1)
    assert house.job(second).progress.waiting_for == "lease"


def test_a_job_whose_process_was_killed_after_its_run_had_succeeded_is_completed(
    house: Any,
) -> None:
    job_id = house.running()
    end_run(house.instance, house.instance.get_run_by_id(job_id), a_completed(house.job(job_id)))
    house.runs.endings[job_id].is_gone = True
    house.pass_by(1)
    assert (house.status(job_id), house.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def test_a_worker_that_stops_completes_a_job_whose_run_has_just_succeeded(house: Any) -> None:
    job_id = house.running()
    end_run(house.instance, house.instance.get_run_by_id(job_id), a_completed(house.job(job_id)))
    house.worker.hand_back_all("The worker was stopped")
    assert (house.status(job_id), house.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def test_a_scan_whose_process_was_gone_before_it_began_is_begun_once_more(house: Any) -> None:
    job_id = house.ask()
    house.pass_by(1)
    for attempt in (1, 2):
        gone = house.runs.endings[job_id]
        gone.fault, gone.is_gone = BrokenProcessPool("All workers expired"), True
        house.pass_by(1)
        assert (house.status(job_id), house.job(job_id).attempt) == ("running", attempt)
    assert house.runs.launched == [job_id] * 3


def a_completed(job: Job) -> Job:
    return replace(job, status="completed")


def test_a_job_that_waits_for_its_twin_holds_no_place_and_comes_first(house: Any) -> None:
    first, second, third, fourth = (house.ask(name) for name in "abcd")
    house.worker.step()
    assert house.runs.launched == [first, second]
    house.runs.endings[second].end = ScanEnd("waiting", first)
    house.pass_by(1)
    assert house.runs.launched == [first, second, third]
    assert house.status(second) == "running"
    house.control.finish(first, "completed")
    house.runs.endings[first].end = ScanEnd("completed")
    house.pass_by(1)
    assert house.runs.launched == [first, second, third, second]
    house.pass_by(100)
    assert house.status(second) == house.status(third) == "running"
    assert house.status(fourth) == "queued"


def test_of_ten_jobs_two_run_at_a_time_people_first_and_oldest_first(house: Any) -> None:
    schedules = [house.ask(name, priority=PRIORITY_SCHEDULED) for name in "abcde"]
    people = [house.ask(name) for name in "fghij"]
    order = [*people, *schedules]
    for number, job_id in enumerate(order):
        house.pass_by(1)
        assert house.runs.launched == order[: number + 2]
        assert house.status(job_id) == "running"
        house.control.finish(job_id, "completed")
        house.runs.endings[job_id].end = ScanEnd("completed")
    house.pass_by(1)
    assert {house.status(job_id) for job_id in order} == {"completed"}


def test_a_waiting_job_can_be_cancelled(house: Any) -> None:
    first, second = house.ask("a"), house.ask("b")
    house.worker.step()
    house.runs.endings[second].end = ScanEnd("waiting", first)
    house.pass_by(1)
    house.control.request_cancel(second)
    house.pass_by(1)
    assert (house.status(second), house.status(first)) == ("cancelled", "running")


def test_a_worker_that_stops_hands_its_jobs_back_without_a_lost_attempt(house: Any) -> None:
    first, second, third = house.running("a"), house.ask("b"), house.ask("c")
    house.worker.step()
    house.runs.endings[second].end = ScanEnd("waiting", first)
    house.pass_by(1)
    house.control.request_cancel(third)
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
    assert job_id in house.worker.running


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
    house.runs.endings[job_id].end = ScanEnd("lost")
    store.is_away = True
    assert not house.worker.try_step()
    store.is_away = False
    house.notice_silence()
    assert (house.status(job_id), house.job(job_id).attempt) == ("running", 2)
