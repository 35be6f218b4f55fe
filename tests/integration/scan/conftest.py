"""Fixtures: an empty stage, and rendered sounds shared by all worlds of a run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage import Stage, open_stage


@pytest.fixture(scope="session")
def sound_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rendered sounds; their names tell the seeds apart."""
    given = os.environ.get("SAMETRACK_TEST_SOUNDS")
    return Path(given) if given else tmp_path_factory.mktemp("sounds")


@pytest.fixture
def stage(tmp_path: Path, sound_cache: Path) -> Iterator[Stage]:
    """An empty world; everything started in it is stopped again."""
    with open_stage(tmp_path, sound_cache) as built:
        yield built
