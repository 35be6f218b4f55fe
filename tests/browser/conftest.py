"""The console as a visitor meets it: a browser, and one service before the stand-in platform.

Each is started once for this folder, which is a package for that.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.stage import Stage, open_stage
from tests.town import SEED, SIZE
from tests.visitor import View, Visitors, open_visitors
from warehouse.control import jobs

# Only what never comes is a failure: a busy machine may need more than Playwright's 5 s.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Stage]:
    """An empty world whose processes are started when they are needed."""
    with open_stage(tmp_path_factory.mktemp("console"), sound_cache) as built:
        yield built


@pytest.fixture(scope="package")
def service(stage: Stage) -> str:
    """The address of the running service."""
    return str(stage.start_api().base_url)


@pytest.fixture(scope="package")
def shared_visitors(service: str) -> Iterator[Visitors]:
    """A browser before the service. Not for longer than this folder: as long as it is open, no
    test beside it can run an event loop of its own.
    """
    with open_visitors(service) as opened:
        yield opened


@pytest.fixture
def visitors(shared_visitors: Visitors) -> Iterator[Visitors]:
    """Visitors who leave when the test is over."""
    with shared_visitors.leaving() as visitors:
        yield visitors


@pytest.fixture(scope="package")
def plain_view(shared_visitors: Visitors) -> Iterator[View]:
    """One visitor in English and light colours, whose page is never loaded again."""
    with shared_visitors.leaving() as visitors:
        yield visitors.open()


@pytest.fixture
def view(plain_view: View) -> View:
    """The page of that visitor as it was opened, whatever the test before did to it."""
    plain_view.restore()
    return plain_view


@pytest.fixture(scope="package")
def track(stage: Stage) -> dict[str, Any]:
    """A track of the stand-in platform, which is started with a worker."""
    stage.start_platform(seed=SEED, size=SIZE)
    stage.start_worker()
    found: dict[str, Any] = stage.world("/_world/tracks")["tracks"][0]
    return found


@pytest.fixture(scope="package")
def job_id(stage: Stage, track: dict[str, Any]) -> str:
    """A completed scan of the track, which many tests look at."""
    job_id = stage.ask(track["music_id"], music_id=track["music_id"], candidate_limit=20)
    return stage.ended(job_id).job_id


@pytest.fixture(autouse=True)
def _no_scan_goes_on(stage: Stage) -> Iterator[None]:
    """A scan that a test began, and did not wait for, ends with it."""
    yield
    for job in jobs.newest(stage.control, limit=100):
        if job.finished_at is None:
            jobs.request_cancel(stage.control, job.job_id)
            stage.ended(job.job_id)  # who asks for the same scan next must not join it
