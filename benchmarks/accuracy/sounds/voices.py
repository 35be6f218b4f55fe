"""Voices, crowds and noise: what covers music in real clips.

Narration by espeak-ng where it is installed, else by the stand-in world's own voice synthesis;
over real recordings by the people of free announcements.
"""

import subprocess
from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.random import Generator
from scipy.signal import resample_poly

from benchmarks.accuracy.real.library import narration, speakers
from benchmarks.accuracy.sounds.tracks import Part, Sources
from sandbox.world.random_streams import stream
from sandbox.world.sound.instruments import RATE, Samples, speech
from tests.data.audio.synthesis import normal

CROWDS = 6
_LANGUAGES = ("en-us", "en-gb", "de", "es", "fr-fr", "it")
_TEXT = """
today we cook rice and look at small boats near the river while my sister tells a long story about
seven green doors that nobody opens before winter comes so please wait and listen to what happens
when the bread is warm again because every second cup holds a new secret
"""
_WORDS = tuple(_TEXT.split())
_PEOPLE = 7


def narrate(rng: Generator, *, length_s: float, has_espeak: bool) -> Samples:
    """Somebody talks for `length_s`, shape (length_s * RATE,), RMS 0.1."""
    if not has_espeak:
        return normal(speech(rng, length_s=length_s))
    wanted = int(length_s * RATE)
    words = " ".join(
        _WORDS[int(i)] + ("." if rng.random() < 0.12 else "")
        for i in rng.integers(0, len(_WORDS), size=int(4 * length_s) + 8)
    )
    voice = f"{_LANGUAGES[int(rng.integers(len(_LANGUAGES)))]}+{'fm'[int(rng.integers(2))]}3"
    pitch, pace = str(rng.integers(25, 75)), str(rng.integers(140, 190))
    command = ["espeak-ng", "-v", voice, "-p", pitch, "-s", pace, "--stdout", words]
    spoken = subprocess.run(command, check=True, capture_output=True).stdout
    return normal(_placed(_read_wave(spoken), wanted))


def by_person(rng: Generator, *, part: Part, length_s: float, sources: Sources) -> Samples:
    """One of the people of a part speaks, from a place of the recordings that is drawn."""
    people = speakers(part)
    recorded = narration(people[int(rng.integers(len(people)))], sources.recordings)
    turned = np.roll(recorded, -int(rng.integers(recorded.size)))
    return normal(_placed(turned, int(length_s * RATE)))


def crowd(number: int) -> Samples:
    """40 s of a crowd: people talking at once, a murmur, some claps. RMS 0.1."""
    return _crowd(number % CROWDS)


@lru_cache(maxsize=CROWDS)
def _crowd(number: int) -> Samples:
    rng = stream(1, "bench crowd", number)
    out = 0.08 * pink(rng, 40 * RATE)
    for _ in range(_PEOPLE):
        turned = np.roll(normal(speech(rng, length_s=40.0)), int(rng.integers(40 * RATE)))
        out += float(rng.uniform(0.3, 1.0)) * turned[: out.size]
    for _ in range(int(rng.integers(20, 60))):
        clap = rng.standard_normal(2000) * np.exp(-np.arange(2000) / 300)
        at = int(rng.integers(out.size - 2000))
        out[at : at + 2000] += 0.15 * clap.astype(np.float32)
    return normal(out)


def pink(rng: Generator, samples: int) -> Samples:
    """Noise that falls 3 dB an octave, RMS 0.1."""
    size = scipy.fft.next_fast_len(samples, real=True)
    spectrum = scipy.fft.rfft(rng.standard_normal(size))
    spectrum /= np.sqrt(np.maximum(1.0, np.arange(spectrum.size)))
    return normal(scipy.fft.irfft(spectrum, size)[:samples])


def _placed(voice: Samples, samples: int) -> Samples:
    repeats = -(-samples // max(1, voice.size))
    return np.tile(voice, repeats)[:samples]


def _read_wave(raw: bytes) -> Samples:
    """espeak-ng cannot rewind a pipe, so its header claims two gigabytes: samples start at 44."""
    rate = int.from_bytes(raw[24:28], "little")
    samples = np.frombuffer(raw[44 : 44 + (len(raw) - 44) // 2 * 2], "<i2").astype(np.float32)
    return np.asarray(resample_poly(samples, RATE // 50, rate // 50), dtype=np.float32)
