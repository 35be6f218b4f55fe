"""The console as a visitor meets it: a browser, and one service before the stand-in platform."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.stage import Stage, open_stage
from tests.town import SEED, SIZE
from tests.visitor import Visitors, open_visitors

# Only what never comes is a failure: a busy machine may need more than Playwright's 5 s.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Stage]:
    """An empty world whose processes are started when they are needed."""
    with open_stage(tmp_path_factory.mktemp("console"), sound_cache) as built:
        yield built


@pytest.fixture(scope="session")
def service(stage: Stage) -> str:
    """The address of the running service."""
    return str(stage.start_api().base_url)


@pytest.fixture(scope="module")
def shared_visitors(service: str) -> Iterator[Visitors]:
    """A browser before the service. Not for longer than a file: as long as it is open, no test
    beside it can run an event loop of its own.
    """
    with open_visitors(service) as opened:
        yield opened


@pytest.fixture
def visitors(shared_visitors: Visitors) -> Iterator[Visitors]:
    """Visitors who leave when the test is over."""
    with shared_visitors.leaving() as visitors:
        yield visitors


@pytest.fixture(scope="session")
def track(stage: Stage) -> dict[str, Any]:
    """A track of the stand-in platform, which is started with a worker."""
    stage.start_platform(seed=SEED, size=SIZE)
    stage.start_worker()
    found: dict[str, Any] = stage.world("/_world/tracks")["tracks"][0]
    return found
