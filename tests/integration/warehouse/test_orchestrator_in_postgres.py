"""Dagster's storages of the extra `postgres` work with the SQLAlchemy that is installed.

SQLAlchemy 2.1 reads `postgresql://` as psycopg 3, which refuses the parameter that dagster-postgres
gives to NOTIFY with every new event; `pyproject.toml` holds it below.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest
from dagster import AssetKey, AssetMaterialization
from dagster_postgres import (
    PostgresEventLogStorage,
    PostgresRunStorage,
    PostgresScheduleStorage,
)

from pipelines.erasure.account import forget_runs
from pipelines.orchestration.runs.scan_runs import open_instance
from pipelines.orchestration.storage import dagster_server
from tests.fake_runs import empty_scan
from warehouse.home.folder import Home, open_home
from warehouse.maintenance.erasure.names import AccountNames
from warehouse.records.errors import WarehouseUnavailableError

RUN = """
import json, sys
import dagster as dg

@dg.asset
def songs():
    return 7

with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
    result = dg.materialize([songs], instance=instance)
    kept = instance.get_latest_materialization_event(dg.AssetKey("songs"))
    print(json.dumps({
        "storage": type(instance.event_log_storage).__name__,
        "success": result.success,
        "is_kept": kept is not None,
        "runs": instance.get_runs_count(),
        "ticks": len(instance.get_ticks("none", "none")),
    }))
"""


def test_a_run_leaves_its_events_in_postgresql(postgres_url: str, tmp_path: Path) -> None:
    address = postgres_url.replace("postgresql+psycopg://", "postgresql://")
    config = (
        f"telemetry: {{enabled: false}}\nstorage: {{postgres: {{postgres_url: '{address}'}}}}\n"
    )
    (tmp_path / "dagster.yaml").write_text(config)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert orjson.loads(done.stdout.splitlines()[-1]) == {
        "storage": "PostgresEventLogStorage",
        "success": True,
        "is_kept": True,
        "runs": 1,
        "ticks": 0,
    }


def test_the_launcher_of_the_extra_celery_is_importable() -> None:
    code = "from dagster_celery.launcher import CeleryRunLauncher as l; print(l.__name__)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "CeleryRunLauncher\n"


@pytest.fixture
def home(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose Dagster storages are on a server."""
    monkeypatch.setenv("DAGSTER_STORAGE_URL", postgres_url)
    return open_home(tmp_path, "sandbox")


def test_dagster_storage_url_puts_all_of_dagsters_storages_on_the_server(home: Home) -> None:
    with open_instance(home) as instance, open_instance(home) as other:
        assert isinstance(instance.event_log_storage, PostgresEventLogStorage)
        assert isinstance(instance.run_storage, PostgresRunStorage)
        assert isinstance(instance.schedule_storage, PostgresScheduleStorage)
        instance.report_runless_asset_event(AssetMaterialization("told"))
        assert other.get_latest_materialization_event(AssetKey("told")) is not None
    assert not list(home.dagster_dir.rglob("*.db"))


@pytest.mark.usefixtures("home")
def test_processes_that_meet_an_empty_database_make_its_tables_once() -> None:
    code = (
        "from dagster import DagsterInstance\n"
        "from pipelines.orchestration.instance import INSTANCE_FOLDER\n"
        "print(DagsterInstance.from_config(str(INSTANCE_FOLDER)).get_runs_count())"
    )

    def open_it(_number: int) -> str:
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        ).stdout

    with ThreadPoolExecutor(2) as processes:
        assert list(processes.map(open_it, range(2))) == ["0\n"] * 2


def test_runs_on_the_server_that_name_an_erased_account_go_with_their_events(home: Home) -> None:
    with open_instance(home) as instance:
        for name in ("MS4wGONE", "MS4wSTAYS"):
            run = instance.create_run_for_job(empty_scan, tags={"about": name})
            instance.report_engine_event(f"about {name}", run)
            instance.add_dynamic_partitions("tracks", [name])
    assert forget_runs(home, AccountNames(sec_uid="MS4wGONE")) == 1
    with open_instance(home) as instance:
        [left] = instance.get_runs()
        assert left.tags["about"] == "MS4wSTAYS"
        assert len(instance.all_logs(left.run_id)) == 1
        assert list(instance.get_dynamic_partitions("tracks")) == ["MS4wSTAYS"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite:///runs.db", "no address of PostgreSQL"),
        ("postgresql://u:p@127.0.0.1/one", "the same database"),
    ],
)
def test_an_address_that_cannot_serve_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("CONTROL_URL", "postgresql+psycopg://u:p@127.0.0.1/one")
    monkeypatch.setenv("DAGSTER_STORAGE_URL", address)
    with pytest.raises(WarehouseUnavailableError, match=said):
        dagster_server()
