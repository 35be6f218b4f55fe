"""Files of sounds: encoded as the platform serves them, rendered on first use, cached on disk.

A file is AAC with a tiny video stream in MP4, or MP3. Encoding is bit-exact for one version of the
codecs, and costs about a tenth of a second. Writes are atomic; two processes that render the same
sound write the same bytes. A file's name contains seed, size of the world, sound version and music
id, so that nothing stale is served.
"""

import io
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer

from pipelines.fork_server import exit_with_parent
from sandbox.world.content.tables import Alteration, SandboxSound, SandboxVideo
from sandbox.world.growth import DAY_S, HORIZON_DAYS
from sandbox.world.sound.instruments import RATE, Samples
from sandbox.world.sound.recordings import play_base, render, render_video
from sandbox.world.world import SandboxWorld

Codec = Literal["aac", "mp3"]
SOUND_VERSION = 9
"""Increase it when a change affects the worlds, the samples or their encoding."""
_SUFFIX: dict[Codec, str] = {"aac": "mp4", "mp3": "mp3"}
_SCALE = 32_000.0
_SILENCE_S = 5
_WIDTH, _HEIGHT = 36, 64
_BITS_PER_S = 96_000


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


class SoundCache:
    """Renders the files of a world's sounds when they are first asked for.

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
            case SandboxSilence():
                samples, stereo = np.zeros(_SILENCE_S * RATE, np.float32), False
        return encode(samples, codec=codec, stereo=stereo)

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


_opened: dict[str, SoundCache] = {}


def open_sound_cache(world_at: Callable[..., SandboxWorld], folder: Path) -> None:
    """Initialise a rendering process, which ends with its parent, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; Ctrl-C reaches the group
    exit_with_parent()  # a process of a pool would wait for its queue for ever
    # Rows of sounds and videos never change, so the last point in time contains all of them.
    _opened["cache"] = SoundCache(world_at(passed_s=HORIZON_DAYS * DAY_S), folder)


def render_in_process(piece: Piece, codec: Codec) -> None:
    """Render a file in a process of `open_sound_cache`."""
    _opened["cache"].file(piece, codec=codec)


def _npy(values: np.ndarray) -> bytes:
    target = io.BytesIO()
    np.save(target, values)
    return target.getvalue()


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(data)
    part.replace(path)


def encode(samples: Samples, *, codec: Codec, stereo: bool) -> bytes:
    """One media file.

    Args:
        samples: Mono, shape (samples,), at `RATE`.
        codec: `aac` gives an MP4 with a picture of one frame a second, `mp3` gives an MP3.
        stereo: Spread the sound over two channels whose mean is the mono signal.
    """
    target = io.BytesIO()
    options = {"fflags": "+bitexact"}
    with av.open(target, "w", format="mp4" if codec == "aac" else "mp3", options=options) as file:
        channels = _channels(samples, stereo=stereo)
        sound = _sound_stream(file, codec, "mono" if channels.shape[0] == 1 else "stereo")
        if codec == "aac":
            _picture(file, seconds=max(1, samples.size // RATE))
        _mux_sound(file, sound, channels)
    return target.getvalue()


def _channels(samples: Samples, *, stereo: bool) -> Samples:
    if not stereo:
        return samples[np.newaxis, :]
    late = np.zeros_like(samples)
    late[500:] = 0.3 * samples[:-500]
    return np.stack([samples + late, samples - late]) * np.float32(0.75)


def _sound_stream(file: OutputContainer, codec: Codec, layout: str) -> AudioStream:
    if codec == "aac":
        stream = file.add_stream("aac", rate=RATE, layout=layout, options={"aac_coder": "fast"})
    else:
        quick = {"compression_level": "8"}
        stream = file.add_stream("libmp3lame", rate=RATE, layout=layout, options=quick)
    stream.bit_rate = _BITS_PER_S
    return stream


def _mux_sound(file: OutputContainer, stream: AudioStream, channels: Samples) -> None:
    layout = "mono" if channels.shape[0] == 1 else "stereo"
    plain = np.ascontiguousarray(channels, dtype=np.float32)
    frame = av.AudioFrame.from_ndarray(plain, format="fltp", layout=layout)
    frame.sample_rate = RATE
    frame.pts = 0
    file.mux([*stream.encode(frame), *stream.encode(None)])


def _picture(file: OutputContainer, *, seconds: int) -> None:
    stream = file.add_stream("mpeg4", rate=1)
    stream.width, stream.height, stream.pix_fmt = _WIDTH, _HEIGHT, "yuv420p"
    grey = np.full((_HEIGHT, _WIDTH, 3), 96, dtype=np.uint8)
    for second in range(seconds):
        frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
        frame.pts = second
        file.mux(stream.encode(frame))
    file.mux(stream.encode(None))
