"""Open the stores of a world as the settings say: its home, its control store, its lake.

DuckDB and Delta are loaded with the first engine.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING

from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.home.folder import Home, open_home

if TYPE_CHECKING:
    from warehouse.engine.duckdb_engine import Engine


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


@contextmanager
def open_engine_of(settings: Settings, home: Home) -> Iterator["Engine"]:
    """Open the lake of a world with an engine over it; close it afterwards.

    Raises:
        WarehouseError: The lake cannot be opened, or belongs to another world.
    """
    from warehouse.engine.duckdb_engine import Engine  # noqa: PLC0415 -- loads DuckDB
    from warehouse.lake.store import open_lake  # noqa: PLC0415 -- loads Delta

    lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
    with closing(Engine(lake)) as engine:
        yield engine


@contextmanager
def engine_when_used(settings: Settings, home: Home) -> Iterator["Callable[[], Engine]"]:
    """Return what opens the lake with an engine at its first call; close both afterwards."""
    with ExitStack() as stack:

        @cache
        def engine() -> "Engine":
            return stack.enter_context(open_engine_of(settings, home))

        yield engine
