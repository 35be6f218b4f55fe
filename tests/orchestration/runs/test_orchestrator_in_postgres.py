"""Dagster's storages of the extra `postgres` work with the SQLAlchemy that is installed.

SQLAlchemy 2.1 reads `postgresql://` as psycopg 3, which refuses the parameter that dagster-postgres
gives to NOTIFY with every new event; `pyproject.toml` holds it below.
"""

from importlib import import_module
from pathlib import Path

import dagster as dg
import pytest
from dagster import AssetKey, AssetMaterialization
from dagster._core.launcher import RunLauncher
from dagster_postgres import (
    PostgresEventLogStorage,
    PostgresRunStorage,
    PostgresScheduleStorage,
)

from pipelines.erasure import forget_runs
from pipelines.orchestration.instance import dagster_server
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings
from tests.orchestration.runs.fake_runs import empty_scan
from tests.warehouse.parallel_programs import run_together
from warehouse.home import Home, open_home
from warehouse.maintenance.erasure import AccountNames
from warehouse.records.errors import WarehouseUnavailableError

pytestmark = pytest.mark.full

OPEN_DAGSTER = Path(__file__).parent / "programs" / "open_dagster.py"


@pytest.mark.filterwarnings("ignore")  # those of the library are not ours
def test_a_run_leaves_its_events_in_postgresql(postgres_url: str, tmp_path: Path) -> None:
    @dg.asset
    def songs() -> int:
        return 7

    address = postgres_url.replace("postgresql+psycopg://", "postgresql://")
    config = (
        f"telemetry: {{enabled: false}}\nstorage: {{postgres: {{postgres_url: '{address}'}}}}\n"
    )
    (tmp_path / "dagster.yaml").write_text(config)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert isinstance(instance.event_log_storage, PostgresEventLogStorage)
        assert dg.materialize([songs], instance=instance).success
        assert instance.get_latest_materialization_event(dg.AssetKey("songs")) is not None
        assert instance.get_runs_count() == 1
        assert instance.get_ticks("none", "none") == []


@pytest.mark.filterwarnings("ignore")  # as above
def test_the_launcher_of_the_extra_celery_is_importable() -> None:
    launcher = import_module("dagster_celery.launcher")  # here: no other test needs what it loads
    assert issubclass(launcher.CeleryRunLauncher, RunLauncher)


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
@pytest.mark.soak
def test_machines_that_meet_an_empty_database_make_its_tables_once(tmp_path: Path) -> None:
    homes = [(str(tmp_path / name),) for name in ("one", "two")]
    opened = run_together("dagster_postgres", OPEN_DAGSTER, *homes)
    assert opened == ["0"] * 2


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
        dagster_server(Settings(_env_file=None))
