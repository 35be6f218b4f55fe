"""Synthetic speech: syllables of voiced and unvoiced sound through moving formants.

No real voice is imitated: pitch, pace and vowels are drawn per speaker. It masks music as a talking
voice does.
"""

import numpy as np
import scipy.fft
from numpy.random import Generator
from numpy.typing import NDArray

from pipelines.sandbox.world.random_streams import chance
from pipelines.sandbox.world.sound.instruments import RATE, Samples

_VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480),
           (570, 840, 2410), (660, 1720, 2410))  # fmt: skip
_FORMANT_LEVELS = (1.0, 0.5, 0.25)
_FORMANT_WIDTH_HZ = 55.0
_LOW_RATE = RATE // 2  # speech has little above 11 kHz; half the rate is half the work


def speech(rng: Generator, *, length_s: float) -> Samples:
    """Return speech with pauses, shape (samples,), peak 0.9."""
    pitch = float(rng.uniform(95, 240))
    pace = float(rng.uniform(0.14, 0.24))
    out = np.zeros(int(length_s * _LOW_RATE) + 1, dtype=np.float32)
    at = float(rng.uniform(0.0, 0.3))
    while at < length_s - pace:
        length = pace * float(rng.uniform(0.7, 1.4))
        sound = _syllable(rng, pitch * float(rng.uniform(0.85, 1.2)), length)
        begin = int(at * _LOW_RATE)
        end = min(out.size, begin + sound.size)
        out[begin:end] += sound[: end - begin]
        at += length * 0.95 + (float(rng.uniform(0.25, 0.7)) if chance(rng, 0.12) else 0.0)
    out *= 0.9 / max(1e-6, float(np.abs(out).max()))
    full = np.repeat(out, 2)[: int(length_s * RATE)]
    return np.asarray(np.convolve(full, (0.5, 0.5), mode="same"), dtype=np.float32)


def _syllable(rng: Generator, hz: float, length_s: float) -> Samples:
    count = max(64, int(length_s * _LOW_RATE))
    t = np.arange(count) / _LOW_RATE
    glide = hz * (1 + float(rng.uniform(-0.12, 0.12)) * t / length_s)
    buzz = 2 * ((np.cumsum(glide) / _LOW_RATE) % 1.0) - 1 + 0.05 * rng.standard_normal(count)
    voiced = _through_mouth(buzz, _VOWELS[int(rng.integers(len(_VOWELS)))])
    onset = int(count * float(rng.uniform(0.1, 0.3)))
    hiss = np.diff(rng.standard_normal(count + 1)) * 0.4
    consonant = np.where(np.arange(count) < onset, hiss, 0.0)
    shape = np.sin(np.pi * np.minimum(1.0, t / length_s)) ** 0.5
    return np.asarray((voiced + 0.3 * consonant) * shape, dtype=np.float32)


def _through_mouth(buzz: NDArray[np.float64], formants: tuple[int, int, int]) -> Samples:
    """Resonances at the formants, applied to the spectrum: a syllable is a short sound."""
    size = scipy.fft.next_fast_len(buzz.size, real=True)
    at = np.linspace(0, _LOW_RATE / 2, size // 2 + 1)
    response = np.zeros_like(at)
    for formant, level in zip(formants, _FORMANT_LEVELS, strict=True):
        response += level / np.sqrt(1 + ((at - formant) / _FORMANT_WIDTH_HZ) ** 2)
    spoken = scipy.fft.irfft(scipy.fft.rfft(buzz, size) * response, size)[: buzz.size]
    return np.asarray(spoken, dtype=np.float32)
