"""Files of sounds: encoded as the platform serves them, rendered on first use, cached on disk.

A file is AAC with a tiny video stream in MP4, or MP3. Encoding is bit-exact for one version of the
codecs, and costs about a tenth of a second. Writes are atomic; two processes that render the same
sound write the same bytes.
"""

import io
import os
import threading
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer

from sandbox.world.content.tables import Alteration, SandboxSound, SandboxVideo
from sandbox.world.sound.instruments import RATE, Samples
from sandbox.world.sound.recordings import play_base, render, render_video
from sandbox.world.sound.sound_files import (
    Codec,
    Piece,
    SandboxSilence,
    SandboxSong,
    SoundFiles,
)

_SCALE = 32_000.0
_SILENCE_S = 5
_WIDTH, _HEIGHT = 36, 64
_BITS_PER_S = 96_000


class SoundCache(SoundFiles):
    """Renders the files of a world's sounds when they are first asked for."""

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
