"""Data sources for requests, each opened for one request over the stores of the process.

Opening one costs 0.05 ms (a guest client connects on first use), so sources are not shared: each
request has its own guest cookies and waits, and a browser ends with its request. Decides which
source serves what and how many are open at once. Not here: what is read from them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from anyio.to_thread import run_sync

from api.settings import ApiSettings
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.captures.sharing import is_fresh
from pipelines.platform import providers
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import Provider
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import is_demo_world
from warehouse.queries.videos import read_last_outcome

FALLBACK_PROVIDER = "mock"
"""`data_provider` of a response with demo data as a fallback."""

_NEVER_EARLIER = 100_000
"""Captures, seconds: no request reaches these, so each commits once per table, at its end."""


@dataclass(eq=False)
class Sources:
    """Opens the sources of synchronous reads.

    Attributes:
        settings: Selects sources, freshness and time limits.
        profile: The chosen platform profile.
        engine: Query engine over the lake of the profile.
        control: Control store of the profile.
        sounds_dir: Folder for the sounds that requests read.
    """

    settings: ApiSettings
    profile: PlatformProfile
    engine: Engine
    control: ControlStore
    sounds_dir: Path
    # it takes a second of processor time, and 150 MB
    one_decoder: asyncio.Semaphore = field(
        default_factory=partial(asyncio.Semaphore, 1), init=False
    )
    _semaphores: dict[str, asyncio.Semaphore] = field(default_factory=dict, init=False)

    def apart(self) -> "Sources":
        """Return a copy for another event loop, with its own semaphores."""
        return Sources(
            settings=self.settings,
            profile=self.profile,
            engine=self.engine,
            control=self.control,
            sounds_dir=self.sounds_dir,
        )

    @property
    def data_provider(self) -> str:
        """Name of the source for users, posts and single videos."""
        return providers.data_provider_name(self.settings)

    @property
    def music_provider(self) -> str:
        """Name of the source for music and hashtag lists."""
        return providers.music_provider_name(self.settings)

    @property
    def is_demo(self) -> bool:
        """True unless the data is from the public platform or the operator's own files."""
        return is_demo_world(self.profile.name)

    @property
    def pages_posts_locally(self) -> bool:
        """True if `max_cursor` is a local cursor over observed posts."""
        return self.settings.local_cursor_mode and providers.reads_first_screens_alone(
            self.data_provider
        )

    async def had_lately(
        self, outcome: str, surfaces: tuple[str, ...], entity_id: str, *, now: datetime
    ) -> bool:
        """Return whether a read of an entity ended so within `NEGATIVE_TTL`."""
        find = partial(
            read_last_outcome,
            self.engine,
            surfaces=surfaces,
            entity_id=entity_id,
            outcome=outcome,
        )
        return is_fresh(await run_sync(find), now=now, ttl_s=self.settings.negative_ttl)

    def users(self) -> AbstractAsyncContextManager[Captures]:
        """Open captures from the source of users, posts and single videos.

        Raises:
            ProviderUnsupportedError: This release does not support the source. So for all others.
        """
        return self._captures(
            partial(providers.build_data_provider, for_user=True), self.data_provider
        )

    def music(self) -> AbstractAsyncContextManager[Captures]:
        """Open captures from the source of music and hashtag lists."""
        return self._captures(
            partial(providers.build_music_provider, for_user=True), self.music_provider
        )

    def songs(self) -> AbstractAsyncContextManager[Captures]:
        """Open captures from the source of music, with the music service if the world has one."""
        return self._captures(providers.build_music_provider, self.music_provider, has_songs=True)

    def sounds(self, folder: Path) -> AbstractAsyncContextManager[Captures]:
        """Open captures from the source of music that download sounds to a folder."""
        return self._captures(
            providers.build_music_provider, self.music_provider, sounds_dir=folder
        )

    @asynccontextmanager
    async def chart(self) -> AsyncIterator[ChartCaptures]:
        """Open captures from the source of the chart.

        Raises:
            ProviderUnsupportedError: The configured source has no chart.
        """
        async with (
            self._semaphore(self.data_provider),
            ChartCaptures(
                provider=await run_sync(self._build, providers.build_chart_provider),
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                flush_every=_NEVER_EARLIER,
                flush_after_s=_NEVER_EARLIER,
            ) as captures,
        ):
            yield captures

    @asynccontextmanager
    async def _captures(
        self,
        build: Callable[..., Provider],
        name: str,
        *,
        has_songs: bool = False,
        sounds_dir: Path | None = None,
    ) -> AsyncIterator[Captures]:
        """Open captures. Sources are built in a thread: one may read files or generate data
        first.
        """
        async with (
            self._semaphore(name),
            Captures(
                provider=await run_sync(self._build, build),
                songs=await run_sync(self._build, providers.build_song_source)
                if has_songs
                else None,
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                sounds_dir=sounds_dir or self.sounds_dir,
                link_ttl_s=self.settings.link_ttl_days * 86_400.0,
                flush_every=_NEVER_EARLIER,
                flush_after_s=_NEVER_EARLIER,
            ) as captures,
        ):
            yield captures

    def _build[T](self, build: Callable[..., T]) -> T:
        return build(self.settings, self.profile, control=self.control, engine=self.engine)

    def _semaphore(self, name: str) -> asyncio.Semaphore:
        return self._semaphores.setdefault(name, asyncio.Semaphore(providers.session_limit(name)))
