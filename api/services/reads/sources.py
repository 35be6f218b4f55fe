"""The sources that requests read from: each opened for one request, over the process's stores.

Opening one costs 0.05 ms (a guest's client connects when it first asks), so none is shared: a
guest's cookies and waits are then nobody else's, and a browser that a source starts ends with it.
Here: which source answers what, and how many are open at once. Not here: what is asked of them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.to_thread import run_sync

from api.settings import ApiSettings
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.recording.stored_bodies import StoredBodies
from pipelines.captures.session import Captures
from pipelines.platform.profiles import Profile
from pipelines.platform.providers import (
    Provider,
    build_chart_provider,
    build_data_provider,
    build_music_provider,
    data_provider_name,
    music_provider_name,
    reads_first_screens_alone,
    session_limit,
)
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.worlds import is_demo_world

STAND_IN = "mock"
"""`data_provider` of an answer that demo data stood in for."""

_AT_THE_END = 100_000
"""Attempts, seconds: a request reads less and for less, so it commits once per table."""


class Sources:
    """What synchronous reads work with.

    Args:
        settings: Which sources, how fresh, how long a request may take.
        profile: Of the chosen world.
        engine: Over the lake of that world.
        control: Its control store.
        sounds_dir: Where a source may put sounds; requests ask for none.
    """

    def __init__(
        self,
        *,
        settings: ApiSettings,
        profile: Profile,
        engine: Engine,
        control: ControlStore,
        sounds_dir: Path,
    ) -> None:
        self.settings = settings
        self.profile = profile
        self.engine = engine
        self.control = control
        self._sounds_dir = sounds_dir
        self._doors: dict[str, asyncio.Semaphore] = {}

    def apart(self) -> "Sources":
        """The same for another event loop, with doors of its own."""
        return Sources(
            settings=self.settings,
            profile=self.profile,
            engine=self.engine,
            control=self.control,
            sounds_dir=self._sounds_dir,
        )

    @property
    def data_provider(self) -> str:
        """The source of users, posts and single works, as answers name it."""
        return data_provider_name(self.settings)

    @property
    def music_provider(self) -> str:
        """The source of music and hashtag lists, as answers name it."""
        return music_provider_name(self.settings)

    @property
    def is_demo(self) -> bool:
        """True for everything that is not the public platform or the operator's own files."""
        return is_demo_world(self.profile.name)

    @property
    def pages_posts_locally(self) -> bool:
        """True where `max_cursor` walks over the posts that were observed."""
        return self.settings.local_cursor_mode and reads_first_screens_alone(self.data_provider)

    @asynccontextmanager
    async def users(self) -> AsyncIterator[Captures]:
        """Captures from the source of users, posts and single works.

        Raises:
            ProviderUnsupportedError: This release cannot read from it.
        """
        async with self._captures(build_data_provider, self.data_provider) as captures:
            yield captures

    @asynccontextmanager
    async def music(self) -> AsyncIterator[Captures]:
        """Captures from the source of music and hashtag lists.

        Raises:
            ProviderUnsupportedError: This release cannot read from it.
        """
        async with self._captures(build_music_provider, self.music_provider) as captures:
            yield captures

    @asynccontextmanager
    async def chart(self) -> AsyncIterator[ChartCaptures]:
        """Captures from the source of the chart.

        Raises:
            ProviderUnsupportedError: The source that rules everything brings no chart.
        """
        async with self._door(self.data_provider):
            provider = await run_sync(
                lambda: build_chart_provider(
                    self.settings,
                    self.profile,
                    control=self.control,
                    bodies=StoredBodies(self.engine),
                )
            )
            async with ChartCaptures(
                provider=provider,
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                flush_every=_AT_THE_END,
                flush_after_s=_AT_THE_END,
            ) as captures:
                yield captures

    @asynccontextmanager
    async def _captures(self, build: Callable[..., Provider], name: str) -> AsyncIterator[Captures]:
        """In a thread: a source may read its files or make its world first."""
        async with self._door(name):
            provider = await run_sync(
                lambda: build(
                    self.settings,
                    self.profile,
                    control=self.control,
                    bodies=StoredBodies(self.engine),
                    may_stand_in=True,
                )
            )
            async with Captures(
                provider=provider,
                lake=self.engine.lake,
                engine=self.engine,
                control=self.control,
                sounds_dir=self._sounds_dir,
                link_ttl_s=self.settings.link_ttl_days * 86_400.0,
                flush_every=_AT_THE_END,
                flush_after_s=_AT_THE_END,
            ) as captures:
                yield captures

    def _door(self, name: str) -> asyncio.Semaphore:
        return self._doors.setdefault(name, asyncio.Semaphore(session_limit(name)))
