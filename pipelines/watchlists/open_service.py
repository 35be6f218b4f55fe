"""Open the watchlist service from the settings, for Dagster and the command line."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from functools import partial

from pipelines.platform.profiles import Profile
from pipelines.platform.providers import choose_profile
from pipelines.scan.service.open_service import build_desk
from pipelines.settings import Settings
from pipelines.watchlists.cron import CronCalendar
from pipelines.watchlists.digest import DigestFolder
from pipelines.watchlists.profile_checks import Screens
from pipelines.watchlists.run import Watcher
from pipelines.watchlists.webhook import Nobody, Teller, Webhook, check_webhook
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.lake.store import open_lake
from warehouse.queries.results import read_candidates
from warehouse.records.worlds import is_demo_world

_UNAVAILABLE = "unavailable"


@contextmanager
def open_watcher(settings: Settings) -> Iterator[Watcher]:
    """Open the watchlist service; close its stores afterwards.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        InvalidParameterError: The webhook's address is invalid.
        WarehouseError: A store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with ExitStack() as stack:
        control = open_control(settings.control_url or home.control_url, world=home.world)
        stack.enter_context(closing(control))
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        engine = stack.enter_context(closing(Engine(lake)))
        yield build_watcher(settings, profile, home, control=control, engine=engine)


def build_watcher(
    settings: Settings, profile: Profile, home: Home, *, control: ControlStore, engine: Engine
) -> Watcher:
    """Build the watchlist service over open stores."""
    screens = Screens(
        settings=settings,
        profile=profile,
        control=control,
        engine=engine,
        sounds_dir=home.sounds_dir,
    )
    return Watcher(
        control=control,
        desk=build_desk(settings, profile, control=control, open_engine=lambda: engine),
        look=screens.look,
        gone_works=partial(_gone_works, engine),
        calendar=CronCalendar(),
        digests=DigestFolder(home.digests_dir),
        teller=open_teller(settings),
        is_demo=is_demo_world(home.world),
        retention=timedelta(days=settings.watch_retention_days),
    )


def _gone_works(engine: Engine, job_id: str) -> dict[str, str | None]:
    return {
        row["aweme_id"]: row["reason"]
        for row in read_candidates(engine, job_id)
        if row["outcome"] == _UNAVAILABLE
    }


def open_teller(settings: Settings) -> Teller:
    """Return the digest notifier: the webhook if its address is set, else one that does nothing.

    Raises:
        InvalidParameterError: The address is set but invalid.
    """
    if settings.digest_webhook_url is None:
        return Nobody()
    url = settings.digest_webhook_url.get_secret_value()
    return Webhook(check_webhook(url, hosts=settings.digest_webhook_hosts))
