"""Open the stores of a world as the settings say: its home, its control store, its lake.

DuckDB and Delta are loaded with the first engine.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.home import Home, open_home

if TYPE_CHECKING:
    from warehouse.engine.duckdb_engine import Engine
    from warehouse.lake.store import Lake


def open_chosen_home(settings: Settings) -> Home:
    """Open the home of the chosen profile.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        WarehouseError: The home belongs to another world, or cannot be used.
    """
    return open_home(settings.data_home, choose_profile(settings).name)


@contextmanager
def open_control_of(settings: Settings, home: Home) -> Iterator[ControlStore]:
    """Open the control store of a world; close it afterwards.

    Raises:
        WarehouseError: It cannot be opened, is too new, or belongs to another world.
    """
    url = settings.control_url or home.control_url
    with closing(open_control(url, world=home.world)) as control:
        yield control


def open_lake_of(settings: Settings, home: Home) -> "Lake":
    """Open the lake of a world, which need not be closed.

    Raises:
        WarehouseError: It cannot be opened, or belongs to another world.
    """
    from warehouse.lake.store import open_lake  # noqa: PLC0415 -- `jobs` reads none

    return open_lake(settings.lake_url or home.lake_url, world=home.world)


@contextmanager
def open_engine_of(
    settings: Settings, home: Home, *, as_of: datetime | None = None
) -> Iterator["Engine"]:
    """Open the lake of a world with an engine over it; close it afterwards.

    Args:
        settings: Where the lake is, if not in the home.
        home: The home of the world.
        as_of: Read the tables as they were at this time.

    Raises:
        WarehouseError: The lake cannot be opened, or belongs to another world.
    """
    from warehouse.engine.duckdb_engine import Engine  # noqa: PLC0415 -- loads DuckDB, 0.3 s

    with closing(Engine(open_lake_of(settings, home), as_of=as_of)) as engine:
        yield engine


@contextmanager
def engine_when_used(settings: Settings, home: Home) -> Iterator["Callable[[], Engine]"]:
    """Return what opens the lake with an engine at its first call; close both afterwards."""
    with ExitStack() as stack:

        @cache
        def engine() -> "Engine":
            return stack.enter_context(open_engine_of(settings, home))

        yield engine
