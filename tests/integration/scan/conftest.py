"""Fixtures: an empty stage, and sounds that all worlds of a run share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage import Stage, open_stage


@pytest.fixture
def stage(tmp_path: Path, sound_cache: Path) -> Iterator[Stage]:
    """An empty world; everything started in it is stopped again."""
    with open_stage(tmp_path, sound_cache) as built:
        yield built
