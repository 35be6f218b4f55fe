"""What editors, players, recorders and rooms do to time, channels and tone of a real recording.

Arrays in, arrays out: float32 at `RATE`, mono unless stated. Each function takes the sound, the
value of the row, and a stream of random numbers, as every step does (`transforms.py`).
"""

import numpy as np
import scipy.fft
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.signal import butter, resample_poly, sosfilt

from benchmarks.accuracy.sounds.filters import in_room
from benchmarks.accuracy.sounds.voices import pink
from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

_OVERSAMPLED = 4  # the error of straight lines between them: -67 dB at 1 kHz, -48 dB at 5 kHz
_WOW_HZ, _FLUTTER_HZ = 0.7, 9.0
"""A warped record turns 33 times a minute, which is 0.56 Hz; capstans of tape decks are faster."""
_FLUTTER_SHARE = 0.1
_BLOCK_S = 0.02
_PIECES_S = (0.3, 1.2)
_FADE_S = 0.005
_FURNISHED = 0.4  # share of energy that the walls of a living room absorb
_PHONE_BAND_HZ = (150.0, 9_000.0)
_PHONE_NOISE_DB = -25.0
_DENSE_S, _DENSE_DB = 3.0, 4.0

type Places = NDArray[np.float64]


def at_places(x: Samples, places: Places) -> Samples:
    """Return the sound read at places of the original, in samples, which need not be whole."""
    fine = resample_poly(x, _OVERSAMPLED, 1)
    read = np.interp(places * _OVERSAMPLED, np.arange(fine.size), fine)
    return np.asarray(read, dtype=np.float32)


def with_clock(x: Samples, percent: float, _: Generator) -> Samples:
    """Played or recorded by a clock that is `percent` too fast."""
    return at_places(x, _until_end(x, np.full(x.size, 1 + percent / 100)))


def with_wow(x: Samples, percent: float, rng: Generator) -> Samples:
    """Wow of 0.7 Hz, with a peak of `percent` of the speed, and a tenth of it as flutter."""
    time = np.arange(x.size) / RATE
    phases = rng.uniform(0, 2 * np.pi, 2)
    swing = np.sin(2 * np.pi * _WOW_HZ * time + phases[0])
    swing += _FLUTTER_SHARE * np.sin(2 * np.pi * _FLUTTER_HZ * time + phases[1])
    return at_places(x, _until_end(x, 1 + percent / 100 * swing))


def with_drift(x: Samples, speed: float, _: Generator) -> Samples:
    """A speed that moves evenly from 1.0 to `speed`, pitch included."""
    return at_places(x, _until_end(x, np.linspace(1.0, speed, x.size)))


def resynchronised(x: Samples, most_ms: float, rng: Generator) -> Samples:
    """Moved anew every second by up to `most_ms` to either side, as recorders keep in step."""
    seconds = np.arange(x.size) // RATE
    offsets = rng.uniform(-most_ms, most_ms, int(seconds[-1]) + 1) * RATE / 1000
    return at_places(x, np.clip(np.arange(x.size) + offsets[seconds], 0, x.size - 1))


def with_variable_frames(x: Samples, percent: float, rng: Generator) -> Samples:
    """Pieces of 0.3 to 1.2 s, each up to `percent` too fast or slow and the next as much the other
    way, as editors conform the sound to pictures of a variable frame rate."""
    speeds: list[NDArray[np.float64]] = []
    while sum(piece.size for piece in speeds) < x.size:
        size, excess = int(rng.uniform(*_PIECES_S) * RATE), rng.uniform(-percent, percent) / 100
        speeds += [np.full(size, 1 + excess), np.full(size, 1 - excess)]
    return at_places(x, _until_end(x, np.concatenate(speeds)[: x.size]))


def with_lost_blocks(x: Samples, a_second: float, rng: Generator) -> Samples:
    """Blocks of 20 ms, so many a second, dropped or doubled, each as often."""
    size = int(_BLOCK_S * RATE)
    blocks = [x[at : at + size] for at in range(0, x.size, size)]
    drawn = rng.random(len(blocks))
    share = a_second * _BLOCK_S / 2
    counts = np.where(drawn < share, 0, np.where(drawn < 2 * share, 2, 1))
    kept = [block for block, times in zip(blocks, counts, strict=True) for _ in range(times)]
    return np.concatenate(kept)


def by_phone(x: Samples, percent: float, rng: Generator) -> Samples:
    """Recorded by a phone in a room, whose clock is `percent` too fast."""
    heard = in_room(with_clock(x, percent, rng) if percent else x, _FURNISHED, rng)
    band = butter(2, _PHONE_BAND_HZ, "bandpass", fs=RATE, output="sos")
    captured = normal(sosfilt(band, heard))
    noise = 10 ** (_PHONE_NOISE_DB / 20) * pink(rng, captured.size)
    return normal(np.tanh(3 * (captured + noise)))


def with_inverted_channel(x: Samples, _value: float, _: Generator) -> Samples:
    """Left as it is, right inverted: shape (2, samples), from the same shape."""
    return np.stack((x[0], -x[1]))


def in_dense_reverb(x: Samples, seconds: float, rng: Generator) -> Samples:
    """In a hall that takes `seconds` to fall by 60 dB, 4 dB more of it than of direct sound."""
    count = int(seconds * RATE)
    hall = rng.standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    size = scipy.fft.next_fast_len(x.size + count, real=True)
    wet = scipy.fft.irfft(scipy.fft.rfft(x, size) * scipy.fft.rfft(hall, size), size)[: x.size]
    return normal(normal(x) + 10 ** (_DENSE_DB / 20) * normal(wet))


def low_passed(x: Samples, hertz: float, _: Generator) -> Samples:
    """Without what lies above a frequency, as heard through a wall."""
    return normal(sosfilt(butter(4, hertz, fs=RATE, output="sos"), x))


def followed_by(x: Samples, ending: Samples) -> Samples:
    """A sound whose end is replaced by another one, at the same loudness."""
    fade = np.linspace(0, 1, int(_FADE_S * RATE), dtype=np.float32)
    ending = normal(ending)
    ending[: fade.size] *= fade
    ending[-fade.size :] *= fade[::-1]
    kept = normal(x[: max(0, x.size - ending.size)])
    kept[-fade.size :] *= fade[::-1]
    return np.concatenate((kept, ending))


def over(x: Samples, other: Samples, level_db: float) -> Samples:
    """A sound with another one over it, `level_db` louder than the first."""
    size = min(x.size, other.size)
    return normal(normal(x[:size]) + 10 ** (level_db / 20) * normal(other[:size]))


def _until_end(x: Samples, speeds: NDArray[np.float64]) -> Places:
    """Return the places that are read at these speeds, one for each sample, within the sound."""
    places = np.cumsum(speeds) - speeds[0]
    return np.asarray(places[places <= x.size - 1], dtype=np.float64)
