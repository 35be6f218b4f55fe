"""The shared resources of a pipeline process: stores, provider and the decoder pool.

Each process opens one `Runtime` at startup and passes it on as an argument.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.captures.journal import ScanJournal
from pipelines.captures.session import Captures
from pipelines.open_stores import open_lake_of
from pipelines.platform import providers
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from pipelines.settings import Settings
from warehouse.caches import ExcerptFolder, open_excerpts
from warehouse.control import RESTART_S, ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home, is_demo_world, open_home
from warehouse.lake.store import Lake


@dataclass(frozen=True, slots=True)
class Runtime:
    """The open stores and tools of one process."""

    settings: Settings
    profile: PlatformProfile
    home: Home
    lake: Lake
    engine: Engine
    control: ControlStore
    decoders: DecoderPool
    excerpts: ExcerptFolder

    @property
    def world(self) -> str:
        """The name of the world: the profile, or a source with its own. Worlds never mix."""
        return self.home.world

    @property
    def music_provider(self) -> str:
        """The name of the source that scans read from, the same as in `ScanService`."""
        return providers.music_provider_name(self.settings)

    @property
    def uses_device(self) -> bool:
        """Whether scans read an app on an Android device."""
        return providers.PROVIDERS[self.music_provider].uses_device

    @property
    def is_demo(self) -> bool:
        """Whether all data is demo data, so that it is never mistaken for real data."""
        return is_demo_world(self.world)

    def captures(
        self, *, job_id: str, cancelled: Callable[[], bool], journal: ScanJournal | None = None
    ) -> Captures:
        """Return the captures of one job, an async context manager using the platform's clock."""
        # The sandbox has a clock of its own, which the observations of its world follow.
        follow_sandbox_clock(self.profile)
        dependencies = ProviderDependencies(
            settings=self.settings, profile=self.profile, control=self.control, engine=self.engine
        )
        return Captures(
            provider=providers.build_provider(self.music_provider, dependencies),
            songs=providers.build_song_source(dependencies),
            lake=self.lake,
            engine=self.engine,
            control=self.control,
            job_id=job_id,
            sounds_dir=self.home.sounds_dir,
            cancelled=cancelled,
            journal=journal,
            link_ttl_s=self.settings.link_ttl_days * 86_400.0,
        )


def open_control_store(settings: Settings) -> ControlStore:
    """Open the control store of the selected platform, for a process that runs scans.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: The store cannot be opened, belongs to another world or is too new.
    """
    home = open_home(settings.data_home, providers.choose_profile(settings).name)
    url = settings.control_url or home.control_url
    return open_control(url, world=home.world, wait_s=RESTART_S)


def open_runtime(
    settings: Settings, stack: ExitStack, *, control: ControlStore | None = None
) -> Runtime:
    """Open all resources, except a given `control`; closing `stack` closes them.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened, belongs to another world or is too new.
    """
    profile = providers.choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    lake = open_lake_of(settings, home)
    return Runtime(
        settings=settings,
        profile=profile,
        home=home,
        lake=lake,
        engine=Engine(lake),
        control=control or open_control_store(settings),
        excerpts=open_excerpts(
            home, max_mb=settings.excerpts_max_mb, days=settings.excerpt_retention_days
        ),
        decoders=stack.enter_context(DecoderPool(settings.listening_workers)),
    )
