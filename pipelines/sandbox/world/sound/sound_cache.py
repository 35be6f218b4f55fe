"""Cache of rendered sounds: files on disk, rendered on first use, shared by processes.

A file's name contains seed, size of the world, sound version and music id, so that nothing stale is
served. Writes are atomic; two processes that render the same sound write the same bytes.
"""

import io
import os
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.sandbox.world.content.tables import Alteration, SandboxSound, SandboxVideo
from pipelines.sandbox.world.sound.encoding import Codec, encode
from pipelines.sandbox.world.sound.instruments import RATE, Samples
from pipelines.sandbox.world.sound.recordings import play_base, render, render_video
from pipelines.sandbox.world.world import SandboxWorld

SOUND_VERSION = 9
"""Increase it when a change affects the worlds, the samples or their encoding."""
_SUFFIX: dict[Codec, str] = {"aac": "mp4", "mp3": "mp3"}
_SCALE = 32_000.0


@dataclass(frozen=True, slots=True)
class SandboxSong:
    """The first seconds of the clean recording of a track, by its number."""

    track: int
    length_s: float


Piece = SandboxSound | SandboxVideo | SandboxSong
"""What a file plays: the sound of a music id, a video with a sound of its own, or a song."""


class SoundCache:
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
        return self.folder / f"{name}.{_SUFFIX[codec]}"

    def file(self, piece: Piece, *, codec: Codec = "aac") -> Path:
        """Return a file, and render it if needed."""
        path = self.path(piece, codec=codec)
        if not path.exists():
            _write(path, self._rendered(piece, codec))
        return path

    def video_file(self, work: SandboxVideo) -> Path:
        """Return the file that a video or a photo post plays, and render it if needed."""
        if work.alteration is Alteration.NONE:
            sound = self.world.sounds.row(work.sound)
            return self.file(sound, codec="mp3" if work.is_photo else "aac")
        return self.file(work)

    def _rendered(self, piece: Piece, codec: Codec) -> bytes:
        match piece:
            case SandboxSound():
                samples, stereo = self.samples(piece), piece.stereo
            case SandboxVideo():
                sound = self.world.sounds.row(piece.sound)
                samples = render_video(self.world.seed, piece, sound, self.base)
                stereo = sound.stereo
            case SandboxSong():
                recording = self.base(self.world.tracks[piece.track].score)
                samples, stereo = recording[: int(piece.length_s * RATE)], False
        return encode(samples, codec=codec, stereo=stereo)

    def placeholder(self) -> Path:
        """Return the silent file of photo posts without a sound."""
        path = self.folder / "silent.mp3"
        if not path.exists():
            _write(path, encode(np.zeros(5 * RATE, np.float32), codec="mp3", stereo=False))
        return path

    def samples(self, sound: SandboxSound) -> Samples:
        """Return the samples of a sound before encoding, shape (samples,), mono."""
        return render(self.world.seed, sound, self.base)

    def base(self, score: int) -> Samples:
        """Return the recording of a composition; cached on disk for tracks, which recur often."""
        if score >= self.world.track_count:
            return play_base(self.world.seed, score)
        path = self.folder / f"base{score}.npy"
        try:
            pcm = np.load(path)
        except (FileNotFoundError, EOFError, ValueError):  # not there, or damaged
            pcm = np.round(play_base(self.world.seed, score) * _SCALE).astype(np.int16)
            _write(path, _npy(pcm))
        return np.asarray(pcm / np.float32(_SCALE), dtype=np.float32)


def _npy(values: np.ndarray) -> bytes:
    target = io.BytesIO()
    np.save(target, values)
    return target.getvalue()


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(data)
    part.replace(path)
