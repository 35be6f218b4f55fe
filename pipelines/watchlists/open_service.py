"""Open the watchlist service from the settings, for Dagster and the command line."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from functools import partial

from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.scan.service.open_service import build_scan_service
from pipelines.settings import Settings
from pipelines.watchlists.digest import DigestFolder
from pipelines.watchlists.profile_checks import EntryChecker
from pipelines.watchlists.run import WatchlistRunner
from pipelines.watchlists.webhook import build_notifier
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.lake.store import open_lake
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
    with ExitStack() as stack:
        control = open_control(settings.control_url or home.control_url, world=home.world)
        stack.enter_context(closing(control))
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        engine = stack.enter_context(closing(Engine(lake)))
        yield build_watchlist_runner(settings, profile, home, control=control, engine=engine)


def build_watchlist_runner(
    settings: Settings,
    profile: PlatformProfile,
    home: Home,
    *,
    control: ControlStore,
    engine: Engine,
) -> WatchlistRunner:
    """Build the watchlist service over open stores."""
    screens = EntryChecker(
        settings=settings,
        profile=profile,
        control=control,
        engine=engine,
        sounds_dir=home.sounds_dir,
    )
    return WatchlistRunner(
        control=control,
        scan_service=build_scan_service(
            settings, profile, home, control=control, open_engine=lambda: engine
        ),
        observe=screens.observe,
        gone_videos=partial(_unavailable_videos, engine),
        digests=DigestFolder(home.digests_dir),
        notifier=build_notifier(settings),
        is_demo=is_demo_world(home.world),
        retention=timedelta(days=settings.watch_retention_days),
    )


def _unavailable_videos(engine: Engine, job_id: str) -> dict[str, str | None]:
    return {
        row["aweme_id"]: row["reason"]
        for row in read_candidates(engine, job_id)
        if row["outcome"] == _UNAVAILABLE
    }
