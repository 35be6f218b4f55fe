"""Watchlists in the orchestrator: a sensor that takes what is due, two jobs, a partition each."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dagster import (
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    DefaultSensorStatus,
    DeleteDynamicPartitionsRequest,
    ExecuteInProcessResult,
    RunRequest,
    SensorResult,
    SkipReason,
    build_sensor_context,
)

from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.runs.reconciliation import EndedLaunches
from pipelines.orchestration.watchlist_runs import LAUNCHED_AT_ONCE
from pipelines.orchestration.watchlist_runs import watchlists as watchlist_sensor
from pipelines.watchlists.alerts import RETRY_AFTER_S, AlertMessage
from pipelines.watchlists.run import WatchlistRunner
from pipelines.watchlists.schedule import to_cron
from tests.watchlists.simulated_songs import PLAN, Clock, FakeScanService, Songs, build_runner
from warehouse.control import open_control, watchlists
from warehouse.records.alerts import AlertAttempt, AlertChannel, AlertOutcome
from warehouse.records.errors import ProfileNotChosenError

pytestmark = pytest.mark.full

SIX_HOURS = timedelta(hours=6)


class Watches:
    """A watcher that is open already."""

    def __init__(
        self, watcher: WatchlistRunner, clock: Clock, scan_service: FakeScanService
    ) -> None:
        self.watcher = watcher
        self.clock = clock
        self.scan_service = scan_service

    @contextmanager
    def open(self) -> Iterator[WatchlistRunner]:
        yield self.watcher


class NoProfile:
    """No profile is chosen."""

    @contextmanager
    def open(self) -> Iterator[WatchlistRunner]:
        raise ProfileNotChosenError("No platform profile is chosen")
        yield


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def watches(tmp_path: Path) -> Iterator[Watches]:
    clock = Clock()
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock)) as control:
        watchlists.create(control, PLAN, to_cron(PLAN.every))
        scan_service = FakeScanService(control, Songs(clock))
        yield Watches(
            build_runner(control, scan_service, tmp_path / "digests"), clock, scan_service
        )


def look(watches: object, instance: DagsterInstance) -> SensorResult | SkipReason:
    context = build_sensor_context(instance=instance, resources={"watches": watches})
    found = watchlist_sensor(context)
    assert isinstance(found, SensorResult | SkipReason)
    if isinstance(found, SensorResult):
        for wanted in found.dynamic_partitions_requests or []:
            instance.add_dynamic_partitions(wanted.partitions_def_name, wanted.partition_keys)
    return found


def requests(found: SensorResult | SkipReason) -> list[RunRequest]:
    assert isinstance(found, SensorResult)
    return list(found.run_requests or [])


def launch(
    watches: object, instance: DagsterInstance, request: RunRequest
) -> ExecuteInProcessResult:
    job = build_definitions(watches=watches).resolve_job_def(str(request.job_name))
    return job.execute_in_process(
        run_config=request.run_config,
        partition_key=request.partition_key,
        tags=dict(request.tags),
        instance=instance,
        raise_on_error=False,
    )


def test_a_due_run_is_begun_and_concluded_by_what_the_sensor_asks_for(
    watches: Watches, instance: DagsterInstance
) -> None:
    assert requests(look(watches, instance)) == []
    assert instance.get_dynamic_partitions("watchlists") == [PLAN.name]
    watches.clock.now += SIX_HOURS
    (begin,) = requests(look(watches, instance))
    assert (begin.job_name, begin.partition_key) == ("run_watchlist", PLAN.name)
    assert [one.run_key for one in requests(look(watches, instance))] == [begin.run_key]
    begun = launch(watches, instance, begin)
    (shown,) = begun.asset_materializations_for_node("raw__watched_screens")
    assert shown.metadata["handed_in"].value == 5

    (conclude,) = requests(look(watches, instance))
    assert conclude.job_name == "conclude_watchlist"
    ended = launch(watches, instance, conclude)
    (shown,) = ended.asset_materializations_for_node("marts__watch_digests")
    assert shown.partition == PLAN.name
    counts = {name: shown.metadata[name].value for name in ("change_count", "completed_count")}
    assert counts == {"change_count": 0, "completed_count": 5}
    assert requests(look(watches, instance)) == []


def test_a_launch_that_failed_before_it_had_the_run_is_repeated(
    watches: Watches, instance: DagsterInstance
) -> None:
    look(watches, instance)
    watches.clock.now += SIX_HOURS
    (begin,) = requests(look(watches, instance))
    assert not launch(NoProfile(), instance, begin).success
    (again,) = requests(look(watches, instance))
    assert again.run_key != begin.run_key, "Dagster launches a key once"
    assert launch(watches, instance, again).success

    (conclude,) = requests(look(watches, instance))
    assert not launch(NoProfile(), instance, conclude).success
    (again,) = requests(look(watches, instance))
    assert (again.job_name, again.run_key != conclude.run_key) == ("conclude_watchlist", True)
    assert launch(watches, instance, again).success
    assert requests(look(watches, instance)) == []


def test_a_message_that_was_not_sent_is_sent_by_a_later_launch(
    watches: Watches, instance: DagsterInstance
) -> None:
    outcomes: list[AlertOutcome] = ["sent", "unreachable"]
    titles: list[str] = []

    def send(_url: str, message: AlertMessage) -> AlertAttempt:
        titles.append(message.title)
        return AlertAttempt(at=watches.clock.now, outcome=outcomes.pop())

    watches.watcher = replace(watches.watcher, send_alert=send)
    channel = AlertChannel(
        name="chat", url="json://x", service="JSON", language="en", created_at=watches.clock.now
    )
    watchlists.create_channel(watches.watcher.control, channel)
    watches.scan_service.failing.add(PLAN.entries[0].input)
    look(watches, instance)
    watches.clock.now += SIX_HOURS
    for _ in ("begin", "conclude"):
        (request,) = requests(look(watches, instance))
        assert launch(watches, instance, request).success
    assert requests(look(watches, instance)) == []
    watches.clock.now += timedelta(seconds=RETRY_AFTER_S[0])
    (again,) = requests(look(watches, instance))
    assert launch(watches, instance, again).success
    assert len(titles) == 2
    assert requests(look(watches, instance)) == []


def test_runs_that_cannot_be_concluded_pause_and_do_not_hold_up_the_others(
    watches: Watches, instance: DagsterInstance
) -> None:
    for number in range(LAUNCHED_AT_ONCE):
        plan = replace(PLAN, name=f"stuck-{number}")
        watchlists.create(watches.watcher.control, plan, to_cron(plan.every))
        run_id = watchlists.request_run(watches.watcher.control, plan.name, origin="api")
        assert run_id is not None
        watches.watcher.begin(run_id)
    stuck = requests(look(watches, instance))
    assert {one.job_name for one in stuck} == {"conclude_watchlist"}
    watches.clock.now += SIX_HOURS
    for request in stuck:
        fail(instance, request)
    first, *others = requests(look(watches, instance))
    assert (first.partition_key, len(others)) == (PLAN.name, LAUNCHED_AT_ONCE - 1)
    for request in stuck:
        for _ in range(9):
            fail(instance, request)
    assert [one.partition_key for one in requests(look(watches, instance))] == [PLAN.name]


def fail(instance: DagsterInstance, request: RunRequest) -> None:
    """The daemon has launched a request, and its run has failed."""
    name, tags = str(request.job_name), dict(request.tags)
    instance.add_run(DagsterRun(name, status=DagsterRunStatus.FAILURE, tags=tags))


@pytest.mark.parametrize(
    ("count", "pause_s"), [(1, 0), (2, 20), (3, 60), (4, 140), (9, 3600), (4000, 3600)]
)
def test_the_pause_between_launches_grows_to_an_hour(count: int, pause_s: int) -> None:
    newest = datetime(2026, 3, 2, tzinfo=UTC)
    ended, over = EndedLaunches(count, newest), newest + timedelta(seconds=pause_s)
    assert not ended.is_pausing(over)
    assert pause_s == 0 or ended.is_pausing(over - timedelta(seconds=1))


def test_one_click_runs_a_watchlist_outside_its_rhythm(
    watches: Watches, instance: DagsterInstance
) -> None:
    look(watches, instance)
    click = RunRequest(job_name="run_watchlist", partition_key=PLAN.name)
    assert launch(watches, instance, click).success
    (run,) = watchlists.newest_runs(watches.watcher.control, PLAN.name, limit=9)
    assert (run.origin, run.status) == ("launchpad", "waiting")
    click = RunRequest(job_name="conclude_watchlist", partition_key=PLAN.name)
    assert launch(watches, instance, click).success
    assert not launch(watches, instance, click).success


def test_one_click_concludes_an_open_run_behind_a_skipped_one(
    watches: Watches, instance: DagsterInstance
) -> None:
    watches.scan_service.is_slow = True
    look(watches, instance)
    begin = RunRequest(job_name="run_watchlist", partition_key=PLAN.name)
    assert launch(watches, instance, begin).success
    watches.clock.now += SIX_HOURS
    look(watches, instance)
    runs = watchlists.newest_runs(watches.watcher.control, PLAN.name, limit=9)
    assert [run.status for run in runs] == ["skipped", "waiting"]
    watches.scan_service.work()
    click = RunRequest(job_name="conclude_watchlist", partition_key=PLAN.name)
    assert launch(watches, instance, click).success


def test_watchlist_run_with_open_scans_writes_no_digest(
    watches: Watches, instance: DagsterInstance
) -> None:
    watches.scan_service.is_slow = True
    look(watches, instance)
    assert launch(
        watches, instance, RunRequest(job_name="run_watchlist", partition_key=PLAN.name)
    ).success
    click = RunRequest(job_name="conclude_watchlist", partition_key=PLAN.name)
    ended = launch(watches, instance, click)
    assert not ended.success
    assert ended.asset_materializations_for_node("marts__watch_digests") == []


def test_many_due_lists_do_not_start_as_many_processes_at_once(
    watches: Watches, instance: DagsterInstance
) -> None:
    for number in range(9):
        plan = replace(PLAN, name=f"list-{number}")
        watchlists.create(watches.watcher.control, plan, to_cron(plan.every))
    watches.clock.now += SIX_HOURS
    assert len(requests(look(watches, instance))) == LAUNCHED_AT_ONCE


def test_a_list_that_was_removed_loses_its_partition(
    watches: Watches, instance: DagsterInstance
) -> None:
    look(watches, instance)
    assert watchlists.delete_with_runs(watches.watcher.control, PLAN.name)
    found = look(watches, instance)
    assert isinstance(found, SensorResult)
    [wanted] = found.dynamic_partitions_requests or []
    assert isinstance(wanted, DeleteDynamicPartitionsRequest)
    assert wanted.partition_keys == [PLAN.name]
    assert found.run_requests == []


def test_without_a_profile_the_sensor_says_so(instance: DagsterInstance) -> None:
    found = look(NoProfile(), instance)
    assert isinstance(found, SkipReason)
    assert "profile" in str(found.skip_message)


def test_the_sensor_is_on_from_the_start() -> None:
    assert watchlist_sensor.default_status == DefaultSensorStatus.RUNNING
