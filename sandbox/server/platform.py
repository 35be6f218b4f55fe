"""Shared state of the surfaces: world, sounds, clock, URLs, access log and faults.

Every surface receives this object. Responses are not built here.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cached_property, lru_cache
from multiprocessing import get_context
from pathlib import Path

from sandbox.server.access_log import AccessLog
from sandbox.server.addresses import SandboxUrls
from sandbox.server.faults import ActiveFaults
from sandbox.server.switches import ActiveSwitches
from sandbox.world.chart import SandboxChart
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.guest_view import GuestView, VideoTextIndex
from sandbox.world.sound.sound_cache import (
    Codec,
    Piece,
    SoundCache,
    open_sound_cache,
    render_in_process,
)
from sandbox.world.world import SandboxWorld

_MAX_CACHED_TRUTHS = 2000
_RENDERERS = 2
"""Processes that render sound, so that the event loop never waits for it."""


class SandboxPlatform:
    """State that all surfaces share.

    Args:
        world: The world when the server starts.
        cache_dir: Folder of rendered sounds.
        addresses: The server's own addresses.
        switches: The switches that are on at first.
    """

    def __init__(
        self,
        world: SandboxWorld,
        *,
        cache_dir: Path,
        addresses: SandboxUrls,
        switches: Iterable[str] = (),
    ) -> None:
        self.first = world
        self.world = world
        self.addresses = addresses
        self._sounds = SoundCache(world, cache_dir)
        self._cache_dir = cache_dir
        self._pool = self._new_pool()
        self.log = AccessLog()
        self.faults = ActiveFaults()
        self.switches = ActiveSwitches(switches)
        self._text_index: asyncio.Task[VideoTextIndex] | None = None
        self._truths = lru_cache(maxsize=_MAX_CACHED_TRUTHS)(
            lambda view, music_id: GroundTruth(view.world, music_id, view=view)
        )

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
            self._text_index = None

    def world_at(self, offset_s: int) -> SandboxWorld:
        """Return the world so many seconds after the server's start."""
        return self.first.at(self.first.passed_s + offset_s) if offset_s else self.first

    def ground_truth(self, music_id: str, offset_s: int | None = None) -> GroundTruth:
        """Return the ground truth now (cached, counting takes time), or at another time.

        Args:
            music_id: The music id.
            offset_s: Seconds after the server's start; None for now.

        Raises:
            KeyError: No sound has this id.
        """
        if offset_s in (None, self.clock_offset_s):
            return self._truths(self.view, music_id)
        world = self.world_at(offset_s)
        return GroundTruth(world, music_id, view=replace(self.view, world=world))

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

    async def text_index(self) -> VideoTextIndex:
        """Return hashtags and search; built once for concurrent callers, as it takes time."""
        if self._text_index is None:
            self._text_index = asyncio.create_task(asyncio.to_thread(VideoTextIndex, self.world))
        return await asyncio.shield(self._text_index)

    async def sound_file(self, piece: Piece, *, codec: Codec = "aac") -> Path:
        """Return the file of a piece, rendered if needed."""
        path, pool = self._sounds.path(piece, codec=codec), self._pool
        if path.exists():
            return path
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(pool, render_in_process, piece, codec)
        except BrokenProcessPool:  # a rendering process was killed, and pools do not recover
            if self._pool is pool:
                self._pool = self._new_pool()
            await loop.run_in_executor(self._pool, render_in_process, piece, codec)
        return path

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            _RENDERERS, mp_context=get_context("spawn"), initializer=open_sound_cache,
            initargs=(self.world.again, self._cache_dir),
        )  # fmt: skip

    def close(self) -> None:
        """Stop the rendering processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
