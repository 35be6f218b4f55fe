"""A small world and its platform in this process, with no server and no sound."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sandbox.server.addresses import SandboxUrls
from sandbox.server.platform import SandboxPlatform
from sandbox.world.world import SandboxWorld
from tests.platform.mobileapp.devices import device, small_world

__all__ = ["device", "small_world"]


@pytest.fixture(scope="session")
def world() -> SandboxWorld:
    return SandboxWorld(5, 0.1)


@pytest.fixture
def platform(world: SandboxWorld, tmp_path: Path) -> Iterator[SandboxPlatform]:
    made = SandboxPlatform(world, cache_dir=tmp_path, addresses=SandboxUrls(1))
    with closing(made):
        yield made
