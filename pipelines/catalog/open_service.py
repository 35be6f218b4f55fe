"""Open the catalogue service, its runs, reports and look-ups for the chosen profile.

What loads DuckDB or Numba is imported where it is needed, so that most commands start quickly.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.catalog.run import CatalogRun, cancel_run
from pipelines.catalog.run_requests import request_run
from pipelines.catalog.service import CatalogService, CatalogStatus
from pipelines.open_stores import open_chosen_home, open_control_of, open_engine_of
from pipelines.parameters.scan import scan_parameters
from pipelines.platform.providers import choose_profile
from pipelines.scan.service.open_service import open_scan_service
from pipelines.scan.service.service import ScanService
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.home import open_home
from warehouse.records.evidence import MatchThresholds
from warehouse.records.videos import ServiceSongList

if TYPE_CHECKING:
    from pipelines.catalog.report import CatalogReportFormat
    from pipelines.catalog.sound_matches import CatalogReferenceSounds, MatchCounts


@contextmanager
def open_catalog_service(settings: Settings) -> Iterator[CatalogService]:
    """Open the catalogue service; close its store afterwards. Only a song list opens the lake.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        WarehouseError: The store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)

    # Most commands read no song list, so the lake is opened for each list that is read.
    def read_songs(kind: str, list_id: str) -> ServiceSongList:
        from pipelines.catalog.sources.song_lists import SongListReader  # noqa: PLC0415 -- loads DuckDB and HTTP, 0.5 s

        with open_engine_of(settings, home) as engine:
            reader = SongListReader(
                settings=settings,
                profile=profile,
                control=control,
                engine=engine,
                sounds_dir=home.sounds_dir,
            )
            return reader.read(kind, list_id)

    with open_control_of(settings, home) as control:
        yield CatalogService(
            control=control,
            find_target=profile.find_target,
            read_songs=read_songs,
            song_link=profile.song_link,
        )


@contextmanager
def open_catalog_run(settings: Settings, name: str, *, at_once: int) -> Iterator[CatalogRun]:
    """Open the stores for a run of one catalogue; close them afterwards.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        WarehouseError: A store cannot be opened.
    """
    with open_scans(settings) as (control, scans):
        yield CatalogRun(
            name=name,
            control=control,
            scans=scans,
            result_ttl=timedelta(seconds=settings.result_cache_ttl),
            at_once=at_once,
        )


def request_catalog_run(settings: Settings, name: str) -> CatalogStatus:
    """Ask the workers to run a catalogue; return its status.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        InvalidParameterError: There is no such catalogue.
        WarehouseError: The store cannot be opened.
    """
    with open_catalog_service(settings) as service:
        status = service.status(name)
        request_run(service.control, name)
    return status


def cancel_catalog_run(settings: Settings, name: str) -> int:
    """Stop the run of a catalogue in whatever process; return how many jobs were cancelled.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        InvalidParameterError: There is no such catalogue.
    """
    with open_scans(settings) as (control, scans):
        return cancel_run(name, control=control, scans=scans)


@contextmanager
def open_scans(settings: Settings) -> Iterator[tuple[ControlStore, ScanService]]:
    home = open_chosen_home(settings)
    with open_control_of(settings, home) as control, open_scan_service(settings) as scans:
        yield control, scans


def write_report(
    settings: Settings,
    name: str,
    *,
    folder: Path | None,
    language: str,
    formats: "Collection[CatalogReportFormat]",
) -> list[Path]:
    """Write the report of a catalogue; return the paths of its files.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        InvalidParameterError: There is no such catalogue, or a file cannot be written.
        WarehouseError: A store cannot be opened.
    """
    from pipelines.catalog.report import write_catalog_report  # noqa: PLC0415 -- loads DuckDB, 0.3 s

    home = open_chosen_home(settings)
    with open_catalog_service(settings) as catalogs:
        status = catalogs.status(name)
    with open_engine_of(settings, home) as engine:
        target = folder or home.reports_dir / "catalogs" / name
        return write_catalog_report(target, engine, status, language=language, formats=formats)


@contextmanager
def open_catalog_sounds(settings: Settings, name: str) -> Iterator["CatalogReferenceSounds"]:
    """Open the reference sounds of a catalogue's tracks; their index is in the cache folder.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        InvalidParameterError: There is no such catalogue.
        WarehouseError: A store cannot be opened.
    """
    from pipelines.catalog.sound_matches import CatalogReferenceSounds  # noqa: PLC0415 -- loads Numba, 0.6 s

    home = open_chosen_home(settings)
    with open_catalog_service(settings) as catalogs:
        tracks = catalogs.status(name).tracks
    with open_engine_of(settings, home) as engine:
        yield CatalogReferenceSounds(engine, tracks, _index_folder(settings, name))


def look_up_sounds(
    settings: Settings, name: str, *, on_done: Callable[[int, int], object], waits: bool = False
) -> "MatchCounts | None":
    """Look up the sounds of a catalogue's scans.

    If another process looks them up now: return None, or wait for it if `waits`.

    Raises:
        ProfileNotChosenError: No platform profile is chosen.
        InvalidParameterError: There is no such catalogue.
        WarehouseError: A store cannot be opened.
        ValueError: There are more references than an index holds.
        OSError: The index cannot be kept.
    """
    from pipelines.catalog.sound_matches import SoundMatches, held  # noqa: PLC0415 -- loads Numba, 0.8 s

    folder = _index_folder(settings, name)
    with open_catalog_service(settings) as catalogs:
        parameters = scan_parameters(catalogs.status(name).catalog.settings.parameters)
    # The same limits as the scans of the catalogue: a match must hold in them, too.
    limits = MatchThresholds(match_threshold=parameters.match_threshold)
    with held(folder, waits=waits) as is_ours:
        if not is_ours:
            return None
        with open_catalog_sounds(settings, name) as references:
            return SoundMatches(references, folder, limits=limits).find(on_done)


def _index_folder(settings: Settings, name: str) -> Path:
    return open_chosen_home(settings).cache_dir / "reference-index" / name
