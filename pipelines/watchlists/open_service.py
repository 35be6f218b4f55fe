"""Open the watchlist service from the settings, and check accounts and hashtags over its stores.

A check captures a profile and its first screen. Not here: tracks, which are scanned through the
scan service; comparing (`changes.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from pipelines.captures.session import Captures
from pipelines.captures.walks import ListWalk
from pipelines.open_stores import engine_when_used, open_control_of
from pipelines.platform import providers
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from pipelines.scan.service.open_service import build_scan_service
from pipelines.settings import Settings
from pipelines.watchlists import changes
from pipelines.watchlists.alerts import AlertSender
from pipelines.watchlists.digest import build_notifier
from pipelines.watchlists.run import WatchlistRunner
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import is_demo_world, open_home
from warehouse.queries.results import read_candidates
from warehouse.records.videos import Video
from warehouse.records.watchlists import WatchlistEntry

SCREEN_LIMIT = 20
"""Videos of a hashtag that are checked: the first screen only."""

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChecker:
    """Checks one entry at a time over the stores of a world. Blocking."""

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    open_engine: Callable[[], Engine]
    sounds_dir: Path

    def observe(self, entry: WatchlistEntry) -> changes.WatchObservation:
        """Observe an account or a hashtag now; every capture is stored in the lake.

        Raises:
            InputError: The entry does not identify an account or hashtag.
            UpstreamError: The platform refused.
            WarehouseError: The capture could not be stored.
        """
        is_account = entry.kind == "account"
        music_provider = providers.music_provider_name(self.settings)
        name = self.settings.data_provider if is_account else music_provider
        check = _check_account if is_account else _check_hashtag
        follow_sandbox_clock(self.profile)

        async def ask() -> changes.WatchObservation:
            async with self._captures(name) as captures:
                return await check(captures, entry.input)

        return asyncio.run(ask())

    @asynccontextmanager
    async def _captures(self, provider_name: str) -> AsyncIterator[Captures]:
        engine = self.open_engine()
        provider = providers.build_provider(
            provider_name,
            ProviderDependencies(
                settings=self.settings, profile=self.profile, control=self.control, engine=engine
            ),
        )
        async with Captures(
            provider=provider,
            lake=engine.lake,
            engine=engine,
            control=self.control,
            sounds_dir=self.sounds_dir,
            link_ttl_s=self.settings.link_ttl_days * _DAY_S,
        ) as captures:
            yield captures


async def _check_account(captures: Captures, text: str) -> changes.WatchObservation:
    sec_uid = await captures.resolve_user(text)
    account = await captures.account(sec_uid)
    return changes.to_account_observation(
        account, _videos_of(await captures.walk_user_posts(sec_uid))
    )


async def _check_hashtag(captures: Captures, text: str) -> changes.WatchObservation:
    ch_id = await captures.resolve_hashtag(text)
    info = await captures.hashtag(ch_id)
    walk = await captures.walk_hashtag(ch_id, limit=SCREEN_LIMIT, pages=1)
    return changes.to_hashtag_observation(info, _videos_of(walk))


def _videos_of(walk: ListWalk) -> tuple[Video, ...]:
    """Return the videos of a screen; raise if it was refused, which would look like a loss."""
    if walk.error is not None and not walk.videos:
        raise walk.error
    return walk.videos


_UNAVAILABLE = "unavailable"


@contextmanager
def open_watchlist_runner(settings: Settings) -> Iterator[WatchlistRunner]:
    """Open the watchlist service; close its stores afterwards.

    Only the control store is opened at once: whether anything is due is in there.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened.
    """
    profile = providers.choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control, engine_when_used(settings, home) as engine:
        checker = EntryChecker(
            settings=settings,
            profile=profile,
            control=control,
            open_engine=engine,
            sounds_dir=home.sounds_dir,
        )
        yield WatchlistRunner(
            control=control,
            scan_service=build_scan_service(
                settings, profile, home, control=control, open_engine=engine
            ),
            observe=checker.observe,
            gone_videos=partial(_unavailable_videos, engine),
            digests=home.digests_dir,
            is_demo=is_demo_world(home.world),
            notify=build_notifier(settings),
            send_alert=AlertSender(networks=settings.alert_networks),
            console_url=settings.console_url,
            retention=timedelta(days=settings.watch_retention_days),
        )


def _unavailable_videos(open_engine: Callable[[], Engine], job_id: str) -> dict[str, str | None]:
    return {
        row["aweme_id"]: row["reason"]
        for row in read_candidates(open_engine(), job_id)
        if row["outcome"] == _UNAVAILABLE
    }
