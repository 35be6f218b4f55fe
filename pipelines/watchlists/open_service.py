"""Open the watchlist service from the settings, for Dagster and the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.providers import choose_profile
from pipelines.scan.service.open_service import build_scan_service
from pipelines.settings import Settings
from pipelines.watchlists.profile_checks import EntryChecker
from pipelines.watchlists.run import WatchlistRunner
from pipelines.watchlists.webhook import build_notifier
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import open_home
from warehouse.queries.results import read_candidates
from warehouse.records.worlds import is_demo_world

_UNAVAILABLE = "unavailable"


@contextmanager
def open_watchlist_runner(settings: Settings) -> Iterator[WatchlistRunner]:
    """Open the watchlist service; close its stores afterwards.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control, open_engine_of(settings, home) as engine:
        checker = EntryChecker(
            settings=settings,
            profile=profile,
            control=control,
            engine=engine,
            sounds_dir=home.sounds_dir,
        )
        yield WatchlistRunner(
            control=control,
            scan_service=build_scan_service(
                settings, profile, home, control=control, open_engine=lambda: engine
            ),
            observe=checker.observe,
            gone_videos=partial(_unavailable_videos, engine),
            digests=home.digests_dir,
            is_demo=is_demo_world(home.world),
            notify=build_notifier(settings),
            retention=timedelta(days=settings.watch_retention_days),
        )


def _unavailable_videos(engine: Engine, job_id: str) -> dict[str, str | None]:
    return {
        row["aweme_id"]: row["reason"]
        for row in read_candidates(engine, job_id)
        if row["outcome"] == _UNAVAILABLE
    }
