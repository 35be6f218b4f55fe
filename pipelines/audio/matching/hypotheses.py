"""Edit hypotheses (speed, tempo, pitch) and how to undo them on features and peaks.

Speed changes tempo and pitch together, as on a tape; tempo and pitch change alone. Not here:
choosing a hypothesis (`search.py`).
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features import sound_features

Family = Literal["speed", "tempo", "pitch", "pitch_and_speed"]
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
    def common_band_hz(self) -> tuple[float, float]:
        """Where both sounds may have peaks once the edit is undone, in the reference's hertz."""
        bottom, top = sound_features.PEAK_BAND_HZ
        return max(bottom, bottom / self.pitch_ratio), min(top, top / self.pitch_ratio)

    @property
    def is_slight(self) -> bool:
        """Whether the edit is below 1 % of tempo and a sixth of a semitone."""
        return abs(self.tempo - 1) < _SLIGHT_TEMPO and abs(self.semitones) < _SLIGHT_SEMITONES

    @property
    def tempo_apart_from_pitch(self) -> float:
        """The logarithm of the ratio of tempo to pitch; 0 for a speed."""
        return math.log(self.tempo / self.pitch_ratio)

    def varied(self, by: float) -> "Hypothesis":
        """Return the same family with its parameter multiplied by 1 + `by`.

        For tempo and pitch together it is the tempo; `shifted` varies the pitch.
        """
        by = float(by)  # NumPy floats pass as floats but are not JSON serializable
        if self.family == "speed":
            return speed(self.tempo * (1 + by))
        if self.family in {"tempo", "pitch_and_speed"}:
            return replace(self, tempo=self.tempo * (1 + by))
        shift = 12 * float(np.log2(1 + by))
        return Hypothesis(family="pitch", tempo=1.0, semitones=self.semitones + shift)

    def shifted(self, by: float) -> "Hypothesis":
        """Return the hypothesis with a pitch `by` semitones higher."""
        return replace(self, semitones=self.semitones + float(by))


def speed(factor: float) -> Hypothesis:
    """Return the hypothesis "played `factor` times as fast", which also moves the pitch."""
    return Hypothesis(family="speed", tempo=factor, semitones=12 * float(np.log2(factor)))


UNCHANGED = speed(1.0)
SEARCHED_TEMPOS = (0.5, 2.0)
SEARCHED_JOINT_TEMPOS = (0.66, 1.5)
"""Tempos that are searched together with every pitch shift."""
JOINT_TEMPOS = tuple(math.exp(0.02 * step) for step in range(-20, 21))
SEARCHED_SEMITONES = (-9.0, 12.0)


def undo(features: sound_features.Features, hypothesis: Hypothesis) -> sound_features.Features:
    """Return the candidate's features with the hypothesized edit undone."""
    frames = max(1, round(features.frames * hypothesis.tempo))
    places = np.minimum(np.arange(frames) / hypothesis.tempo, features.frames - 1)
    chroma = interpolated(features.chroma.astype(np.float32), places)
    mel_db = interpolated(features.mel_db.astype(np.float32), places)
    if hypothesis.semitones:
        # Chroma is rotated down by a fractional number of bins, around the octave.
        bins = sound_features.BINS_PER_SEMITONE * hypothesis.semitones
        whole = int(np.floor(bins))
        near, far = np.roll(chroma, -whole, axis=1), np.roll(chroma, -whole - 1, axis=1)
        chroma = near + np.float32(bins - whole) * (far - near)
        # Each mel band is read where its frequency lies after the shift.
        edges = sound_features.mel_edges()
        shifted = sound_features.hz_to_mel(
            sound_features.mel_to_hz(edges[1:-1]) * hypothesis.pitch_ratio
        )
        bands = np.clip(
            (shifted - edges[1]) / (edges[1] - edges[0]), 0.0, sound_features.MEL_BANDS - 1.0
        )
        mel_db = np.ascontiguousarray(interpolated(mel_db.T, bands).T)
    return sound_features.Features(chroma, mel_db, undo_peaks(features.peaks, hypothesis))


def undo_peaks(peaks: sound_features.Peaks, hypothesis: Hypothesis) -> sound_features.Peaks:
    """Return the peaks with the hypothesized edit undone in time and frequency.

    Those that lie where the unchanged sound has no peaks are left out.
    """
    exact = peaks.frames.astype(np.float64) * hypothesis.tempo
    frames = np.rint(exact)
    undone = sound_features.Peaks(
        frames.astype(np.int32),
        peaks.hertz / np.float32(hypothesis.pitch_ratio),
        peaks.phases,
        exact - frames,
    )
    return within_band(undone, hypothesis.common_band_hz)


def within_band(peaks: sound_features.Peaks, band_hz: tuple[float, float]) -> sound_features.Peaks:
    """Return the peaks from the lower to the upper frequency of the band."""
    bottom, top = band_hz
    kept = (peaks.hertz >= np.float32(bottom)) & (peaks.hertz <= np.float32(top))
    return peaks.at(kept)


def interpolated(values: NDArray[np.float32], places: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return rows of `values` at fractional positions `places`, linearly interpolated."""
    below = np.minimum(places.astype(np.int64), len(values) - 1)
    above = np.minimum(below + 1, len(values) - 1)
    part = (places - below).astype(np.float32)[:, None]
    between: NDArray[np.float32] = values[below] + part * (values[above] - values[below])
    return between
