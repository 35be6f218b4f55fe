"""Worker functions of the rendering processes. A process opens the world once, then writes files.

Only names and numbers are passed between processes. They end with their parent, however it ends.
"""

import os
import signal
import threading
from multiprocessing import parent_process
from pathlib import Path

from pipelines.sandbox.world.growth import DAY_S, HORIZON_DAYS
from pipelines.sandbox.world.sound.encoding import Codec
from pipelines.sandbox.world.sound.sound_cache import SoundCache
from pipelines.sandbox.world.world import SandboxWorld

_opened: dict[str, SoundCache] = {}


def open_sound_cache(
    seed: int, size: float, tracks: int, altered_share: float, start: int | None, folder: Path
) -> None:
    """Initialise a rendering process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; Ctrl-C reaches the group
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Rows of sounds and videos never change, so the last point in time contains all of them.
    last = HORIZON_DAYS * DAY_S
    world = SandboxWorld(
        seed, size, tracks=tracks, passed_s=last, altered_share=altered_share, start=start
    )
    _opened["cache"] = SoundCache(world, folder)


def make_file(index: int, codec: Codec) -> bool:
    """Render the file of a sound, by its row; return True if it exists."""
    sound_cache = _opened["cache"]
    return sound_cache.file(sound_cache.world.sounds.row(index), codec=codec).exists()


def make_video_file(index: int) -> bool:
    """Render the file of a video with its own sound, by its row; return True if it exists."""
    sound_cache = _opened["cache"]
    return sound_cache.video_file(sound_cache.world.works.row(index)).exists()


def make_song_file(track: int, length_s: float) -> bool:
    """Render the file of a track's recording; return True if it exists."""
    return _opened["cache"].song_file(track, length_s=length_s).exists()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a pool worker would wait for its queue forever
