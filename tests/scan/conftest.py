"""The stores of an empty home."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import Lake, open_lake


@pytest.fixture
def opened_stores(tmp_path: Path) -> Iterator[tuple[ControlStore, Lake, Engine]]:
    """The stores of an empty home."""
    home = open_home(tmp_path, "sandbox")
    lake = open_lake(home.lake_url, world="sandbox")
    with (
        closing(open_control(home.control_url, world="sandbox")) as control,
        closing(Engine(lake)) as engine,
    ):
        yield control, lake, engine
