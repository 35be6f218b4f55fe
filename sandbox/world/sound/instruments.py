"""Synthesised sources of sound: pitched instruments, drums and a speaking voice.

What belongs here: single notes, strokes and syllables as samples. Who plays what is in
`arrangement.py`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.random import Generator
from numpy.typing import NDArray

from sandbox.world.random_streams import chance

RATE = 44_100
Samples = NDArray[np.float32]

_TABLE = 2048
_HIGHEST_HZ = 15_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timbre:
    """How an instrument sounds.

    Attributes:
        attack: Levels of the harmonics at the onset.
        body: Levels of the harmonics later.
        darkening_s: Time constant from `attack` to `body`.
        rise_s: Attack time of the loudness.
        decay_s: Time constant of the loudness; 0 sustains.
        release_s: Fade at the end.
        detune_cents: Spread of the voices; one voice when 0.
        vibrato_cents: Depth of the vibrato.
    """

    attack: tuple[float, ...]
    body: tuple[float, ...]
    darkening_s: float = 0.2
    rise_s: float = 0.008
    decay_s: float = 0.0
    release_s: float = 0.05
    detune_cents: float = 0.0
    vibrato_cents: float = 0.0


def _saw(count: int, tilt: float) -> tuple[float, ...]:
    return tuple(1.0 / (k**tilt) for k in range(1, count + 1))


def _odd(count: int, tilt: float) -> tuple[float, ...]:
    return tuple((k % 2) / (k**tilt) for k in range(1, count + 1))


def _bell(*peaks: int) -> tuple[float, ...]:
    return tuple(1.0 / (1 + peaks.index(k)) if k in peaks else 0.0 for k in range(1, 15))


TIMBRES: dict[str, Timbre] = {
    "electric piano": Timbre(attack=(1, 0.3, 0.1, 0.5, 0, 0, 0.3, 0, 0, 0, 0, 0, 0, 0.25),
                             body=(1, 0.2, 0.05, 0.08), darkening_s=0.09, decay_s=0.9),
    "piano": Timbre(attack=_saw(18, 1.1), body=_saw(8, 1.9), darkening_s=0.12, rise_s=0.003,
                    decay_s=0.7),
    "pluck": Timbre(attack=_saw(24, 0.8), body=_saw(5, 1.8), darkening_s=0.06, rise_s=0.002,
                    decay_s=0.32),
    "nylon": Timbre(attack=(0.9, 1, 0.7, 0.4, 0.5, 0.2, 0.3, 0.1, 0.2), body=(1, 0.5, 0.2, 0.05),
                    darkening_s=0.1, rise_s=0.002, decay_s=0.45),
    "super saw": Timbre(attack=_saw(28, 1.0), body=_saw(16, 1.2), darkening_s=0.5, rise_s=0.012,
                        detune_cents=13.0),
    "warm pad": Timbre(attack=_saw(5, 1.6), body=_saw(9, 1.5), darkening_s=0.8, rise_s=0.18,
                       release_s=0.25, detune_cents=8.0),
    "strings": Timbre(attack=_saw(14, 1.3), body=_saw(18, 1.2), darkening_s=0.4, rise_s=0.09,
                      release_s=0.15, detune_cents=6.0, vibrato_cents=9.0),
    "organ": Timbre(attack=(1, 0.8, 0.6, 0.7, 0, 0.4, 0, 0.5), body=(1, 0.8, 0.5, 0.6, 0, 0.3),
                    darkening_s=0.05, rise_s=0.006),
    "square lead": Timbre(attack=_odd(25, 0.9), body=_odd(17, 1.1), darkening_s=0.2,
                          vibrato_cents=14.0),
    "bell": Timbre(attack=_bell(1, 4, 7, 11, 3), body=_bell(1, 4), darkening_s=0.25, rise_s=0.001,
                   decay_s=0.8),
    "flute": Timbre(attack=(1, 0.35, 0.12, 0.05), body=(1, 0.22, 0.1), rise_s=0.05,
                    vibrato_cents=18.0),
    "brass": Timbre(attack=_saw(6, 1.5), body=_saw(20, 0.9), darkening_s=0.07, rise_s=0.03,
                    vibrato_cents=6.0),
    "sub bass": Timbre(attack=(1, 0.3, 0.1), body=(1, 0.12), darkening_s=0.1),
    "saw bass": Timbre(attack=_saw(20, 0.9), body=_saw(7, 1.4), darkening_s=0.12, decay_s=0.6),
    "finger bass": Timbre(attack=(1, 0.9, 0.5, 0.35, 0.2, 0.1), body=(1, 0.4, 0.1), decay_s=0.5,
                          darkening_s=0.08),
    "square bass": Timbre(attack=_odd(19, 1.0), body=_odd(9, 1.3), darkening_s=0.15),
}  # fmt: skip
LEADS = ("square lead", "flute", "brass", "bell", "piano", "pluck", "super saw", "strings",
         "electric piano", "nylon")  # fmt: skip
KEYS = ("electric piano", "piano", "warm pad", "strings", "organ", "super saw", "nylon", "pluck")
BASSES = ("sub bass", "saw bass", "finger bass", "square bass")


def to_hz(pitch: float) -> float:
    """Frequency of a MIDI pitch, equal temperament on 440 Hz."""
    return float(440.0 * 2 ** ((pitch - 69) / 12))


def play(timbre: Timbre, *, hz: float, length_s: float) -> Samples:
    """One note at full velocity, peak about 1, shape (samples,), with its release."""
    total = int((length_s + timbre.release_s) * RATE)
    t = (np.arange(total) / RATE).astype(np.float32)
    cycles = _cycles(timbre, hz, t)
    bright, dark = _table(timbre.attack, hz), _table(timbre.body, hz)
    spread = (0.0,) if not timbre.detune_cents else (-1.0, 0.13, 1.0)
    out = np.zeros(total, dtype=np.float32)
    fading = np.exp(-t / timbre.darkening_s)
    for number, offset in enumerate(spread):
        ratio = 2 ** (offset * timbre.detune_cents / 1200)
        place = ((cycles * ratio + 0.37 * number) * _TABLE).astype(np.int64) & (_TABLE - 1)
        late = dark[place]
        out += late + (bright[place] - late) * fading
    out *= _loudness(timbre, t, length_s) / len(spread)
    return out


def _cycles(timbre: Timbre, hz: float, t: Samples) -> NDArray[np.float64]:
    cycles = t.astype(np.float64) * hz
    if timbre.vibrato_cents:
        depth = hz * (2 ** (timbre.vibrato_cents / 1200) - 1) / (2 * np.pi * 5.3)
        onset = np.minimum(t / 0.3, 1.0)
        cycles += depth * np.sin(2 * np.pi * 5.3 * t) * onset
    return cycles


def _loudness(timbre: Timbre, t: Samples, length_s: float) -> Samples:
    shape = np.minimum(t / timbre.rise_s, 1.0)
    if timbre.decay_s:
        shape = shape * np.exp(-t / timbre.decay_s)
    fade = np.clip(1 - (t - length_s) / timbre.release_s, 0, 1)
    return np.asarray(shape * fade, dtype=np.float32)


def _table(levels: tuple[float, ...], hz: float) -> Samples:
    """One cycle with the harmonics that fit below the highest frequency; spread phases."""
    kept = min(len(levels), max(1, int(_HIGHEST_HZ / hz)))
    spectrum = np.zeros(_TABLE // 2 + 1, dtype=np.complex64)
    number = np.arange(1, kept + 1)
    spectrum[1 : kept + 1] = np.asarray(levels[:kept]) * np.exp(1j * 0.7 * number**2)
    cycle = scipy.fft.irfft(spectrum, _TABLE)
    return np.asarray(cycle / np.abs(cycle).max(), dtype=np.float32)


KITS = 5
PATTERNS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "kick": (
        ("x...x...x...x...", "x.......x.......", "x..x..x...x.....", "x.....x.x.......",
         "x.........x..x..", "x...x...x...x.x.", "x..x....x..x...."),
        ("x...........", "x.....x.....", "x.......x..."),
        (),
    ),
    "snare": (
        ("....x.......x...", "........x.......", "....x.......x..x", "....x..x.x..x...",
         "...x..x....x..x."),
        ("....x...x...", "........x..."),
        (),
    ),
    "hat": (
        ("x.x.x.x.x.x.x.x.", "xxxxxxxxxxxxxxxx", "..x...x...x...x.", "x.xxx.x.x.xxx.x.",
         "x..x..x.x..x..x."),
        ("x.x.x.x.x.x.", "x...x...x..."),
        (),
    ),
}  # fmt: skip
"""Per voice: patterns of a bar of four, of a bar of three."""


def drum_kit(number: int) -> dict[str, Samples]:
    """The three voices of a kit, shape (samples,) each, peak about 1."""
    rng = np.random.Generator(np.random.SFC64(1000 + number))
    return {"kick": _kick(rng), "snare": _snare(rng), "hat": _hat(rng)}


def pattern(rng: Generator, voice: str, beats: int) -> str:
    """One pattern for a bar of three or four beats."""
    choices = PATTERNS[voice][0 if beats == 4 else 1]  # noqa: PLR2004  # common time
    return choices[int(rng.integers(len(choices)))]


def _times(length_s: float) -> Samples:
    return (np.arange(int(length_s * RATE)) / RATE).astype(np.float32)


def _kick(rng: Generator) -> Samples:
    t = _times(0.32)
    low, drop, fall = rng.uniform(42, 60), rng.uniform(80, 220), rng.uniform(0.015, 0.05)
    cycles = low * t + drop * fall * (1 - np.exp(-t / fall))
    body = np.sin(2 * np.pi * cycles) * np.exp(-t / rng.uniform(0.07, 0.16))
    return np.asarray(body, dtype=np.float32)


def _snare(rng: Generator) -> Samples:
    t = _times(0.25)
    noise = rng.standard_normal(t.size) * np.exp(-t / rng.uniform(0.04, 0.1))
    tone = np.sin(2 * np.pi * rng.uniform(160, 240) * t) * np.exp(-t / 0.05)
    mixed = rng.uniform(0.35, 0.55) * noise + 0.6 * tone
    return np.asarray(mixed, dtype=np.float32)


def _hat(rng: Generator) -> Samples:
    t = _times(0.12)
    noise = np.diff(rng.standard_normal(t.size + 2), n=2) * 0.3
    return np.asarray(noise * np.exp(-t / rng.uniform(0.015, 0.05)), dtype=np.float32)


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
