"""The chart in the orchestrator: months as partitions, a day's schedule, a sensor for the rest."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetKey,
    AssetMaterialization,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    ExecuteInProcessResult,
    RunRequest,
    SkipReason,
    build_schedule_context,
    build_sensor_context,
)

from pipelines.orchestration.assets.scan_steps import CONFIRMED
from pipelines.orchestration.chart_runs import (
    CHART_ISSUES,
    CHART_PLATFORM,
    CHART_SONGS,
    chart_schedule,
    chart_sensor,
    months,
)
from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.runs.open_instance import open_instance
from warehouse.home import open_home

pytestmark = pytest.mark.full

RANGE = "dagster/asset_partition_range_"


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def instance_on_disk(tmp_path: Path) -> Iterator[DagsterInstance]:
    """A schedule is given an instance only if another process could open it."""
    with open_instance(open_home(tmp_path, "sandbox")) as made:
        yield made


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    monkeypatch.setenv("MOCK_SIZE", "0.1")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))


def run(instance: DagsterInstance, **options: Any) -> ExecuteInProcessResult:
    job = build_definitions().resolve_job_def("read_chart")
    return job.execute_in_process(instance=instance, **options)


def metadata_of(ended: ExecuteInProcessResult, key: AssetKey) -> dict[str | None, Any]:
    """Metadata of an asset's materializations, by partition."""
    events = [event.step_materialization_data for event in ended.get_asset_materialization_events()]
    found = [event.materialization for event in events if event.materialization.asset_key == key]
    return {one.partition: {name: m.value for name, m in one.metadata.items()} for one in found}


def test_a_range_of_months_is_one_run_that_tells_of_each(
    world: None, instance: DagsterInstance
) -> None:
    days = {f"{RANGE}start": "2022-02-01", f"{RANGE}end": "2022-03-01"}
    ended = run(instance, tags=days)
    assert ended.success
    songs = metadata_of(ended, CHART_SONGS)
    assert songs.keys() == metadata_of(ended, CHART_ISSUES).keys() == {"2022-02-01", "2022-03-01"}
    counts = songs["2022-03-01"]
    assert counts["issues_new"] == counts["issues_seen"] > 40
    assert counts["issues_seen"] + counts["gap_days"] == 59
    assert (counts["first_day"], counts["last_day"], counts["is_cut"]) == (
        "2022-02-01", "2022-03-31", False,
    )  # fmt: skip
    assert counts["issues_by_month"].count("\n| 2022-0") == 2
    judged = metadata_of(ended, CHART_PLATFORM)[None]
    assert judged["issues"] == counts["issues_seen"]

    again = run(instance, partition_key="2022-03-01")
    counts = metadata_of(again, CHART_SONGS)["2022-03-01"]
    assert (counts["issues_new"], counts["issues_known_before"]) == (0, counts["issues_seen"])


def test_a_month_after_the_latest_issue_is_cut_to_nothing(
    world: None, instance: DagsterInstance
) -> None:
    ended = run(instance, partition_key=months.get_last_partition_key())
    assert ended.success
    (counts,) = metadata_of(ended, CHART_SONGS).values()
    assert (counts["issues_seen"], counts["is_cut"]) == (0, True)
    assert (counts["last_day"], counts["latest_issue"] < counts["first_day"]) == ("none", True)


@pytest.mark.parametrize(
    ("day", "keys"),
    [(4, ["2026-02-01", "2026-03-01"]), (15, ["2026-03-01"])],
    ids=["young month", "later"],
)
def test_the_schedule_reads_on_the_month_and_a_young_ones_predecessor(
    instance_on_disk: DagsterInstance, day: int, keys: list[str]
) -> None:
    requests = due_requests(instance_on_disk, datetime(2026, 3, day, 2, 10, tzinfo=UTC))
    assert [request.partition_key for request in requests] == keys
    assert len({request.run_key for request in requests}) == len(keys)


@pytest.mark.parametrize(
    ("read", "keys"),
    [
        ("2026-01-01", ["2026-01-01", "2026-02-01", "2026-03-01"]),
        ("2026-03-01", ["2026-03-01"]),
        ("2022-05-01", ["2026-03-01"]),
    ],
    ids=["two months missed", "nothing missed", "a back-fill of long ago"],
)
def test_the_schedule_makes_up_for_the_months_that_it_has_missed(
    instance_on_disk: DagsterInstance, read: str, keys: list[str]
) -> None:
    instance_on_disk.report_runless_asset_event(AssetMaterialization(CHART_SONGS, partition=read))
    requests = due_requests(instance_on_disk, datetime(2026, 3, 15, 2, 10, tzinfo=UTC))
    assert [request.partition_key for request in requests] == keys


def due_requests(instance: DagsterInstance, due: datetime) -> list[RunRequest]:
    with build_schedule_context(instance=instance, scheduled_execution_time=due) as context:
        found: Any = chart_schedule(is_on=False)(context)
        return list(found)


def test_the_sensor_judges_once_for_each_change(instance: DagsterInstance) -> None:
    look: Any = chart_sensor(is_on=False)
    assert isinstance(look(build_sensor_context(instance=instance)), SkipReason)
    keys: list[str | None] = []
    cursor: str | None = None
    for asset in (CONFIRMED, CHART_SONGS, CONFIRMED):
        instance.report_runless_asset_event(AssetMaterialization(asset, partition="2026-03-01"))
        context = build_sensor_context(instance=instance, cursor=cursor)
        request = look(context)
        assert isinstance(request, RunRequest)
        assert look(context).run_key == request.run_key, "Dagster launches a key once"
        keys.append(request.run_key)
        end_run(instance, request, DagsterRunStatus.SUCCESS)
        assert isinstance(look(context), SkipReason)
        cursor = context.cursor
        assert cursor
    assert len(set(keys)) == 3


def test_a_failed_run_is_made_up_for_with_growing_pauses(instance: DagsterInstance) -> None:
    look: Any = chart_sensor(is_on=False)
    instance.report_runless_asset_event(AssetMaterialization(CONFIRMED, partition="2026-03-01"))
    context = build_sensor_context(instance=instance)
    request = look(context)
    end_run(instance, request, DagsterRunStatus.FAILURE)
    again = look(context)
    assert isinstance(again, RunRequest)
    assert again.run_key != request.run_key
    for _ in range(9):
        end_run(instance, again, DagsterRunStatus.FAILURE)
    assert "10 runs have failed" in str(look(context).skip_message)
    end_run(instance, again, DagsterRunStatus.SUCCESS)
    assert look(context).skip_message == "nothing has changed"


def end_run(instance: DagsterInstance, request: RunRequest, status: DagsterRunStatus) -> None:
    """The daemon has launched a request, and its run has ended."""
    instance.add_run(DagsterRun("judge_chart", status=status, tags=dict(request.tags)))


@pytest.mark.parametrize("is_on", [True, False])
def test_chart_schedule_and_sensor_are_off_unless_chart_daily_is_set(is_on: bool) -> None:
    repository = build_definitions(chart_daily=is_on).get_repository_def()
    by_itself = repository.get_schedule_def("chart_schedule").default_status
    assert (by_itself == DefaultScheduleStatus.RUNNING) is is_on
    looks = repository.get_sensor_def("chart_platform").default_status
    assert (looks == DefaultSensorStatus.RUNNING) is is_on
