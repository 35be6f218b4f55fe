"""Checks of the stores of the configured world; a store that cannot be opened is a result."""

from contextlib import ExitStack

from pipelines.doctor.check_results import CheckResult
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.queries.surface_health import has_report, write_test_row
from warehouse.records.errors import SametrackError


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
        control = stack.enter_context(open_control_of(settings, home))
        number = control.schema_version()
    except SametrackError as error:
        return _failed("control store", error), None
    return CheckResult("control store", "ok", f"opens; schema version {number}"), control


def check_warehouse(
    settings: Settings, home: Home, stack: ExitStack
) -> tuple[CheckResult, Engine | None]:
    """Check that the warehouse opens, belongs to this world, and stores and returns a row."""
    try:
        engine = stack.enter_context(open_engine_of(settings, home))
        report_id = write_test_row(engine.lake)
        engine.refresh()
        engine.list_all()
        is_back = has_report(engine, report_id)
    except SametrackError as error:
        return _failed("warehouse", error), None
    if not is_back:
        advice = "check the disk, and which other programs write to this lake"
        return CheckResult("warehouse", "fail", "a written row is not read back", advice), None
    says = f"{len(engine.lake.tables)} tables can be read and written"
    return CheckResult("warehouse", "ok", says), engine


def _failed(name: str, error: SametrackError) -> CheckResult:
    return CheckResult(name, "fail", error.detail, error.hint)
