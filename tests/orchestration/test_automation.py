"""Assets of schedules have freshness policies; what is derived follows its tables if asked to."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise

import pytest
from cronsim import CronSim
from dagster import (
    AssetKey,
    AssetMaterialization,
    AutomationConditionSensorDefinition,
    DagsterInstance,
    DefaultSensorStatus,
    Definitions,
    FreshnessPolicy,
    evaluate_automation_conditions,
)
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor

from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.schedules import SCHEDULES, build_schedules

pytestmark = pytest.mark.full

NOON = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


@cache
def definitions() -> Definitions:
    """Built when a test runs, not when one is collected."""
    return build_definitions()


@cache
def sensor() -> AutomationConditionSensorDefinition:
    (found,) = [
        one
        for one in definitions().get_repository_def().sensor_defs
        if isinstance(one, AutomationConditionSensorDefinition)
    ]
    return found


def policies(**settings: object) -> dict[str, FreshnessPolicy]:
    graph = build_definitions(**settings).resolve_asset_graph()  # type: ignore[arg-type]
    nodes = [graph.get(key) for key in graph.get_all_asset_keys()]
    return {
        node.key.to_user_string(): node.freshness_policy
        for node in nodes
        if node.freshness_policy is not None
    }


def window(hours: float, too_old: float) -> FreshnessPolicy:
    return FreshnessPolicy.time_window(
        warn_window=timedelta(hours=hours), fail_window=timedelta(hours=too_old)
    )


def test_freshness_policy_warns_after_one_interval_and_fails_after_two() -> None:
    found = policies(hours={"canaries": 4, "database": 48, "maintenance": 24, "checks": 24})
    assert found == {
        "marts/surface_health": window(5, 9),
        "published/database": window(60, 108),
    }


def test_the_daily_chart_has_a_policy_of_a_day() -> None:
    keys = ("raw/chart_issues", "raw/chart_songs", "marts/chart_platform")
    assert policies(chart_daily=True) == dict.fromkeys(keys, window(30, 54))


def test_every_report_of_a_schedule_has_a_policy() -> None:
    graph = definitions().resolve_asset_graph()
    reports = {key.to_user_string() for key in graph.get_all_asset_keys() if "reports" in key.path}
    assert reports
    assert policies(hours={"reports": 24}).keys() == reports


def test_assets_without_a_schedule_have_no_freshness_policy() -> None:
    assert policies() == {}


@pytest.mark.parametrize("every_h", [1, 5, 23, 24, 36, 240])
def test_freshness_policy_allows_the_longest_pause_of_its_schedule(every_h: int) -> None:
    schedules = build_schedules({spec.name: every_h for spec in SCHEDULES})
    (schedule,) = [one for one in schedules if one.name == "database_schedule"]
    ticks = list(islice(CronSim(str(schedule.cron_schedule), NOON), 40))
    pause = max(after - before for before, after in pairwise(ticks))
    policy = policies(hours={"database": every_h})["published/database"]
    assert policy == window(*(factor * every(every_h) for factor in (1.25, 2.25)))
    assert pause / timedelta(hours=1) <= every(every_h)


def every(hours: int) -> int:
    """Whole days above a day."""
    return hours if hours < 24 else hours // 24 * 24


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as opened:
        yield opened


class Daemon:
    """Evaluates the conditions as the sensor would, minute by minute of our choice."""

    def __init__(self, instance: DagsterInstance) -> None:
        self.instance = instance
        self.cursor: AssetDaemonCursor | None = None

    def requests_at(self, time: datetime) -> set[str]:
        evaluated = evaluate_automation_conditions(
            defs=definitions(),
            instance=self.instance,
            asset_selection=sensor().asset_selection,
            evaluation_time=time,
            cursor=self.cursor,
        )
        self.cursor = evaluated.cursor
        return {
            key.to_user_string()
            for key in definitions().resolve_asset_graph().get_all_asset_keys()
            if evaluated.get_num_requested(key)
        }

    def report(self, *names: str, partition: str | None = None) -> None:
        for name in names:
            key = AssetKey(name.split("/"))
            event = AssetMaterialization(key, partition=partition)
            self.instance.report_runless_asset_event(event)


def test_the_sensor_is_stopped_until_somebody_starts_it() -> None:
    assert sensor().default_status == DefaultSensorStatus.STOPPED


def test_only_reports_and_publishing_have_automation_conditions() -> None:
    graph = definitions().resolve_asset_graph()
    groups = {
        graph.get(key).group_name
        for key in graph.get_all_asset_keys()
        if graph.get(key).automation_condition is not None
    }
    assert groups == {"reports", "publishing"}


def test_starting_the_sensor_launches_nothing_for_what_is_stored_already(
    instance: DagsterInstance,
) -> None:
    daemon = Daemon(instance)
    daemon.report("raw/chart_songs", partition="2026-10-01")
    assert daemon.requests_at(NOON) == set()
    assert daemon.requests_at(NOON + timedelta(hours=1)) == set()


def test_new_rows_of_a_table_launch_what_reads_it_once_and_not_before_the_hour(
    instance: DagsterInstance,
) -> None:
    daemon = Daemon(instance)
    assert daemon.requests_at(NOON) == set()
    daemon.report("raw/chart_songs", partition="2026-10-01")
    assert daemon.requests_at(NOON + timedelta(minutes=1)) == set()
    daemon.report("raw/chart_songs", partition="2026-10-01")
    assert daemon.requests_at(NOON + timedelta(minutes=23)) == {"reports/chart"}
    daemon.report("reports/chart")
    assert daemon.requests_at(NOON + timedelta(minutes=24)) == set()
    assert daemon.requests_at(NOON + timedelta(minutes=90)) == set()


def test_a_scan_of_any_track_launches_the_database_and_no_scan(instance: DagsterInstance) -> None:
    daemon = Daemon(instance)
    assert daemon.requests_at(NOON) == set()
    instance.add_dynamic_partitions("tracks", ["music:1"])
    daemon.report("marts/rankings", partition="music:1")
    requested = daemon.requests_at(NOON + timedelta(minutes=23))
    assert "published/database" in requested
    assert {name.split("/")[0] for name in requested} <= {"published", "reports"}
