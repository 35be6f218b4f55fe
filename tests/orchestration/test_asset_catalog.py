"""Rows written outside of a run reach Dagster's asset catalog, once, and never disturb a worker."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance
from structlog.testing import capture_logs

from pipelines.orchestration.dagster_compat import delete_runless_materializations
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.worker.asset_catalog import (
    EVERY_S,
    LEASE,
    LEASE_S,
    WRITTEN_OUTSIDE_RUNS,
    CatalogReporter,
)
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, leases, open_control
from warehouse.home import open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.records.values import Row
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

ERASURES = "raw.erasures"
VIDEOS = "raw.videos"
ERASURE: Row = {"erasure_id": "1", "salt": "2", "marks": [], "erased_at": datetime.now(UTC)}


@dataclass
class FakeLake:
    """Commits by table; version 0 is the creation of the table."""

    clock: FakeClock
    commits: dict[str, list[Row]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    log_reads: int = 0

    def write(self, name: str, rows: int = 1, **marks: str) -> None:
        commit: Row = {"operation": "WRITE", "operationMetrics": {"num_added_rows": rows}}
        self._commit(name, commit | marks)

    def compact(self, name: str) -> None:
        self._commit(name, {"operation": "OPTIMIZE"})

    def _commit(self, name: str, commit: Row) -> None:
        stamp = int(self.clock.unix() * 1000)
        self.commits.setdefault(name, []).append(commit | {"timestamp": stamp})

    def version(self, name: str) -> int:
        if name in self.broken:
            raise OSError("the table cannot be read")
        return len(self.commits.get(name, []))

    def log_since(self, name: str, version: int) -> list[Row]:
        self.log_reads += 1
        return self.commits.get(name, [])[version:][::-1]

    def row_count(self, name: str) -> int | None:
        metrics: list[Any] = [one.get("operationMetrics", {}) for one in self.commits[name]]
        return sum(int(one.get("num_added_rows", 0)) for one in metrics)


@dataclass
class Catalog:
    """An instance in memory that can be out of reach."""

    instance: DagsterInstance
    is_down: bool = False

    def get_latest_materialization_event(self, asset_key: AssetKey) -> Any:
        return self.instance.get_latest_materialization_event(asset_key)

    def report_runless_asset_event(self, asset_event: AssetMaterialization) -> None:
        if self.is_down:
            raise ConnectionError("the catalog is out of reach")
        self.instance.report_runless_asset_event(asset_event)

    def reports(self, name: str) -> list[dict[str, Any]]:
        key = AssetKey(name.split("."))
        found = self.instance.fetch_materializations(key, limit=10, ascending=True).records
        events = [record.asset_materialization for record in found]
        return [
            {key: one.value for key, one in event.metadata.items()} for event in events if event
        ]

    def versions(self, name: str) -> list[int]:
        return [one["delta_version"] for one in self.reports(name)]


@dataclass
class Stage:
    clock: FakeClock
    lake: FakeLake
    control: ControlStore
    catalog: Catalog

    def reporter(self, owner: str = "worker") -> CatalogReporter:
        return CatalogReporter(
            owner=owner, lake=self.lake, control=self.control, catalog=self.catalog,
            clock=self.clock.monotonic,
        )  # fmt: skip


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def stage(tmp_path: Path, clock: FakeClock) -> Iterator[Stage]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with ExitStack() as stack:
        control = open_control(url, world="sandbox", clock=clock.unix)
        stack.enter_context(closing(control))
        instance = stack.enter_context(DagsterInstance.ephemeral())
        yield Stage(clock, FakeLake(clock), control, Catalog(instance))


def test_every_reported_table_is_a_table_of_the_contract() -> None:
    assert set(WRITTEN_OUTSIDE_RUNS) <= BY_NAME.keys()


def test_a_refresh_is_reported_with_version_rows_and_time(stage: Stage) -> None:
    stage.lake.write(VIDEOS, rows=3)
    stage.lake.write(VIDEOS, rows=4)
    stage.reporter().step()
    report = {
        "delta_version": 2,
        "rows_added": 7,
        "dagster/row_count": 7,
        "committed_at": stage.clock.unix(),
    }
    assert stage.catalog.reports(VIDEOS) == [report]


def test_a_refresh_is_reported_within_a_minute_and_once(stage: Stage) -> None:
    reporter = stage.reporter()
    reporter.step()
    stage.lake.write(VIDEOS)
    reporter.step()
    assert stage.catalog.versions(VIDEOS) == []  # not due yet
    stage.clock.advance(60)
    reporter.step()
    assert stage.catalog.versions(VIDEOS) == [1]
    stage.clock.advance(60)
    reporter.step()
    assert stage.catalog.versions(VIDEOS) == [1]


def test_tables_that_did_not_change_cost_no_look_into_their_logs(stage: Stage) -> None:
    stage.lake.write(VIDEOS)
    reporter = stage.reporter()
    reporter.step()
    stage.lake.log_reads = 0
    stage.clock.advance(EVERY_S)
    reporter.step()
    assert stage.lake.log_reads == 0


def test_asset_catalog_does_not_report_scan_rows_and_compactions(stage: Stage) -> None:
    stage.lake.write(VIDEOS, job_id="job")
    stage.lake.compact(VIDEOS)
    stage.lake.write("raw.sounds")
    stage.reporter().step()
    assert stage.catalog.versions(VIDEOS) == []
    assert stage.catalog.versions("raw.sounds") == []


def test_a_write_test_of_the_doctor_is_no_probe(stage: Stage) -> None:
    stage.lake.write("marts.surface_health", write_test="true")
    stage.reporter().step()
    assert stage.catalog.versions("marts.surface_health") == []
    stage.lake.write("marts.surface_health", rows=14)
    stage.clock.advance(EVERY_S)
    stage.reporter().step()
    (report,) = stage.catalog.reports("marts.surface_health")
    assert report["rows_added"] == 14


def test_asset_catalog_does_not_repeat_a_report_of_a_run(stage: Stage) -> None:
    stage.lake.write("raw.chart_songs")
    stage.lake.commits["raw.chart_songs"][0]["timestamp"] = 1  # Dagster stamps events itself
    event = AssetMaterialization(["raw", "chart_songs"], metadata={"issues_new": 1})
    stage.catalog.instance.report_runless_asset_event(event)
    stage.reporter().step()
    assert stage.catalog.reports("raw.chart_songs") == [{"issues_new": 1}]


def test_a_refresh_just_before_a_scan_reports_the_table_is_reported_too(stage: Stage) -> None:
    reporter = stage.reporter()
    reporter.step()
    stage.lake.write("raw.tracks", rows=2)
    stage.lake.write("raw.tracks", job_id="job")
    for commit in stage.lake.commits["raw.tracks"]:
        commit["timestamp"] = 1  # Dagster stamps events itself
    event = AssetMaterialization(["raw", "tracks"], metadata={"requests": 1})
    stage.catalog.instance.report_runless_asset_event(event)
    stage.clock.advance(EVERY_S)
    reporter.step()
    reported = stage.catalog.reports("raw.tracks")[1:]
    assert [one["rows_added"] for one in reported] == [2]


def test_a_new_worker_goes_on_where_the_catalog_ends(stage: Stage) -> None:
    stage.lake.write(VIDEOS)
    first = stage.reporter("first")
    first.step()
    first.close()
    stage.lake.write(VIDEOS)
    stage.reporter("second").step()
    assert stage.catalog.versions(VIDEOS) == [1, 2]
    assert stage.catalog.reports(VIDEOS)[1]["rows_added"] == 1


def test_of_two_workers_one_reports_and_the_other_takes_over(stage: Stage) -> None:
    first, second = stage.reporter("first"), stage.reporter("second")
    first.step()
    second.step()
    assert leases.holder(stage.control, LEASE) == "first"
    stage.lake.write(VIDEOS)
    second.step()
    assert stage.catalog.versions(VIDEOS) == []
    stage.clock.advance(LEASE_S)  # the first is gone
    second.step()
    assert stage.catalog.versions(VIDEOS) == [1]
    first.step()
    assert stage.catalog.versions(VIDEOS) == [1]


def test_a_catalog_out_of_reach_is_tried_again(stage: Stage) -> None:
    stage.lake.write(VIDEOS)
    stage.catalog.is_down = True
    reporter = stage.reporter()
    reporter.step()
    stage.catalog.is_down = False
    stage.clock.advance(EVERY_S)
    reporter.step()
    assert stage.catalog.versions(VIDEOS) == [1]


def test_a_broken_table_is_named_and_the_others_are_reported(stage: Stage) -> None:
    stage.lake.write(ERASURES)
    stage.lake.broken = {VIDEOS}
    with capture_logs() as lines:
        stage.reporter().step()
    assert stage.catalog.versions(ERASURES) == [1]
    assert VIDEOS in str(lines)


def test_a_control_store_out_of_reach_raises_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*given: object) -> None:
        raise ConnectionError(*given)

    stage.lake.write(VIDEOS)
    reporter = stage.reporter()
    with monkeypatch.context() as patched:
        patched.setattr(leases, "acquire", away)
        patched.setattr(leases, "release", away)
        reporter.step()
        reporter.close()
    stage.clock.advance(EVERY_S)
    reporter.step()
    assert stage.catalog.versions(VIDEOS) == [1]


def test_a_real_lake_is_reported_to_the_instance_of_its_home(
    tmp_path: Path, clock: FakeClock
) -> None:
    home = open_home(tmp_path, "sandbox")
    lake: Lake = open_lake(home.lake_url, world="sandbox")
    with (
        closing(open_control(home.control_url, world="sandbox")) as control,
        open_instance(home) as instance,
    ):
        reporter = CatalogReporter(
            owner="worker", lake=lake, control=control, catalog=instance, clock=clock.monotonic
        )
        lake.append(ERASURES, [ERASURE, ERASURE])
        lake.append(ERASURES, [ERASURE], job_id="job")
        reporter.step()
        lake.append(ERASURES, [ERASURE])
        lake.compact(ERASURES)
        clock.advance(60)
        reporter.step()
        reports = Catalog(instance).reports(ERASURES)
    assert [one["delta_version"] for one in reports] == [2, 4]
    assert [one["rows_added"] for one in reports] == [2, 1]
    assert [one["dagster/row_count"] for one in reports] == [3, 4]
    assert reports[0]["committed_at"] <= reports[1]["committed_at"]


def test_old_reports_are_deleted_but_for_the_newest_of_each_table(tmp_path: Path) -> None:
    home = open_home(tmp_path, "sandbox")
    with open_instance(home) as instance:
        for version, name in [(1, VIDEOS), (2, VIDEOS), (1, ERASURES)]:
            event = AssetMaterialization(name.split("."), metadata={"delta_version": version})
            instance.report_runless_asset_event(event)
        now, catalog = datetime.now(UTC), Catalog(instance)
        assert delete_runless_materializations(instance, now - timedelta(days=1)) == 0
        assert delete_runless_materializations(instance, now + timedelta(days=1)) == 1
        assert (catalog.versions(VIDEOS), catalog.versions(ERASURES)) == ([2], [1])


def test_a_store_without_tables_has_no_reports_to_delete() -> None:
    instance: Any = SimpleNamespace(event_log_storage=object())
    assert delete_runless_materializations(instance, datetime.now(UTC)) == 0
