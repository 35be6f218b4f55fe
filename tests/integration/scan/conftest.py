"""Fixtures: an empty stage, with sounds that all worlds of a run share, and empty stores."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.stage import Stage, open_stage
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import open_home
from warehouse.lake.store import Lake, open_lake


@pytest.fixture
def stage(tmp_path: Path, sound_cache: Path) -> Iterator[Stage]:
    """An empty world; everything started in it is stopped again."""
    with open_stage(tmp_path, sound_cache) as built:
        yield built


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
