"""Open the catalogues of the chosen profile."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from pipelines.catalog.service import CatalogService
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.home.folder import Home, open_home
from warehouse.records.videos import ServiceSongList


@contextmanager
def open_catalog_service(settings: Settings) -> Iterator[CatalogService]:
    """Open the catalogues; close the store afterwards. The lake is opened for a song list alone.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        WarehouseError: The store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with closing(
        open_control(settings.control_url or home.control_url, world=home.world)
    ) as control:
        yield CatalogService(
            control,
            find_target=profile.find_target,
            read_songs=lambda kind, list_id: _read_song_list(
                settings, profile, home, control, kind, list_id
            ),
            song_link=profile.song_link,
        )


def _read_song_list(
    settings: Settings,
    profile: PlatformProfile,
    home: Home,
    control: ControlStore,
    kind: str,
    list_id: str,
) -> ServiceSongList:
    from pipelines.catalog.sources.song_list_reader import SongListReader  # noqa: PLC0415 -- loads captures
    from warehouse.engine.duckdb_engine import Engine  # noqa: PLC0415 -- loads DuckDB
    from warehouse.lake.store import open_lake  # noqa: PLC0415 -- loads Delta

    with ExitStack() as stack:
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        reader = SongListReader(
            settings=settings,
            profile=profile,
            control=control,
            engine=stack.enter_context(closing(Engine(lake))),
            sounds_dir=home.sounds_dir,
        )
        return reader.read(kind, list_id)
