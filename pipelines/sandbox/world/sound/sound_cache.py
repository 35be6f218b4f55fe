"""Cache of rendered sounds: files on disk, rendered on first use, shared by processes.

A file's name contains seed, size of the world, sound version and music id, so that nothing stale is
served. Writes are atomic; two processes that render the same sound write the same bytes.
"""

import io
import os
import threading
from pathlib import Path

import numpy as np

from pipelines.sandbox.world.content.sounds import SandboxSound
from pipelines.sandbox.world.content.videos import Alteration, SandboxVideo
from pipelines.sandbox.world.sound.encoding import Codec, encode
from pipelines.sandbox.world.sound.instruments import RATE, Samples
from pipelines.sandbox.world.sound.recordings import play_base, render, render_video
from pipelines.sandbox.world.world import SandboxWorld

SOUND_VERSION = 9
"""Increase it when a change affects the worlds, the samples or their encoding."""
_SUFFIX: dict[Codec, str] = {"aac": "mp4", "mp3": "mp3"}
_SCALE = 32_000.0


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

    def path(self, sound: SandboxSound, *, codec: Codec = "aac") -> Path:
        """Return the path of a sound's file, rendered or not."""
        return self.folder / f"{sound.music_id}.{_SUFFIX[codec]}"

    def file(self, sound: SandboxSound, *, codec: Codec = "aac") -> Path:
        """Return the file of a sound, and render it if needed."""
        path = self.path(sound, codec=codec)
        if not path.exists():
            data = encode(self.samples(sound), codec=codec, stereo=sound.stereo)
            _write(path, data)
        return path

    def video_path(self, work: SandboxVideo) -> Path:
        """Return the path of the file of a video with its own sound, rendered or not."""
        return self.folder / f"{work.aweme_id}-{work.alteration.name.lower()}.{_SUFFIX['aac']}"

    def video_file(self, work: SandboxVideo) -> Path:
        """Return the file that a video or a photo post plays, and render it if needed."""
        sound = self.world.sounds.row(work.sound)
        if work.alteration is Alteration.NONE:
            return self.file(sound, codec="mp3" if work.is_photo else "aac")
        path = self.video_path(work)
        if not path.exists():
            samples = render_video(self.world.seed, work, sound, self.base)
            _write(path, encode(samples, codec="aac", stereo=sound.stereo))
        return path

    def song_path(self, track: int, *, length_s: float) -> Path:
        """Return the path of the file of a track's recording, rendered or not."""
        return self.folder / f"song{track}-{length_s:g}.{_SUFFIX['aac']}"

    def song_file(self, track: int, *, length_s: float) -> Path:
        """Return the first seconds of a track's clean recording, and render them if needed."""
        path = self.song_path(track, length_s=length_s)
        if not path.exists():
            samples = self.base(self.world.tracks[track].score)[: int(length_s * RATE)]
            _write(path, encode(samples, codec="aac", stereo=False))
        return path

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
