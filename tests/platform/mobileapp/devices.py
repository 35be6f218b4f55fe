"""A stand-in device behind its adb server in this process, and a reader with the real client."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.mobileapp.adb import AdbPhone
from pipelines.platform.mobileapp.phone import Claim
from pipelines.platform.mobileapp.reader import AppReader
from pipelines.platform.mobileapp.screens import App, load_app
from sandbox.server.addresses import SandboxUrls, read_code
from sandbox.server.device.phone import SimulatedPhone
from sandbox.server.device.server import AdbServer
from sandbox.server.platform import SandboxPlatform
from sandbox.world.content.tables import SandboxVideo
from sandbox.world.world import SandboxWorld
from tests.fake_clock import FakeClock
from tests.shared_deployment import SEED, SIZE
from warehouse.control import ControlStore, open_control

CODE = re.compile(r"/([a-z][0-9A-Za-z]+)/")


@dataclass
class Device:
    """The device of one test, and what is true about its app."""

    phone: SimulatedPhone
    server: AdbServer
    world: SandboxWorld
    control: ControlStore
    clock: FakeClock
    readers: list[AppReader] = field(default_factory=list)

    @property
    def track(self) -> str:
        """A track with some works."""
        return max(self.world.tracks, key=lambda one: len(self.works(one.music_id))).music_id

    def works(self, music_id: str) -> list[SandboxVideo]:
        """The works that the app shows of a track, in its order."""
        sound = self.world.sound_of(music_id)
        assert sound is not None
        rows = [self.world.works.row(row) for row in self.world.music_list(sound.index).tolist()]
        return [work for work in rows if work.is_public]

    def adb(self, serial: str = "stand-in-1") -> AdbPhone:
        return AdbPhone(serial, port=self.server.port)

    def reader(self, *, app: App | None = None, daily_budget: int = 10_000) -> AppReader:
        """A reader with the real client of the adb server."""
        app = app or load_app("sandbox")
        assert app is not None
        phone = self.adb()
        made = AppReader(
            phone,
            app,
            limiter=HostRateLimiter(
                self.control, app.rate, daily_budget=daily_budget, clock=self.clock
            ),
            claim=Claim(phone.address, clock=self.clock),
            clock=self.clock,
            link_of=lambda music_id: f"http://share.vidplat.localhost:1/share/music/{music_id}/",
            identify=identify,
        )
        self.readers.append(made)
        return made


async def identify(text: str) -> str | None:
    """The work of the short link in a shared text."""
    for code in CODE.findall(text):
        found = read_code(code)
        if found is not None:
            return str(found[1])
    return None


@pytest.fixture(scope="session")
def small_world() -> SandboxWorld:
    return SandboxWorld(SEED, SIZE)


@pytest.fixture
async def device(small_world: SandboxWorld, tmp_path: Path) -> AsyncIterator[Device]:
    platform = SandboxPlatform(small_world, cache_dir=tmp_path, addresses=SandboxUrls(1))
    clock = FakeClock()
    url = f"sqlite:///{tmp_path / 'hosts.sqlite'}"
    control = open_control(url, world="sandbox", clock=clock.unix)
    made = Device(
        SimulatedPhone(platform), AdbServer(SimulatedPhone(platform)), small_world, control, clock
    )
    made.server.phone = made.phone
    await made.server.start(0)
    yield made
    for reader in made.readers:
        await reader.aclose()
    await made.server.close()
    control.close()
    platform.close()


@pytest.fixture
def changed_app() -> Callable[..., Any]:
    """The app of the sandbox with something else about it."""

    def make(**values: Any) -> App:
        app = load_app("sandbox")
        assert app is not None
        return app.model_copy(update=values)

    return make
