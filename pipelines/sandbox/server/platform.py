"""Shared state of the surfaces: world, sounds, clock, URLs, access log and faults.

Every surface receives this object. Responses are not built here.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path

from pipelines.sandbox.server.access_log import AccessLog
from pipelines.sandbox.server.addresses import SandboxUrls
from pipelines.sandbox.server.documents.directory import Directory
from pipelines.sandbox.server.faults import ActiveFaults
from pipelines.sandbox.server.switches import ActiveSwitches
from pipelines.sandbox.world.chart import SandboxChart
from pipelines.sandbox.world.content.sounds import SandboxSound
from pipelines.sandbox.world.content.videos import SandboxVideo
from pipelines.sandbox.world.guest_view import GuestView
from pipelines.sandbox.world.sound.encoding import Codec
from pipelines.sandbox.world.sound.render_process import (
    make_file,
    make_song_file,
    make_video_file,
    open_sound_cache,
)
from pipelines.sandbox.world.sound.sound_cache import SoundCache
from pipelines.sandbox.world.world import SandboxWorld


class SandboxPlatform:
    """State that all surfaces share.

    Args:
        world: The world when the server starts.
        cache_dir: Folder of rendered sounds.
        addresses: The server's own addresses.
        renderers: Processes that render sound, so that the event loop never waits for it.
        switches: The switches that are on at first.
    """

    def __init__(
        self,
        world: SandboxWorld,
        *,
        cache_dir: Path,
        addresses: SandboxUrls,
        renderers: int = 2,
        switches: Iterable[str] = (),
    ) -> None:
        self.first = world
        self.world = world
        self.addresses = addresses
        self.sound_cache = SoundCache(world, cache_dir)
        self.log = AccessLog()
        self.faults = ActiveFaults()
        self.switches = ActiveSwitches(switches)
        self._cache_dir = cache_dir
        self._renderers = renderers
        self._pool = self._new_pool()
        self._rendering: dict[Path, asyncio.Task[None]] = {}
        self._directory: asyncio.Task[Directory] | None = None

    @property
    def now(self) -> int:
        """Unix seconds of the sandbox's clock, which stands still unless moved."""
        return self.world.now

    @property
    def clock_offset_s(self) -> int:
        """Seconds by which the clock was moved."""
        return self.world.passed_s - self.first.passed_s

    @property
    def view(self) -> GuestView:
        """What guests can page through, as the switches have it."""
        return GuestView(
            world=self.world, foreign_share=self.switches.share("list_foreign_rows"),
            has_author_screens=not self.switches.is_on("no_user_posts"),
        )  # fmt: skip

    async def move_clock(self, seconds: int) -> None:
        """Move the clock, and with it the world: videos gain counts, appear and vanish."""
        if seconds:
            offset_s = self.clock_offset_s + seconds
            self.world = await asyncio.to_thread(self.world_at, offset_s)
            self._directory = None

    def world_at(self, offset_s: int) -> SandboxWorld:
        """Return the world so many seconds after the server's start."""
        return self.first.at(self.first.passed_s + offset_s) if offset_s else self.first

    @cached_property
    def chart(self) -> SandboxChart:
        """The music chart with issues of all times, generated on first use."""
        return SandboxChart(self.first)

    @property
    def issue_count(self) -> int:
        """Number of issues of the chart that have appeared by now."""
        calendar = self.chart.calendar
        is_late = self.switches.is_on("chart_late")
        return (calendar.released_count_at if is_late else calendar.count_at)(self.now)

    async def directory(self) -> Directory:
        """Return hashtags and search; built once for concurrent callers."""
        if self._directory is None:
            self._directory = asyncio.create_task(asyncio.to_thread(Directory, self.world))
        return await asyncio.shield(self._directory)

    async def sound_file(self, sound: SandboxSound, *, codec: Codec) -> Path:
        """Return the file of a sound; rendered once for concurrent callers."""
        path = self.sound_cache.path(sound, codec=codec)
        if not path.exists():
            await self._made(path, partial(make_file, sound.index, codec))
        return path

    async def video_file(self, work: SandboxVideo) -> Path:
        """Return the file of a video that has its own sound; rendered once as above."""
        path = self.sound_cache.video_path(work)
        if not path.exists():
            await self._made(path, partial(make_video_file, work.index))
        return path

    async def song_file(self, track: int, *, length_s: float) -> Path:
        """Return the file of a track's recording, or of its first seconds; rendered as above."""
        path = self.sound_cache.song_path(track, length_s=length_s)
        if not path.exists():
            await self._made(path, partial(make_song_file, track, length_s))
        return path

    async def _made(self, path: Path, make: Callable[[], bool]) -> None:
        task = self._rendering.get(path)
        if task is None:
            task = asyncio.create_task(self._render(make))
            self._rendering[path] = task
            task.add_done_callback(lambda _: self._rendering.pop(path, None))
        await asyncio.shield(task)

    async def _render(self, make: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        pool = self._pool
        try:
            await loop.run_in_executor(pool, make)
        except BrokenProcessPool:  # a rendering process was killed, and pools do not recover
            if self._pool is pool:
                self._pool = self._new_pool()
            await loop.run_in_executor(self._pool, make)

    def _new_pool(self) -> ProcessPoolExecutor:
        world = self.world
        return ProcessPoolExecutor(
            self._renderers,
            mp_context=get_context("spawn"),
            initializer=open_sound_cache,
            initargs=(
                world.seed,
                world.size,
                world.track_count,
                world.altered_share,
                world.start,
                self._cache_dir,
            ),
        )

    def close(self) -> None:
        """Stop the rendering processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
