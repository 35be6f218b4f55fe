"""Checks of the stores of the configured world; a store that cannot be opened is a result."""

from contextlib import ExitStack, closing
from dataclasses import dataclass

from pipelines.doctor.check_results import CheckResult
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.surface_health import has_report, write_test_row
from warehouse.records.errors import SametrackError


@dataclass(frozen=True, slots=True)
class OpenWarehouse:
    """An open lake and the engine over it."""

    lake: Lake
    engine: Engine


def open_home_of(settings: Settings, world: str) -> tuple[CheckResult, Home | None]:
    """Open the home of a world, and check that it belongs to it."""
    try:
        home = open_home(settings.data_home, world)
    except SametrackError as error:
        return _failed("data home", error), None
    return CheckResult("data home", "ok", f"belongs to the world {world}"), home


def check_control(
    settings: Settings, home: Home, stack: ExitStack
) -> tuple[CheckResult, ControlStore | None]:
    """Check that the control store opens, belongs to this world and has a known schema."""
    try:
        control = open_control(settings.control_url or home.control_url, world=home.world)
        stack.enter_context(closing(control))
        number = control.schema_version()
    except SametrackError as error:
        return _failed("control store", error), None
    return CheckResult("control store", "ok", f"opens; schema version {number}"), control


def check_warehouse(
    settings: Settings, home: Home, stack: ExitStack
) -> tuple[CheckResult, OpenWarehouse | None]:
    """Check that the warehouse opens, belongs to this world, and stores and returns a row."""
    try:
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        engine = stack.enter_context(closing(Engine(lake)))
        report_id = write_test_row(lake)
        engine.refresh()
        engine.list_all()
        is_back = has_report(engine, report_id)
    except SametrackError as error:
        return _failed("warehouse", error), None
    if not is_back:
        advice = "check the disk, and which other programs write to this lake"
        return CheckResult("warehouse", "fail", "a written row is not read back", advice), None
    says = f"{len(lake.tables)} tables can be read and written"
    return CheckResult("warehouse", "ok", says), OpenWarehouse(lake, engine)


def _failed(name: str, error: SametrackError) -> CheckResult:
    return CheckResult(name, "fail", error.detail, error.hint)
