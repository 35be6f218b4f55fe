"""Search for the edit of a candidate: score every hypothesis coarsely, then refine the best few.

Chroma at 10.8 frames per second is correlated for all lags by FFT; peaks then determine the speed
to 0.1 %. Not here: the verdict on the found hypothesis (`judging.py`).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from pipelines.audio.features.grid import FRAMES_PER_S
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.hypotheses import (
    BINS_PER_SEMITONE,
    HYPOTHESES,
    TEMPOS,
    Hypothesis,
    interpolated,
    undo_peaks,
)
from pipelines.audio.matching.peak_agreement import match_peaks

_REFINED_COUNT = 4  # chroma cannot tell octaves apart, so two may be one guess
_MIN_SIGNIFICANCE = 3.2  # unrelated sounds reach about 2.4, a recording under loud voice 7
_MIN_RELATIVE_SIGNIFICANCE = 0.75
_MIN_SHARE_TO_REFINE = 0.015  # half of what is significant
_COARSE_STEPS = np.arange(-4, 5) * 0.003
_FINE_STEPS = np.array([-0.002, -0.001, 0.0, 0.001, 0.002])
_ENOUGH_PEAKS = 400
_SHORTEST_S = 5.5
_SIZE_STEP = 128  # few distinct sizes, so that cached reference spectra are reused
_HARMONICS = 13  # of 19: chroma is smoothed over three of its 36 bins
_FINE_PER_COARSE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredHypothesis:
    """A scored hypothesis.

    `share` is the share of agreeing peaks, `lag` reference minus undone candidate time in fine
    frames.
    """

    hypothesis: Hypothesis
    share: float
    lag: int


@dataclass(frozen=True, slots=True, eq=False)
class _Spectra:
    """2-D chroma spectrum over octave and time (harmonics, bins), and energy before each frame."""

    values: NDArray[np.complex64]
    energy: NDArray[np.float64]


def best_hypothesis(reference: Features, candidate: Features) -> ScoredHypothesis | None:
    """Return the refined hypothesis with the most agreeing peaks; None if none is promising."""
    likely = _likely_hypotheses(reference, candidate)
    found = [_refined(reference, candidate, guess) for guess in likely]
    return max(found, key=lambda one: one.share, default=None)


def _likely_hypotheses(reference: Features, candidate: Features) -> list[ScoredHypothesis]:
    """Return the hypotheses with the most significant chroma correlation, at their best lag."""
    longest = max(reference.frames, candidate.frames) / 2
    size = next_fast_len(_SIZE_STEP * math.ceil(longest * (1 + 1 / TEMPOS[0]) / _SIZE_STEP))
    heard = _spectra(_coarse(candidate, 1.0), size)
    guesses: list[ScoredHypothesis] = []
    by_tempo = sorted(HYPOTHESES, key=lambda one: one.tempo)
    for tempo, group in groupby(by_tempo, key=lambda one: one.tempo):
        hypotheses = list(group)
        turned = np.array([BINS_PER_SEMITONE * one.semitones for one in hypotheses])
        sureness = _significance(_stretched_spectra(reference, tempo, size), heard, turned, size)
        for hypothesis, row in zip(hypotheses, sureness, strict=True):
            place = int(np.argmax(row))
            coarse_lag = place if place < size - candidate.frames // 2 else place - size
            lag = round(coarse_lag * tempo * _FINE_PER_COARSE)
            guesses.append(
                ScoredHypothesis(hypothesis=hypothesis, share=float(row[place]), lag=lag)
            )
    guesses.sort(key=lambda one: -one.share)
    least = max(_MIN_SIGNIFICANCE, _MIN_RELATIVE_SIGNIFICANCE * guesses[0].share)
    return [guess for guess in guesses[:_REFINED_COUNT] if guess.share >= least]


def _refined(reference: Features, candidate: Features, guess: ScoredHypothesis) -> ScoredHypothesis:
    """Refine the hypothesis for peak agreement, first in steps of 0.3 %, then 0.1 %."""
    few = _thinned(candidate.peaks)
    best = max(
        (_score_variation(reference, candidate, few, guess, step) for step in _COARSE_STEPS),
        key=lambda one: one.share,
    )
    if best.share < _MIN_SHARE_TO_REFINE:
        return best
    return max(
        (
            _score_variation(reference, candidate, candidate.peaks, best, step)
            for step in _FINE_STEPS
        ),
        key=lambda one: one.share,
    )


def _thinned(peaks: Peaks) -> Peaks:
    """Return about 400 evenly spaced peaks, enough to compare two steps."""
    every = slice(None, None, max(1, len(peaks.frames) // _ENOUGH_PEAKS))
    return Peaks(peaks.frames[every], peaks.hertz[every], peaks.phases[every])


def _score_variation(
    reference: Features, candidate: Features, heard: Peaks, guess: ScoredHypothesis, step: float
) -> ScoredHypothesis:
    """Score a varied hypothesis on the complete overlap, keeping the overlap's middle aligned."""
    hypothesis = guess.hypothesis.varied(step)
    peaks = undo_peaks(heard, hypothesis)
    ends = (2 * round(candidate.frames * hypothesis.tempo), 2 * reference.frames - guess.lag)
    first, last = max(0, -guess.lag), min(ends)
    middle = (first + last) / 2
    lag = guess.lag + round(middle * (guess.hypothesis.tempo / hypothesis.tempo - 1))
    match = match_peaks(reference.peaks, peaks, lag=lag, first_frame=first, last_frame=last)
    return ScoredHypothesis(hypothesis=hypothesis, share=match.share, lag=match.lag)


def _coarse(features: Features, tempo: float) -> NDArray[np.float32]:
    """Return centred chroma played `tempo` times as fast, at 10.8 frames per second."""
    chroma = features.centred.chroma
    count = max(1, int(len(chroma) / (2 * tempo)))
    places = (2 * np.arange(count) + 0.5) * tempo
    return interpolated(chroma, np.minimum(places, len(chroma) - 1))


def _spectra(chroma: NDArray[np.float32], size: int) -> _Spectra:
    around = np.fft.rfft(chroma, axis=1)[:, :_HARMONICS].T
    energy = np.concatenate(([0.0], np.cumsum(np.square(chroma).sum(axis=1, dtype=np.float64))))
    return _Spectra(np.fft.fft(around, size, axis=1).astype(np.complex64), energy)


@lru_cache(maxsize=4 * len(TEMPOS))
def _stretched_spectra(reference: Features, tempo: float, size: int) -> _Spectra:
    """Return cached spectra: many candidates are compared with the same few references."""
    return _spectra(_coarse(reference, tempo), size)


def _significance(
    reference: _Spectra, candidate: _Spectra, turned: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """Return correlation times the root of the overlap, shape (rotations, lags)."""
    orders = np.arange(_HARMONICS)
    turns = np.exp(-2j * np.pi * np.outer(turned, orders) / 36).astype(np.complex64)
    turns *= np.where(orders == 0, 1, 2) / 36
    product = turns @ (reference.values * candidate.values.conj())
    return np.fft.ifft(product, axis=1).real * _overlap_weight(reference, candidate, size)


def _overlap_weight(reference: _Spectra, candidate: _Spectra, size: int) -> NDArray[np.float64]:
    """Return root of the overlap over both norms for each lag, 0 if less than 5.5 s overlap."""
    rows, columns = len(reference.energy) - 1, len(candidate.energy) - 1
    lags = np.arange(size)
    lags[size - columns :] -= size
    first, last = np.maximum(lags, 0), np.minimum(rows, columns + lags)
    overlap = last - first
    is_long = overlap >= _SHORTEST_S * FRAMES_PER_S / 2
    first, last, lags = first[is_long], last[is_long], lags[is_long]
    left = reference.energy[last] - reference.energy[first]
    right = candidate.energy[last - lags] - candidate.energy[first - lags]
    weight = np.zeros(size)
    weight[is_long] = np.sqrt(overlap[is_long] / np.maximum(left * right, 1e-9))
    return weight
