"""The console as a visitor meets it: a browser before the service and the stand-in platform."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stage import Stage, open_stage
from tests.visitor import Visitors, open_visitors


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """An empty world whose processes a test file starts as it needs them."""
    root = tmp_path_factory.mktemp("console")
    with open_stage(root, tmp_path_factory.getbasetemp() / "sounds") as built:
        yield built


@pytest.fixture(scope="module")
def visitors(stage: Stage) -> Iterator[Visitors]:
    """Visitors of the running service."""
    with open_visitors(str(stage.start_api().base_url)) as opened:
        yield opened


@pytest.fixture(scope="module")
def track(stage: Stage) -> dict[str, Any]:
    """A track of the stand-in platform, which is started with a worker."""
    stage.start_platform(seed=5, size=0.1)
    stage.start_worker()
    found: dict[str, Any] = stage.world("/_world/tracks")["tracks"][0]
    return found
