"""Worker functions of the rendering processes. A process opens the world once, then writes files.

Only records of names and numbers are passed between processes. They end with their parent, however
it ends. Only they load what rendering needs: the parent imports this module, too.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.fork_server import exit_with_parent
from sandbox.world.growth import DAY_S, HORIZON_DAYS
from sandbox.world.sound.sound_files import Codec, Piece
from sandbox.world.world import SandboxWorld

if TYPE_CHECKING:
    from sandbox.world.sound.sound_cache import SoundCache

_opened: dict[str, "SoundCache"] = {}


def open_sound_cache(world_at: Callable[..., SandboxWorld], folder: Path) -> None:
    """Initialise a rendering process."""
    from sandbox.world.sound.sound_cache import SoundCache  # noqa: PLC0415 -- loads SciPy and PyAV

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; Ctrl-C reaches the group
    exit_with_parent()  # a process of a pool would wait for its queue for ever
    # Rows of sounds and videos never change, so the last point in time contains all of them.
    _opened["cache"] = SoundCache(world_at(passed_s=HORIZON_DAYS * DAY_S), folder)


def make_file(piece: Piece, codec: Codec) -> bool:
    """Render a file; return True if it exists."""
    return _opened["cache"].file(piece, codec=codec).exists()
