"""Checks of the stores of the configured world: each returns a description, and the opened store.

A store that cannot be opened is an error, which the report shows.
"""

from contextlib import ExitStack

from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home, open_home
from warehouse.queries.surface_health import has_report, write_test_row
from warehouse.records.errors import WarehouseUnavailableError


def check_home(settings: Settings, world: str) -> tuple[str, Home]:
    """Open the home of a world, and check that it belongs to it."""
    return f"belongs to the world {world}", open_home(settings.data_home, world)


def check_control(settings: Settings, home: Home, stack: ExitStack) -> tuple[str, ControlStore]:
    """Check that the control store opens, belongs to this world and has a known schema."""
    control = stack.enter_context(open_control_of(settings, home))
    return f"opens; schema version {control.schema_version()}", control


def check_warehouse(settings: Settings, home: Home, stack: ExitStack) -> tuple[str, Engine]:
    """Check that the warehouse opens, belongs to this world, and stores and returns a row."""
    engine = stack.enter_context(open_engine_of(settings, home))
    # A disk may take a row and not return it.
    report_id = write_test_row(engine.lake)
    engine.refresh()
    engine.list_all()
    if not has_report(engine, report_id):
        raise WarehouseUnavailableError(
            "a written row is not read back",
            hint="check the disk, and which other programs write to this lake",
        )
    return f"{len(engine.lake.tables)} tables can be read and written", engine
