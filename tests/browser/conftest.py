"""The console as a visitor meets it: a browser, and one service before the stand-in platform.

Each is started once for this folder, which is a package for that.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.console_pages import ConsolePage, ConsolePages, open_console_pages
from tests.deployment import Deployment, open_deployment
from tests.shared_deployment import SEED, SIZE
from warehouse.control import jobs

# Only what never comes is a failure: a busy machine may need more than Playwright's 5 s.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="package")
def deployment(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Deployment]:
    """An empty world whose processes are started when they are needed."""
    with open_deployment(tmp_path_factory.mktemp("console"), sound_cache) as built:
        yield built


@pytest.fixture(scope="package")
def service(deployment: Deployment) -> str:
    """The address of the running service."""
    return str(deployment.start_api().base_url)


@pytest.fixture(scope="package")
def session_pages(service: str) -> Iterator[ConsolePages]:
    """A browser before the service. Not for longer than this folder: as long as it is open, no
    test beside it can run an event loop of its own.
    """
    with open_console_pages(service) as opened:
        yield opened


@pytest.fixture
def pages(session_pages: ConsolePages) -> Iterator[ConsolePages]:
    """Pages that are closed when the test is over."""
    with session_pages.leaving() as pages:
        yield pages


@pytest.fixture(scope="package")
def session_page(session_pages: ConsolePages) -> Iterator[ConsolePage]:
    """One visitor in English and light colours, whose page is never loaded again."""
    with session_pages.leaving() as pages:
        yield pages.open()


@pytest.fixture
def view(session_page: ConsolePage) -> ConsolePage:
    """The page of that visitor as it was opened, whatever the test before did to it."""
    session_page.restore()
    return session_page


@pytest.fixture(scope="package")
def track(deployment: Deployment) -> dict[str, Any]:
    """A track of the stand-in platform, which is started with a worker."""
    deployment.start_platform(seed=SEED, size=SIZE)
    deployment.start_worker()
    found: dict[str, Any] = deployment.world("/_world/tracks")["tracks"][0]
    return found


@pytest.fixture(scope="package")
def job_id(deployment: Deployment, track: dict[str, Any]) -> str:
    """A completed scan of the track, which many tests look at."""
    job_id = deployment.ask(track["music_id"], music_id=track["music_id"], candidate_limit=20)
    return deployment.ended(job_id).job_id


@pytest.fixture(autouse=True)
def _no_scan_goes_on(deployment: Deployment) -> Iterator[None]:
    """A scan that a test began, and did not wait for, ends with it."""
    yield
    for job in jobs.newest(deployment.control, limit=100):
        if job.finished_at is None:
            jobs.request_cancel(deployment.control, job.job_id)
            deployment.ended(job.job_id)  # who asks for the same scan next must not join it
