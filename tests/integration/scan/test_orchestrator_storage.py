"""The orchestrator's storages keep their connections, and all processes still see the same."""

import queue
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance, job, op

from pipelines.orchestration.runs.scan_runs import open_instance
from pipelines.orchestration.storage import (
    FOLDER_VARIABLE,
    PooledEventLogStorage,
    PooledRunStorage,
    dagster_folder,
)
from tests.stage import PATIENCE_S
from warehouse.home.folder import Home, open_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path, "sandbox")


@pytest.fixture
def instance(home: Home) -> Iterator[DagsterInstance]:
    with open_instance(home) as opened:
        yield opened


def test_the_instance_of_a_world_uses_them(instance: DagsterInstance) -> None:
    assert isinstance(instance.event_log_storage, PooledEventLogStorage)
    assert isinstance(instance.run_storage, PooledRunStorage)


@pytest.mark.parametrize(
    ("profile", "provider", "world"),
    [("", "", "sandbox"), ("sandbox", "", "sandbox"), ("", "file", "file"), ("", "mock", "mock")],
)
def test_dagsters_own_commands_open_the_world_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, provider: str, world: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PROFILE", profile)
    monkeypatch.setenv("DATA_PROVIDER", provider or "vidplat-public")
    assert Path(dagster_folder()) == tmp_path / world / "dagster"


def test_what_one_process_reports_another_reads(home: Home, instance: DagsterInstance) -> None:
    with open_instance(home) as other:
        instance.report_runless_asset_event(AssetMaterialization("told"))
        assert other.get_latest_materialization_event(AssetKey("told")) is not None


def test_the_file_is_read_without_them_once_they_are_closed(home: Home) -> None:
    with open_instance(home) as opened:
        opened.report_runless_asset_event(AssetMaterialization("told"))
    with sqlite3.connect(home.dagster_dir / "event_log.db") as plain:
        counted = plain.execute("select count(*) from event_logs").fetchone()
    plain.close()
    assert counted == (1,)


def test_who_watches_a_run_hears_of_its_events(instance: DagsterInstance) -> None:
    @op
    def idle() -> None:
        pass

    @job
    def short() -> None:
        idle()

    heard: queue.Queue[str] = queue.Queue()
    run = instance.create_run_for_job(short)
    instance.watch_event_logs(run.run_id, None, lambda entry, _cursor: heard.put(entry.run_id))
    instance.report_engine_event("something", run)
    assert heard.get(timeout=PATIENCE_S) == run.run_id
