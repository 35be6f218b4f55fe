"""What can be heard in the sandbox, and the files of it. Rendering them is in `sound_cache.py`.

A file's name contains seed, size of the world, sound version and music id, so that nothing stale is
served.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.world.content.tables import SandboxSound, SandboxVideo
from sandbox.world.world import SandboxWorld

Codec = Literal["aac", "mp3"]
SOUND_VERSION = 9
"""Increase it when a change affects the worlds, the samples or their encoding."""
_SUFFIX: dict[Codec, str] = {"aac": "mp4", "mp3": "mp3"}


@dataclass(frozen=True, slots=True)
class SandboxSong:
    """The first seconds of the clean recording of a track, by its number."""

    track: int
    length_s: float


@dataclass(frozen=True, slots=True)
class SandboxSilence:
    """What photo posts without a sound play."""


Piece = SandboxSound | SandboxVideo | SandboxSong | SandboxSilence
"""What a file plays: the sound of a music id, a video with a sound of its own, a song, nothing."""


class SoundFiles:
    """Files of a world's sounds in a folder.

    Args:
        world: The world whose sounds these are.
        folder: Where files are kept; made if missing.
    """

    def __init__(self, world: SandboxWorld, folder: Path) -> None:
        self.world = world
        tracks = world.track_count
        name = f"seed{world.seed}-size{world.size:g}-tracks{tracks}-v{SOUND_VERSION}"
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, piece: Piece, *, codec: Codec = "aac") -> Path:
        """Return the path of a file, rendered or not."""
        match piece:
            case SandboxSound():
                name = piece.music_id
            case SandboxVideo():
                name = f"{piece.aweme_id}-{piece.alteration.name.lower()}"
            case SandboxSong():
                name = f"song{piece.track}-{piece.length_s:g}"
            case SandboxSilence():
                name = "silent"
        return self.folder / f"{name}.{_SUFFIX[codec]}"
