"""The scheduled report on this machine, and a warehouse that does not give back what it took."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from pipelines.doctor import health_check
from pipelines.doctor.check_results import CheckResult
from pipelines.doctor.checks import stores
from pipelines.doctor.checks.machine_report import check_machine
from pipelines.doctor.checks.stores import check_warehouse
from pipelines.settings import Settings
from warehouse.home.folder import Home, open_home
from warehouse.records.errors import WarehouseUnavailableError


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, profile="sandbox", data_home=tmp_path)


@pytest.fixture(autouse=True)
def _stores_that_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores that are fine, and whose workers nobody asks for."""

    def opened(name: str) -> object:
        return lambda *_: (CheckResult(name, "ok", "opens"), None)

    monkeypatch.setattr(health_check, "check_control", opened("control store"))
    monkeypatch.setattr(health_check, "check_warehouse", opened("warehouse"))


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

    def opened(
        _settings: Settings, _home: Home, stack: ExitStack
    ) -> tuple[CheckResult, object | None]:
        stack.callback(close)
        return CheckResult("control store", "ok", "opens"), None

    monkeypatch.setattr(health_check, "check_control", opened)
    with pytest.raises(WarehouseUnavailableError, match="the control store is away"):
        check_machine(settings)


def test_a_row_that_is_not_read_back_is_a_failed_warehouse(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = open_home(tmp_path, "sandbox")
    monkeypatch.setattr(stores, "has_report", lambda *_: False)
    with ExitStack() as stack:
        found, opened = check_warehouse(settings, home, stack)
    assert (found.state, found.says, opened) == ("fail", "a written row is not read back", None)
    assert found.advice is not None
    assert "check the disk" in found.advice
