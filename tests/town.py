"""What tests share, so that each world is made once: sounds, a platform, and a worker.

A plugin of the tests, named in their `conftest.py`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # a plugin is loaded for every test, and the stage loads the orchestrator
    from collections.abc import Iterator
    from pathlib import Path

    from tests.stage import Stage
    from tests.stand_in_platform import Sandbox

SEED, SIZE = 5, 0.1


@pytest.fixture(scope="session")
def sound_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rendered sounds, for all processes that run tests; their names tell the worlds apart."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sounds"


@pytest.fixture(scope="session")
def running_town(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Stage]:
    """The platform and a worker of two scans at a time."""
    from tests.stage import open_stage  # noqa: PLC0415 -- as above

    root = tmp_path_factory.mktemp("town")
    two_scans = {"WORKER_RUNS": "2"}
    with open_stage(root, sound_cache, settings=two_scans, is_measured=True) as stage:
        stage.start_platform(seed=SEED, size=SIZE)
        stage.start_worker()
        yield stage


@pytest.fixture
def town(running_town: Stage) -> Iterator[Stage]:
    """The platform and the worker, with nothing left of what the test before did to them."""
    running_town.settle()
    yield running_town
    running_town.settle()


@pytest.fixture
def stage(tmp_path: Path, sound_cache: Path) -> Iterator[Stage]:
    """An empty world; everything started in it is stopped again."""
    from tests.stage import open_stage  # noqa: PLC0415 -- as above

    with open_stage(tmp_path, sound_cache) as built:
        yield built


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The platform alone, for reads of its surfaces."""
    from tests.stand_in_platform import run_sandbox  # noqa: PLC0415 -- as above

    yield from run_sandbox(tmp_path_factory.mktemp("sounds"))
