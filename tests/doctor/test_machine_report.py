"""The scheduled report on this machine, and a warehouse that does not give back what it took."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.doctor import checks
from pipelines.doctor.checks import check_warehouse
from pipelines.doctor.health_check import check_machine
from pipelines.settings import Settings
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home, open_home
from warehouse.lake.store import WRITE_TEST
from warehouse.maintenance.table_review import review_table
from warehouse.queries.surface_health import write_health
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.health import SurfaceHealth
from warehouse.tables import BY_NAME, Table
from warehouse.tables.column import IS_FRESH


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, profile="sandbox", data_home=tmp_path)


@pytest.fixture(autouse=True)
def _stores_that_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores that are fine, and whose workers nobody asks for."""

    monkeypatch.setattr(checks, "check_control", lambda *_: ("opens", None))
    monkeypatch.setattr(checks, "check_warehouse", lambda *_: ("opens", None))


def test_the_report_is_on_the_machine_and_its_stores_alone(settings: Settings) -> None:
    report = check_machine(settings)
    names = [check["name"] for check in report["machine"]]
    assert names == ["python", "disk", "data home", "control store", "warehouse"]
    assert (report["profile"], report["surfaces"]) == ("sandbox", [])


def test_a_store_that_cannot_be_closed_fails_the_job(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def close() -> None:
        raise WarehouseUnavailableError("the control store is away")

    def opened(_settings: Settings, _home: Home, stack: ExitStack) -> tuple[str, None]:
        stack.callback(close)
        return "opens", None

    monkeypatch.setattr(checks, "check_control", opened)
    with pytest.raises(WarehouseUnavailableError, match="the control store is away"):
        check_machine(settings)


def test_the_row_of_a_write_test_does_not_make_the_probes_fresh(
    settings: Settings, tmp_path: Path
) -> None:
    home = open_home(tmp_path, "sandbox")
    with ExitStack() as stack:
        _, opened = check_warehouse(settings, home, stack)
        (commit, *_) = opened.lake.log_since("marts.surface_health", 0)
        assert commit[WRITE_TEST] == "true"
        probed = SurfaceHealth(surface="media", outcome="works", observed_at=datetime.now(UTC))
        table, much_later = BY_NAME["marts.surface_health"], datetime.now(UTC) + timedelta(days=9)
        assert _stale_count(opened, table, much_later) == 0, "without probes it is new"
        write_health(opened.lake, [probed])
        assert _stale_count(opened, table, much_later) == 1


def _stale_count(engine: Engine, table: Table, now: datetime) -> int:
    findings = review_table(engine, table, now=now).findings
    return next(one.wrong_count for one in findings if one.rule == IS_FRESH)


def test_a_row_that_is_not_read_back_is_a_failed_warehouse(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = open_home(tmp_path, "sandbox")
    monkeypatch.setattr(checks, "has_report", lambda *_: False)
    with ExitStack() as stack, pytest.raises(WarehouseUnavailableError) as met:
        check_warehouse(settings, home, stack)
    assert met.value.detail == "a written row is not read back"
    assert "check the disk" in str(met.value.hint)
