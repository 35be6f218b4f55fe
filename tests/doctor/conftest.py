"""The running stand-in platform, and a home whose stores the doctor asks over."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipelines.doctor.probes.probe_round import probe_and_store
from pipelines.doctor.probes.table import PROBES
from pipelines.platform.profiles import CircuitTimes, load_profile
from pipelines.settings import Settings
from tests.children import platform as running_platform
from tests.deployment import LOCAL
from tests.platform.mobileapp.devices import device, small_world
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.health import SurfaceHealth

__all__ = ["device", "small_world"]


@dataclass(frozen=True)
class DoctorStores:
    """A platform and the open stores of one world. `home` is the DATA_HOME."""

    port: int
    home: Path
    control: ControlStore
    engine: Engine

    @property
    def settings(self) -> Settings:
        return Settings(
            _env_file=None,  # what the machine has set is left out
            profile="sandbox",
            sandbox_port=self.port,
            data_home=self.home,
        )

    async def ask(
        self, *surfaces: str, circuit: CircuitTimes | None = None
    ) -> dict[str, SurfaceHealth]:
        """Ask these surfaces, all when none is named; what became of each.

        `circuit` replaces the short times of the sandbox, which a busy machine may exceed.
        """
        profile = load_profile("sandbox", sandbox_port=self.port)
        found = await probe_and_store(
            self.settings,
            profile if circuit is None else profile.model_copy(update={"circuit": circuit}),
            control=self.control,
            engine=self.engine,
            surfaces=surfaces or [probe.surface for probe in PROBES],
            asked_by="cli",
        )
        self.engine.refresh()
        return {health.surface: health for health in found}

    def fault(self, surface: str, kind: str, **more: object) -> None:
        """A fault of a surface that stays until `heal`."""
        fault = {"surface": surface, "kind": kind, "times": 0, **more}
        LOCAL.post(f"{self.world}/faults", json=fault).raise_for_status()

    def heal(self) -> None:
        """Everything works again."""
        LOCAL.delete(f"{self.world}/faults").raise_for_status()

    @property
    def world(self) -> str:
        return f"http://127.0.0.1:{self.port}/_world"


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a platform that runs as long as the tests of this folder."""
    cache = tmp_path_factory.mktemp("sounds")
    with running_platform(cache, seed=31, size=0.1) as (_, port):
        yield port


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    home = open_home(tmp_path_factory.mktemp("home"), "sandbox")
    lake = open_lake(home.lake_url, world="sandbox")
    with closing(Engine(lake)) as opened:
        yield opened


@pytest.fixture
def stores(platform: int, engine: Engine, tmp_path: Path) -> Iterator[DoctorStores]:
    """The platform with no fault in force, and with a control store that knows of none."""
    control_url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(control_url, world="sandbox")) as control:
        stores = DoctorStores(platform, tmp_path, control, engine)
        yield stores
        stores.heal()
