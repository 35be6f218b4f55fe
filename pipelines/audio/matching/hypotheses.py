"""What may have been done to a recording, and how to undo it on features and peaks.

Three families: played faster or slower like a tape (speed moves tempo and pitch), another tempo at
the same pitch, another pitch at the same tempo. Not here: which hypothesis holds (`search.py`).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.filter_banks import MEL_BANDS, MEL_BOTTOM_HZ, hz_to_mel, mel_to_hz
from pipelines.audio.features.grid import MEL_TOP_HZ
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.features.sound_features import Features

Family = Literal["speed", "tempo", "pitch"]
BINS_PER_SEMITONE = 3
_SLIGHT_TEMPO = 0.01
_SLIGHT_SEMITONES = 1 / 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """The candidate plays `tempo` times as fast as the reference, `semitones` higher."""

    family: Family
    tempo: float
    semitones: float

    @property
    def pitch_ratio(self) -> float:
        """Candidate frequency over reference frequency."""
        return float(2 ** (self.semitones / 12))

    @property
    def is_slight(self) -> bool:
        """Less than 1 % of tempo and a sixth of a semitone: hardly anything was done."""
        return abs(self.tempo - 1) < _SLIGHT_TEMPO and abs(self.semitones) < _SLIGHT_SEMITONES

    def varied(self, by: float) -> "Hypothesis":
        """The same family with its one parameter times 1 + `by`."""
        by = float(by)  # numpy's float counts as one, but no JSON writer takes it
        if self.family == "speed":
            return speed(self.tempo * (1 + by))
        if self.family == "tempo":
            return Hypothesis(family="tempo", tempo=self.tempo * (1 + by), semitones=0.0)
        shift = 12 * float(np.log2(1 + by))
        return Hypothesis(family="pitch", tempo=1.0, semitones=self.semitones + shift)


def speed(factor: float) -> Hypothesis:
    """Played `factor` times as fast, pitch and all."""
    return Hypothesis(family="speed", tempo=factor, semitones=12 * float(np.log2(factor)))


_FASTER = [1 + step / 50 for step in range(1, 18)]
_SLOWER = [1 - step / 50 for step in range(1, 12)]
HYPOTHESES: tuple[Hypothesis, ...] = (
    *(speed(factor) for factor in (*_SLOWER, 0.99, 1.01, *_FASTER)),
    *(
        Hypothesis(family="tempo", tempo=factor, semitones=0.0)
        for factor in (*_SLOWER[:6], *_FASTER[:6])
    ),
    *(Hypothesis(family="pitch", tempo=1.0, semitones=float(n)) for n in (-3, -2, -1, 1, 2, 3)),
)
"""Speeds 0.78 to 1.34 and tempos 0.88 to 1.12 in steps of 0.02 (speeds of 0.01 about 1), and up to
three semitones."""
SLOWEST = min(_SLOWER)


def undo(features: Features, hypothesis: Hypothesis) -> Features:
    """The features the candidate would have had if the hypothesis had not happened to it."""
    frames = max(1, round(features.frames * hypothesis.tempo))
    places = np.minimum(np.arange(frames) / hypothesis.tempo, features.frames - 1)
    chroma = interpolated(features.chroma.astype(np.float32), places)
    mel_db = interpolated(features.mel_db.astype(np.float32), places)
    if hypothesis.semitones:
        chroma = _rotated(chroma, BINS_PER_SEMITONE * hypothesis.semitones)
        bands = _bands_at(hypothesis.pitch_ratio)
        mel_db = np.ascontiguousarray(interpolated(mel_db.T, bands).T)
    return Features(chroma, mel_db, undo_peaks(features.peaks, hypothesis))


def undo_peaks(peaks: Peaks, hypothesis: Hypothesis) -> Peaks:
    """Peaks moved to where they were in time and frequency."""
    moments = peaks.frames.astype(np.float64) * hypothesis.tempo
    frames = np.rint(moments)
    return Peaks(
        frames.astype(np.int32),
        peaks.hertz / np.float32(hypothesis.pitch_ratio),
        peaks.phases,
        moments - frames,
    )


def interpolated(values: NDArray[np.float32], places: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows of `values` at fractional `places`, linear between neighbours."""
    below = np.minimum(places.astype(np.int64), len(values) - 1)
    above = np.minimum(below + 1, len(values) - 1)
    part = (places - below).astype(np.float32)[:, None]
    between: NDArray[np.float32] = values[below] + part * (values[above] - values[below])
    return between


def _rotated(chroma: NDArray[np.float32], bins: float) -> NDArray[np.float32]:
    """Chroma turned down by a fractional number of bins, around the octave."""
    whole = int(np.floor(bins))
    part = np.float32(bins - whole)
    near, far = np.roll(chroma, -whole, axis=1), np.roll(chroma, -whole - 1, axis=1)
    return near + part * (far - near)


def _bands_at(ratio: float) -> NDArray[np.float64]:
    """Where between the mel bands each band lies after its frequency is multiplied by `ratio`."""
    edges = np.linspace(
        float(hz_to_mel(MEL_BOTTOM_HZ)), float(hz_to_mel(MEL_TOP_HZ)), MEL_BANDS + 2
    )
    moved = hz_to_mel(mel_to_hz(edges[1:-1]) * ratio)
    places = (moved - edges[1]) / (edges[1] - edges[0])
    inside: NDArray[np.float64] = np.clip(places, 0.0, MEL_BANDS - 1.0)
    return inside
