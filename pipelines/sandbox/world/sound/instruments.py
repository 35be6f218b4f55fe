"""Instruments: one note of a timbre as samples. All tracks share them, as real ones share synths.

Wavetables with time-varying brightness approximate additive, FM, plucked and detuned-saw sounds:
two table lookups per voice and sample, which makes rendering cheap.
"""

from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray

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
