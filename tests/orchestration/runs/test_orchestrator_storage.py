"""Dagster's instance: chosen by the settings, in the home, the same for all programs of a home."""

import queue
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from dagster import AssetKey, AssetMaterialization, DagsterInstance, job, op

from pipelines.orchestration.instance import dagster_environment, instance_config
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings
from tests.deployment import PATIENCE_S
from warehouse.home import Home, open_home
from warehouse.records.errors import WarehouseUnavailableError, WorkerUnavailableError

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path, "sandbox")


@pytest.fixture
def instance(home: Home) -> Iterator[DagsterInstance]:
    with open_instance(home) as opened:
        yield opened


def test_every_home_has_its_instance_in_its_own_folder(home: Home) -> None:
    with open_instance(home) as opened:
        config = opened.get_settings("run_storage"), opened.storage_directory()
    assert str(home.dagster_dir) in str(config)
    assert {path.name for path in home.dagster_dir.glob("*.db")} == {
        "event_log.db", "runs.db", "schedules.db"
    }  # fmt: skip


def test_dagsters_own_commands_store_in_the_home_of_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dagster.yaml` in the root of the repository, which they read there."""
    monkeypatch.chdir(ROOT)
    template = instance_config(Settings(_env_file=None), Path("warehouse/data/sandbox/dagster"))
    assert template == yaml.safe_load((ROOT / "dagster.yaml").read_text())
    home = open_home(Settings(_env_file=None).data_home, "sandbox")
    assert home.dagster_dir == (ROOT / "warehouse/data/sandbox/dagster")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("mysql://127.0.0.1/dagster", "no address of PostgreSQL"),
        ("postgresql://user:secret@127.0.0.1/control", "are the same database"),
    ],
)
def test_a_server_that_cannot_be_dagsters_is_refused(
    tmp_path: Path, address: str, problem: str
) -> None:
    settings = Settings(
        _env_file=None,
        dagster_storage_url=address,
        control_url="postgresql+psycopg://user:secret@127.0.0.1/control",
    )
    with pytest.raises(WarehouseUnavailableError, match=problem):
        instance_config(settings, tmp_path)


def test_the_password_of_a_server_is_in_no_file(home: Home) -> None:
    settings = Settings(
        _env_file=None, dagster_storage_url="postgresql+psycopg://user:secret@127.0.0.1/dagster"
    )
    variables = dagster_environment(settings, home)
    assert variables == {
        "DAGSTER_HOME": str(home.dagster_dir),
        "DAGSTER_STORAGE_URL": "postgresql://user:secret@127.0.0.1/dagster",
    }
    assert "secret" not in (home.dagster_dir / "dagster.yaml").read_text()


def test_a_broker_without_its_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(_env_file=None, celery_broker_url="redis://127.0.0.1:1/0")
    assert instance_config(settings, tmp_path)["run_launcher"]["class"] == "CeleryJobLauncher"
    monkeypatch.setattr("warehouse.extras.missing_libraries", lambda _extra: ["celery"])
    with pytest.raises(WorkerUnavailableError, match="CELERY_BROKER_URL needs the extra 'celery'"):
        instance_config(settings, tmp_path)


def test_dagster_event_of_one_instance_is_read_by_another(
    home: Home, instance: DagsterInstance
) -> None:
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


def test_watched_dagster_run_reports_its_events(instance: DagsterInstance) -> None:
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
