"""The stores of the chosen world, opened to be looked at; what cannot be opened is a finding."""

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime

from pipelines.doctor.findings import Finding
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.surface_health import WAREHOUSE, has_report, write_health
from warehouse.records.errors import SametrackError
from warehouse.records.health import SurfaceHealth


@dataclass(frozen=True, slots=True)
class Warehouse:
    """An open lake and the engine over it."""

    lake: Lake
    engine: Engine


def open_home_of(settings: Settings, world: str) -> tuple[Finding, Home | None]:
    """The home of a world, and whether it is that world's."""
    try:
        home = open_home(settings.data_home, world)
    except SametrackError as error:
        return _failed("data home", error), None
    return Finding("data home", "ok", f"belongs to the world {world}"), home


def check_control(
    settings: Settings, home: Home, stack: ExitStack
) -> tuple[Finding, ControlStore | None]:
    """The control store: opens, is of this world, has a schema that we know."""
    try:
        control = open_control(settings.control_url or home.control_url, world=home.world)
        stack.enter_context(closing(control))
        number = control.schema_version()
    except SametrackError as error:
        return _failed("control store", error), None
    return Finding("control store", "ok", f"opens; schema version {number}"), control


def check_warehouse(
    settings: Settings, home: Home, stack: ExitStack
) -> tuple[Finding, Warehouse | None]:
    """The warehouse: opens, is of this world, takes a row and gives it back."""
    try:
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        engine = stack.enter_context(closing(Engine(lake)))
        line = SurfaceHealth(surface=WAREHOUSE, outcome="works", observed_at=datetime.now(UTC))
        report_id = write_health(lake, [line])
        engine.refresh()
        is_back = has_report(engine, report_id)
    except SametrackError as error:
        return _failed("warehouse", error), None
    if not is_back:
        advice = "look at the disk and at who else writes to this lake"
        return Finding("warehouse", "fail", "a row written is not read back", advice), None
    says = f"{len(lake.tables)} tables open, take rows and give them back"
    return Finding("warehouse", "ok", says), Warehouse(lake, engine)


def _failed(name: str, error: SametrackError) -> Finding:
    return Finding(name, "fail", error.detail, error.hint)
