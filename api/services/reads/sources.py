"""Data sources for requests, each opened for one request over the stores of the process.

Opening one costs 0.05 ms (a guest client connects on first use), so sources are not shared: each
request has its own guest cookies and waits, and a browser ends with its request. Decides which
source serves what and how many are open at once. Not here: what is read from them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from api.settings import ApiSettings
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import (
    build_chart_provider,
    build_data_provider,
    build_music_provider,
    build_song_source,
    data_provider_name,
    music_provider_name,
    reads_first_screens_alone,
    session_limit,
)
from pipelines.platform.providers.provider import Provider
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.worlds import is_demo_world

if TYPE_CHECKING:
    from pipelines.platform.providers.music_service import MusicServicePublic

FALLBACK_PROVIDER = "mock"
"""`data_provider` of a response with demo data as a fallback."""

_NEVER_EARLIER = 100_000
"""Captures, seconds: no request reaches these, so each commits once per table, at its end."""


class Sources:
    """Opens the sources of synchronous reads.

    Args:
        settings: Selects sources, freshness and time limits.
        profile: The chosen platform profile.
        engine: Query engine over the lake of the profile.
        control: Control store of the profile.
        sounds_dir: Folder for the sounds that requests read.
    """

    def __init__(
        self,
        *,
        settings: ApiSettings,
        profile: PlatformProfile,
        engine: Engine,
        control: ControlStore,
        sounds_dir: Path,
    ) -> None:
        self.settings = settings
        self.profile = profile
        self.engine = engine
        self.control = control
        self.sounds_dir = sounds_dir
        self.one_decoder = asyncio.Semaphore(1)  # it takes a second of processor time, and 150 MB
        self._semaphores: dict[str, asyncio.Semaphore] = {}

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
        return data_provider_name(self.settings)

    @property
    def music_provider(self) -> str:
        """Name of the source for music and hashtag lists."""
        return music_provider_name(self.settings)

    @property
    def is_demo(self) -> bool:
        """True unless the data is from the public platform or the operator's own files."""
        return is_demo_world(self.profile.name)

    @property
    def pages_posts_locally(self) -> bool:
        """True if `max_cursor` is a local cursor over observed posts."""
        return self.settings.local_cursor_mode and reads_first_screens_alone(self.data_provider)

    @asynccontextmanager
    async def users(self) -> AsyncIterator[Captures]:
        """Open captures from the source of users, posts and single videos.

        Raises:
            ProviderUnsupportedError: This release does not support the source.
        """
        async with self._captures(build_data_provider, self.data_provider) as captures:
            yield captures

    @asynccontextmanager
    async def music(self) -> AsyncIterator[Captures]:
        """Open captures from the source of music and hashtag lists.

        Raises:
            ProviderUnsupportedError: This release does not support the source.
        """
        async with self._captures(build_music_provider, self.music_provider) as captures:
            yield captures

    @asynccontextmanager
    async def songs(self) -> AsyncIterator[Captures]:
        """Open captures from the source of music, with the music service if the world has one.

        Raises:
            ProviderUnsupportedError: This release does not support the source.
        """
        async with self._semaphore(self.music_provider):
            provider = await run_sync(self._build, build_music_provider)
            songs = await run_sync(self._build, build_song_source)
            async with self._recorded(provider, songs) as captures:
                yield captures

    @asynccontextmanager
    async def sounds(self, folder: Path) -> AsyncIterator[Captures]:
        """Open captures from the source of music that download sounds to a folder.

        Raises:
            ProviderUnsupportedError: This release does not support the source.
        """
        async with self._semaphore(self.music_provider):
            provider = await run_sync(self._build, build_music_provider)
            async with self._recorded(provider, sounds_dir=folder) as captures:
                yield captures

    @asynccontextmanager
    async def chart(self) -> AsyncIterator[ChartCaptures]:
        """Open captures from the source of the chart.

        Raises:
            ProviderUnsupportedError: The configured source has no chart.
        """
        async with self._semaphore(self.data_provider):
            provider = await run_sync(
                lambda: build_chart_provider(
                    self.settings,
                    self.profile,
                    control=self.control,
                    engine=self.engine,
                )
            )
            async with ChartCaptures(
                provider=provider,
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                flush_every=_NEVER_EARLIER,
                flush_after_s=_NEVER_EARLIER,
            ) as captures:
                yield captures

    @asynccontextmanager
    async def _captures(self, build: Callable[..., Provider], name: str) -> AsyncIterator[Captures]:
        """Open captures. The source is built in a thread: it may read files or generate
        data first.
        """
        async with self._semaphore(name):
            provider = await run_sync(self._build, partial(build, for_user=True))
            async with self._recorded(provider) as captures:
                yield captures

    def _build[T](self, build: Callable[..., T]) -> T:
        return build(self.settings, self.profile, control=self.control, engine=self.engine)

    def _recorded(
        self,
        provider: Provider,
        songs: "MusicServicePublic | None" = None,
        *,
        sounds_dir: Path | None = None,
    ) -> Captures:
        return Captures(
            provider=provider,
            songs=songs,
            lake=self.engine.lake,
            engine=self.engine,
            control=self.control,
            sounds_dir=sounds_dir or self.sounds_dir,
            link_ttl_s=self.settings.link_ttl_days * 86_400.0,
            flush_every=_NEVER_EARLIER,
            flush_after_s=_NEVER_EARLIER,
        )

    def _semaphore(self, name: str) -> asyncio.Semaphore:
        return self._semaphores.setdefault(name, asyncio.Semaphore(session_limit(name)))
