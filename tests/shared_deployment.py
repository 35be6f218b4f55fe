"""Deployments that tests share, so that each is started once: rendered sounds, a sandbox, a worker.

A plugin of the tests, named in their `conftest.py`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # a plugin is loaded for every test, and a deployment loads the orchestrator
    from collections.abc import Iterator
    from pathlib import Path

    from tests.deployment import Deployment
    from tests.platform.sandbox_platform import Sandbox

SEED, SIZE = 5, 0.1


@pytest.fixture(scope="session")
def sound_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rendered sounds, for all processes that run tests; their names tell the worlds apart."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sounds"


@pytest.fixture(scope="session")
def session_deployment(
    tmp_path_factory: pytest.TempPathFactory, sound_cache: Path
) -> Iterator[Deployment]:
    """The platform and a worker of two scans at a time."""
    from tests.deployment import open_deployment  # noqa: PLC0415 -- as above

    root = tmp_path_factory.mktemp("deployment")
    two_scans = {"WORKER_RUNS": "2"}
    with open_deployment(root, sound_cache, settings=two_scans, is_measured=True) as deployment:
        deployment.start_platform(seed=SEED, size=SIZE)
        deployment.start_worker()
        yield deployment


@pytest.fixture
def shared_deployment(session_deployment: Deployment) -> Iterator[Deployment]:
    """The platform and the worker, with nothing left of what the test before did to them."""
    session_deployment.settle()
    yield session_deployment
    session_deployment.settle()


@pytest.fixture
def deployment(tmp_path: Path, sound_cache: Path) -> Iterator[Deployment]:
    """An empty world; everything started in it is stopped again."""
    from tests.deployment import open_deployment  # noqa: PLC0415 -- as above

    with open_deployment(tmp_path, sound_cache) as built:
        yield built


@pytest.fixture(scope="session")
def sandbox(sound_cache: Path) -> Iterator[Sandbox]:
    """The platform alone, for reads of its surfaces."""
    from tests.platform.sandbox_platform import run_sandbox  # noqa: PLC0415 -- as above

    yield from run_sandbox(sound_cache)
