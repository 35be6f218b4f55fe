"""Search for the edit of a candidate: guess it coarsely, then refine the best few guesses.

Single changes are guessed by votes of peaks (`edit_votes.py`). Tempo and pitch changed
independently come last, because that is a search in two dimensions: chroma at 10.8 frames per
second is correlated for all lags by FFT. Peaks then determine the speed to 0.1 %. Transforms are
NumPy's, because importing `scipy.fft` takes a fifth of a second. Not here: the verdict on the
hypothesis (`judging.py`).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import (
    BINS_PER_SEMITONE,
    CHROMA_BINS,
    FRAMES_PER_S,
    SEMITONES,
    Features,
    Peaks,
    next_smooth,
)
from pipelines.audio.matching.agreement import match_peaks
from pipelines.audio.matching.edit_votes import guess_edits
from pipelines.audio.matching.hypotheses import (
    JOINT_TEMPOS,
    SEARCHED_SEMITONES,
    UNCHANGED,
    Hypothesis,
    undo_peaks,
)

# Single changes
_REFINED_COUNT = 4
# Of 40 unrelated real pairs, nine in ten reach 6.5 and all 7.3; of 42 recordings pitched by three
# semitones under a human voice of 0 or 3 dB, 41 have 6.6 or more at the right pitch.
_MIN_EXCESS = 6.0
_MIN_RELATIVE_EXCESS = 0.6  # a neighbouring tempo may have a few more votes than the right one
_MIN_OVER_UNCHANGED = 0.9  # an edit that is undone explains more than the unchanged sound
_MORE_THAN_UNCHANGED = 1.1  # times the peaks of the unchanged sounds that agree
_NEAR_TEMPO, _NEAR_SEMITONES = 0.025, 0.5

# Tempo and pitch changed independently
_MIN_SIGNIFICANCE = 3.2  # unrelated sounds reach about 2.4, a recording under loud voice 7
_EXPLAINED_SHARE = 0.25  # a single change that is nearly right explains up to 0.2
_JOINT_COUNT = 2
_MARGIN_SEMITONES = 0.5
_MORE_BY_FACTOR, _MORE_BY_SHARE = 1.3, 0.03
_TURNS_PER_SEMITONE = 2
_TURNS = tuple(
    turn * BINS_PER_SEMITONE / _TURNS_PER_SEMITONE
    for turn in range(SEMITONES * _TURNS_PER_SEMITONE)
)

_SILENT = 1e-6  # of products of energies; music has more in a single frame

# Refining
_MIN_SHARE_TO_REFINE = 0.015  # half of what is significant
_COARSE_STEPS = np.arange(-3, 4) * 0.003
_FINE_STEPS = np.array([-0.002, -0.001, 0.0, 0.001, 0.002])
_NO_SHIFT = np.zeros(1)
_COARSE_SHIFTS = np.arange(-2, 3) * 0.04
_FINE_SHIFTS = np.array([-0.02, 0.0, 0.02])
_ENOUGH_PEAKS = 400
_ENOUGH_PEAKS_FOR_BOTH = 200

# Chroma spectra
_SHORTEST_S = 5.5
_SIZE_STEP = 128  # few distinct sizes, so that cached reference spectra are reused
_HARMONICS = 13  # of 19: chroma is smoothed over three of its 36 bins
_FINE_PER_COARSE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredHypothesis:
    """A scored hypothesis.

    Attributes:
        hypothesis: The edit.
        share: Share of agreeing peaks; of a coarse guess, the significance of its correlation.
        lag: Reference minus undone candidate time in fine frames.
    """

    hypothesis: Hypothesis
    share: float
    lag: int


def best_hypothesis(
    reference: Features, candidate: Features, *, least_s: float
) -> ScoredHypothesis | None:
    """Return the refined single change with the most agreeing peaks; None if none is promising.

    Changes with fewer votes than the unchanged sounds are left out: a cover in sync has none.

    Args:
        reference: Features of the reference.
        candidate: Features of the candidate.
        least_s: Shortest overlap in seconds of the reference.
    """
    guesses, unchanged = guess_edits(reference.peaks, candidate.peaks, least_s=least_s)
    # If the edit is slight, the unchanged sounds have nearly as many votes, so less is required.
    least = max(_MIN_EXCESS, _MIN_RELATIVE_EXCESS * guesses[0].excess)
    least_of_clear = max(least, _MIN_OVER_UNCHANGED * unchanged.excess)
    refined = []
    for guess in guesses[:_REFINED_COUNT]:
        edit = guess.hypothesis
        is_near = abs(edit.tempo - 1) < _NEAR_TEMPO and abs(edit.semitones) < _NEAR_SEMITONES
        if guess.excess >= (least if is_near else least_of_clear):
            start = ScoredHypothesis(hypothesis=edit, share=guess.excess, lag=guess.lag)
            shifts = (_NO_SHIFT, _NO_SHIFT)
            refined.append(_refined(reference, candidate, start, shifts, enough=_ENOUGH_PEAKS))
    best = max(refined, key=_share, default=None)
    if best is None:
        return None
    # A few seconds of the unchanged sound agree at neighbouring tempos, too.
    still = ScoredHypothesis(hypothesis=UNCHANGED, share=0.0, lag=unchanged.lag)
    still = _score_variation(reference, candidate, candidate.peaks, still, 0.0)
    return best if best.share > _MORE_THAN_UNCHANGED * still.share else None


def best_joint_hypothesis(
    reference: Features, candidate: Features, single: ScoredHypothesis | None
) -> ScoredHypothesis | None:
    """Return tempo and pitch changed independently if that explains the sound clearly better.

    Args:
        reference: Features of the reference.
        candidate: Features of the candidate.
        single: What `best_hypothesis` returned for the same sounds.
    """
    if explains_enough(single):
        return None
    # The likeliest tempos, each with its likeliest rotation of the octave.
    size = spectrum_size(reference, candidate)
    unstretched = unchanged_spectra(candidate, size)
    rotations = []
    for tempo in JOINT_TEMPOS:
        stretched = stretched_spectra(reference, tempo, size)
        sureness = significance(stretched, unstretched, _TURNS, size)
        turn, place = divmod(int(np.argmax(sureness)), size)
        steps = _circular_vertex(sureness[:, place], turn)
        lag = fine_lag(place, candidate, tempo, size)
        rotations.append((float(sureness[turn, place]), tempo, steps, lag))
    rotations.sort(reverse=True)
    _, likeliest, steps, _ = rotations[0]
    if likeliest == 1.0 and min(steps % len(_TURNS), -steps % len(_TURNS)) < 1:
        return None  # nothing to undo: a cover in sync

    # Chroma cannot tell octaves apart, so all pitch shifts inside the searched range are tried.
    low, high = SEARCHED_SEMITONES
    guesses = [
        ScoredHypothesis(
            hypothesis=Hypothesis(family="pitch_and_speed", tempo=tempo, semitones=semitones),
            share=significance_at_best,
            lag=lag,
        )
        for significance_at_best, tempo, steps, lag in rotations[:_JOINT_COUNT]
        if significance_at_best >= _MIN_SIGNIFICANCE
        for octave in (-12, 0, 12)
        for semitones in (steps / _TURNS_PER_SEMITONE + octave,)
        if low - _MARGIN_SEMITONES <= semitones <= high + _MARGIN_SEMITONES
    ]
    shifts = (_COARSE_SHIFTS, _FINE_SHIFTS)
    refined = [
        _refined(reference, candidate, guess, shifts, enough=_ENOUGH_PEAKS_FOR_BOTH)
        for guess in guesses
    ]
    joint = max(refined, key=_share, default=None)
    if joint is None or single is None:
        return joint
    # Two parameters must explain the sound so much better than one that they are worth it.
    least = max(_MORE_BY_FACTOR * single.share, single.share + _MORE_BY_SHARE)
    return joint if joint.share > least else None


def explains_enough(single: ScoredHypothesis | None) -> bool:
    """Whether a single change explains so much that two changes at once are not searched."""
    return single is not None and single.share >= _EXPLAINED_SHARE


def _circular_vertex(values: NDArray[np.floating], place: int) -> float:
    """Return the fractional place of a maximum on a circle, by a parabola through three values."""
    before, at, after = (float(values[(place + step) % len(values)]) for step in (-1, 0, 1))
    curve = before - 2 * at + after
    return place + (0.5 * (before - after) / curve if curve < 0 else 0.0)


def _share(scored: ScoredHypothesis) -> float:
    return scored.share


def _refined(
    reference: Features,
    candidate: Features,
    guess: ScoredHypothesis,
    shifts: tuple[NDArray[np.floating], NDArray[np.floating]],
    *,
    enough: int,
) -> ScoredHypothesis:
    """Refine a guess for peak agreement: in steps of 0.3 %, then of 0.1 %.

    Args:
        reference: Features of the reference.
        candidate: Features of the candidate.
        guess: The hypothesis to vary.
        shifts: Semitones to add before each step, first in the coarse search, then in the fine one.
        enough: Peaks of the candidate that are enough to compare two coarse steps.
    """
    peaks = candidate.peaks
    every = slice(None, None, max(1, len(peaks.frames) // enough))
    few = peaks.at(every)
    best = guess
    for compared, semitones, steps in (
        (few, shifts[0], _COARSE_STEPS),
        (peaks, shifts[1], _FINE_STEPS),
    ):
        start = best
        variations = (
            _score_variation(
                reference, candidate, compared, replace(start, hypothesis=shifted), step
            )
            for shifted in map(start.hypothesis.shifted, semitones)
            for step in steps
        )
        best = max(variations, key=_share)
        if best.share < _MIN_SHARE_TO_REFINE:
            break
    return best


def _score_variation(
    reference: Features, candidate: Features, peaks: Peaks, guess: ScoredHypothesis, step: float
) -> ScoredHypothesis:
    """Score a varied hypothesis on the complete overlap, keeping the overlap's middle aligned."""
    hypothesis = guess.hypothesis.varied(step)
    undone = undo_peaks(peaks, hypothesis)
    ends = (2 * round(candidate.frames * hypothesis.tempo), 2 * reference.frames - guess.lag)
    first, last = max(0, -guess.lag), min(ends)
    middle = (first + last) / 2
    lag = guess.lag + round(middle * (guess.hypothesis.tempo / hypothesis.tempo - 1))
    match = match_peaks(reference.peaks, undone, lag=lag, first_frame=first, last_frame=last)
    return ScoredHypothesis(hypothesis=hypothesis, share=match.share, lag=match.lag)


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """2-D chroma spectrum over octave and time (harmonics, bins), and energy before each frame."""

    values: NDArray[np.complex64]
    energy: NDArray[np.float64]


def spectrum_size(reference: Features, candidate: Features) -> int:
    """Return the transform size for the correlation of both sounds at every tempo."""
    longest = max(reference.frames, candidate.frames) / 2
    return _SIZE_STEP * next_smooth(math.ceil(longest * (1 + 1 / JOINT_TEMPOS[0]) / _SIZE_STEP))


def fine_lag(place: int, candidate: Features, tempo: float, size: int) -> int:
    """Convert a place in a correlation to reference minus undone candidate time in fine frames."""
    coarse_lag = place if place < size - candidate.frames // 2 else place - size
    return round(coarse_lag * tempo * _FINE_PER_COARSE)


def spectra_of(features: Features, tempo: float, size: int) -> Spectra:
    """Transform chroma played `tempo` times as fast over the octave and over `size` frames."""
    octave = _octave_of(features)
    last_frame = len(octave.energy) - 1
    count = max(1, int(len(octave.energy) / (2 * tempo)))
    # Two frames are averaged, and the tempo moves their middle between two others.
    places = np.minimum((2 * np.arange(count) + 0.5) * tempo, last_frame)
    below = places.astype(np.int64)
    above = np.minimum(below + 1, last_frame)
    part = places - below
    around = octave.values[:, below]
    around += part.astype(np.float32) * (octave.values[:, above] - around)
    # The energy of a mean of two frames, from theirs and their product.
    energies = (
        (1 - part) ** 2 * octave.energy[below]
        + part**2 * octave.energy[above]
        + 2 * part * (1 - part) * octave.product[below]
    )
    values = np.fft.fft(around, size, axis=1).astype(np.complex64, copy=False)
    return Spectra(values, np.concatenate(([0.0], np.cumsum(energies))))


@dataclass(frozen=True, slots=True, eq=False)
class _Octave:
    """Centred chroma transformed over the octave (harmonics, frames); the energy of each frame, and
    its product with the next frame, which give the energy of what lies between them.
    """

    values: NDArray[np.complex64]
    energy: NDArray[np.float64]
    product: NDArray[np.float64]


@lru_cache(maxsize=8)
def _octave_of(features: Features) -> _Octave:
    """Return what all tempos of a sound are interpolated from: the transform is linear."""
    chroma = features.centred.chroma
    values = np.ascontiguousarray(np.fft.rfft(chroma, axis=1)[:, :_HARMONICS].T)
    wide = chroma.astype(np.float64)
    following = np.concatenate((wide[1:], wide[-1:]))
    return _Octave(values, np.square(wide).sum(axis=1), (wide * following).sum(axis=1))


@lru_cache(maxsize=4 * len(JOINT_TEMPOS))
def stretched_spectra(reference: Features, tempo: float, size: int) -> Spectra:
    """Return cached spectra: many candidates are compared with the same few references."""
    return spectra_of(reference, tempo, size)


@lru_cache(maxsize=4)
def unchanged_spectra(candidate: Features, size: int) -> Spectra:
    """Return cached spectra of a candidate, conjugated: one search needs them with every tempo."""
    spectra = spectra_of(candidate, 1.0, size)
    return replace(spectra, values=spectra.values.conj())


def significance(
    reference: Spectra, candidate: Spectra, turned: tuple[float, ...], size: int
) -> NDArray[np.floating]:
    """Return correlation times the root of the overlap, shape (rotations, lags).

    The candidate's spectra are conjugated.
    """
    turns = _turns(turned)
    weight = _overlap_weight(reference, candidate, size)
    product = reference.values * candidate.values
    # With few rotations, rotating before the transform costs less; with many, one transform serves
    # all of them.
    if len(turned) < _HARMONICS:
        return np.asarray(np.fft.ifft(turns @ product, axis=1).real * weight)
    lagged = np.fft.ifft(product[1:], axis=1)  # centred chroma has no mean
    rotated = np.concatenate((turns.real[:, 1:], -turns.imag[:, 1:]), axis=1)
    correlation = rotated @ np.concatenate((lagged.real, lagged.imag))
    correlation *= weight
    return np.asarray(correlation)


@lru_cache(maxsize=2 * len(JOINT_TEMPOS))
def _turns(turned: tuple[float, ...]) -> NDArray[np.complex64]:
    """Return the factors that rotate each harmonic by so many of 36 bins."""
    orders = np.arange(_HARMONICS)
    turns = np.exp(-2j * np.pi * np.outer(turned, orders) / CHROMA_BINS).astype(np.complex64)
    turns *= np.where(orders == 0, 1, 2) / CHROMA_BINS
    return turns


@lru_cache(maxsize=2 * len(JOINT_TEMPOS))
def _overlap_weight(reference: Spectra, candidate: Spectra, size: int) -> NDArray[np.float32]:
    least = math.ceil(_SHORTEST_S * FRAMES_PER_S / 2)
    return overlap_weight(reference.energy, candidate.energy, size, least=least)


def overlap_weight(
    reference: NDArray[np.float64], candidate: NDArray[np.float64], size: int, *, least: int
) -> NDArray[np.float32]:
    """Return root of the overlap over both norms for each lag, (size,).

    It is 0 if the overlap has fewer than `least` frames, or one of them is silent there.

    Args:
        reference: Energy of the reference before each frame.
        candidate: Energy of the candidate before each frame.
        size: Transform size: the correlation is circular, and the last lags are negative.
        least: Fewest frames that overlap.
    """
    weight = np.zeros(size, dtype=np.float32)
    rows, columns = len(reference) - 1, len(candidate) - 1
    if min(rows, columns) < least:
        return weight
    lags = np.arange(least - columns, rows - least + 1)
    first, last = np.maximum(lags, 0), np.minimum(rows, columns + lags)
    energies = reference[last] - reference[first]
    energies *= candidate[last - lags] - candidate[first - lags]
    is_audible = energies > _SILENT
    weight[lags[is_audible]] = np.sqrt((last - first)[is_audible] / energies[is_audible])
    return weight
