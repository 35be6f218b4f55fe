"""Edits by the tools that people use: filters of the `ffmpeg` command, and simulated rooms.

Arrays in, arrays out: mono float32 at `RATE`. `make setup-bench` installs the command; FFmpeg's
libraries in the Python package have no Rubber Band.
"""

import shutil
import subprocess

import numpy as np
import scipy.signal
from numpy.random import Generator

from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

_RAW = ("-f", "f32le", "-ar", str(RATE), "-ac", "1")
_IMAGES = 12
"""Highest order of reflections; later ones are below -60 dB of the rooms drawn here."""


def has_ffmpeg() -> bool:
    return shutil.which("ffmpeg") is not None


def by_ffmpeg(x: Samples, chain: str) -> Samples:
    """Sound after a chain of FFmpeg's audio filters."""
    command = ["ffmpeg", "-v", "error", "-threads", "1", *_RAW, "-i", "-", "-af", chain, *_RAW, "-"]
    ended = subprocess.run(
        command, input=np.asarray(x, dtype="<f4").tobytes(), check=True, capture_output=True
    )
    return np.frombuffer(ended.stdout, "<f4").copy()


def by_asetrate(x: Samples, factor: float, _: Generator) -> Samples:
    """Played faster or slower with its pitch, as `asetrate` does."""
    return by_ffmpeg(x, f"asetrate={round(RATE * factor)},aresample={RATE}")


def by_rubberband_tempo(x: Samples, tempo: float, _: Generator) -> Samples:
    """Another tempo at the same pitch, by Rubber Band."""
    return by_ffmpeg(x, f"rubberband=tempo={tempo:.6f}")


def by_rubberband_pitch(x: Samples, semitones: float, _: Generator) -> Samples:
    """Another pitch at the same tempo, by Rubber Band."""
    return by_ffmpeg(x, f"rubberband=pitch={2 ** (semitones / 12):.6f}")


def in_room(x: Samples, absorption: float, rng: Generator) -> Samples:
    """Played by a loudspeaker in a room and recorded by a phone in it.

    The image-source method of pyroomacoustics, in a box of 4 to 9 by 3 to 7 m.

    Args:
        x: The sound.
        absorption: Share of energy that walls take: 0.5 is a furnished room, 0.1 a bare one.
        rng: Draws the room and both places.
    """
    import pyroomacoustics as acoustics  # noqa: PLC0415 - takes a second, and only this needs it

    size = np.array([rng.uniform(4, 9), rng.uniform(3, 7), rng.uniform(2.3, 3.2)])
    walls = acoustics.Material(absorption)
    room = acoustics.ShoeBox(size, fs=RATE, materials=walls, max_order=_IMAGES)
    speaker, phone = (rng.uniform(0.1, 0.9, 3) * size for _ in range(2))
    room.add_source(speaker)
    room.add_microphone(phone)
    room.compute_rir()
    heard = scipy.signal.fftconvolve(normal(x), np.asarray(room.rir[0][0], dtype=np.float32))
    return normal(heard[: x.size])
