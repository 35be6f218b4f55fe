"""Check accounts and hashtags: capture their profile and first screen.

Not here: tracks, which are scanned through the scan service; comparing (`changes.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from pipelines.captures.list_walk import ListWalk
from pipelines.captures.session import Captures
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_data_provider, build_music_provider
from pipelines.platform.providers.provider import Provider
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from pipelines.settings import Settings
from pipelines.watchlists.observations import (
    WatchObservation,
    to_account_observation,
    to_hashtag_observation,
)
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.videos import Video
from warehouse.records.watchlists import WatchlistEntry

SCREEN_LIMIT = 20
"""Videos of a hashtag that are checked: the first screen only."""

_DAY_S = 86_400.0


class EntryChecker:
    """Checks one entry at a time over open stores. Blocking."""

    def __init__(
        self,
        *,
        settings: Settings,
        profile: PlatformProfile,
        control: ControlStore,
        engine: Engine,
        sounds_dir: Path,
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._control = control
        self._engine = engine
        self._sounds_dir = sounds_dir

    def observe(self, entry: WatchlistEntry) -> WatchObservation:
        """Observe an account or a hashtag now; every capture is stored in the lake.

        Raises:
            InputError: The entry does not identify an account or hashtag.
            UpstreamError: The platform refused.
            WarehouseError: The capture could not be stored.
        """
        check = _check_account if entry.kind == "account" else _check_hashtag
        build = build_data_provider if entry.kind == "account" else build_music_provider

        follow_sandbox_clock(self._profile)

        async def ask() -> WatchObservation:
            async with self._captures(build) as captures:
                return await check(captures, entry.input)

        return asyncio.run(ask())

    @asynccontextmanager
    async def _captures(self, build: Callable[..., Provider]) -> AsyncIterator[Captures]:
        provider = build(self._settings, self._profile, control=self._control, engine=self._engine)
        async with Captures(
            provider=provider,
            lake=self._engine.lake,
            engine=self._engine,
            control=self._control,
            sounds_dir=self._sounds_dir,
            link_ttl_s=self._settings.link_ttl_days * _DAY_S,
        ) as captures:
            yield captures


async def _check_account(captures: Captures, text: str) -> WatchObservation:
    sec_uid = await captures.resolve_user(text)
    account = await captures.account(sec_uid)
    return to_account_observation(account, _videos_of(await captures.walk_user_posts(sec_uid)))


async def _check_hashtag(captures: Captures, text: str) -> WatchObservation:
    ch_id = await captures.resolve_hashtag(text)
    info = await captures.hashtag(ch_id)
    walk = await captures.walk_hashtag(ch_id, limit=SCREEN_LIMIT, pages=1)
    return to_hashtag_observation(info, _videos_of(walk))


def _videos_of(walk: ListWalk) -> tuple[Video, ...]:
    """Return the videos of a screen; raise if it was refused, which would look like a loss."""
    if walk.error is not None and not walk.videos:
        raise walk.error
    return walk.videos
