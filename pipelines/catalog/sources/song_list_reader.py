"""Read lists of songs from the music service. Loads captures and sources: import it late."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from pipelines.captures.session import Captures
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_music_provider, build_song_source
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.videos import ServiceSongList

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SongListReader:
    """Reads lists of songs over open stores, one at a time. Blocking.

    `guard` returns a context for the read of a surface; it cancels the read at its deadline.
    """

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    engine: Engine
    sounds_dir: Path
    guard: Callable[[str], AbstractAsyncContextManager[None]] = lambda _: nullcontext()

    def read(self, kind: str, list_id: str) -> ServiceSongList:
        """Capture a list of songs.

        Raises:
            ProviderUnsupportedError: The source has no music service.
            UpstreamError: The music service refused, or the time is over.
        """
        follow_sandbox_clock(self.profile)

        async def capture() -> ServiceSongList:
            async with (
                self.guard(kind),
                Captures(
                    provider=build_music_provider(
                        self.settings, self.profile, control=self.control, engine=self.engine
                    ),
                    songs=build_song_source(
                        self.settings, self.profile, control=self.control, engine=self.engine
                    ),
                    lake=self.engine.lake,
                    engine=self.engine,
                    control=self.control,
                    sounds_dir=self.sounds_dir,
                    link_ttl_s=self.settings.link_ttl_days * _DAY_S,
                ) as captures,
            ):
                return await captures.song_list(kind, list_id)

        return asyncio.run(capture())
