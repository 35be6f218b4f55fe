"""Search for the edit of a candidate: score every hypothesis coarsely, then refine the best few.

Chroma at 10.8 frames per second is correlated for all lags by FFT (`chroma_spectra.py`); peaks then
determine the speed to 0.1 %. Tempo and pitch changed independently come last, because that is a
search in two dimensions. Not here: the verdict on the found hypothesis (`judging.py`).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import Features, Peaks
from pipelines.audio.matching.chroma_spectra import (
    fine_lag,
    significance,
    spectrum_size,
    stretched_spectra,
    unchanged_spectra,
)
from pipelines.audio.matching.hypotheses import (
    BINS_PER_SEMITONE,
    HYPOTHESES,
    JOINT_TEMPOS,
    SEARCHED_SEMITONES,
    TEMPOS,
    UNCHANGED,
    Hypothesis,
    undo_peaks,
)
from pipelines.audio.matching.peak_agreement import match_peaks

_REFINED_COUNT = 4  # chroma cannot tell octaves apart, so two may be one guess
_MIN_SIGNIFICANCE = 3.2  # unrelated sounds reach about 2.4, a recording under loud voice 7
_MIN_RELATIVE_SIGNIFICANCE = 0.75
_MIN_OVER_UNCHANGED = 0.9  # an edit that is undone correlates better than the unchanged sound
_NEAR_TEMPO, _NEAR_SEMITONES = 0.015, 0.5
_MIN_SHARE_TO_REFINE = 0.015  # half of what is significant
_COARSE_STEPS = np.arange(-4, 5) * 0.003
_FINE_STEPS = np.array([-0.002, -0.001, 0.0, 0.001, 0.002])
_ENOUGH_PEAKS = 400
_ENOUGH_FOR_BOTH = 200
_EXPLAINED_SHARE = 0.25  # a single change that is nearly right explains up to 0.2
_JOINT_COUNT = 2
_MARGIN_SEMITONES = 0.5
_MORE_BY_FACTOR, _MORE_BY_SHARE = 1.3, 0.03
_TURNS_PER_SEMITONE = 2
_TURNS = tuple(
    turn * BINS_PER_SEMITONE / _TURNS_PER_SEMITONE for turn in range(12 * _TURNS_PER_SEMITONE)
)
_BY_TEMPO = tuple(
    (tempo, group, tuple(BINS_PER_SEMITONE * one.semitones for one in group))
    for tempo in TEMPOS
    for group in [[one for one in (UNCHANGED, *HYPOTHESES) if one.tempo == tempo]]
)
_COARSE_SHIFTS = np.arange(-2, 3) * 0.04
_FINE_SHIFTS = np.array([-0.02, 0.0, 0.02])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredHypothesis:
    """A scored hypothesis.

    `share` is the share of agreeing peaks, `lag` reference minus undone candidate time in fine
    frames.
    """

    hypothesis: Hypothesis
    share: float
    lag: int


def best_hypothesis(reference: Features, candidate: Features) -> ScoredHypothesis | None:
    """Return the refined single change with the most agreeing peaks; None if none is promising."""
    likely = _likely_hypotheses(reference, candidate)
    found = [_refined(reference, candidate, guess) for guess in likely]
    return max(found, key=_share, default=None)


def best_joint_hypothesis(
    reference: Features, candidate: Features, single: ScoredHypothesis | None
) -> ScoredHypothesis | None:
    """Return tempo and pitch changed independently if that explains the sound clearly better."""
    if explains_enough(single):
        return None
    likely = _likely_joint_hypotheses(reference, candidate)
    found = [_refined_jointly(reference, candidate, guess) for guess in likely]
    joint = max(found, key=_share, default=None)
    if joint is None or (single is not None and not _is_clearly_more(joint.share, single.share)):
        return None
    return joint


def explains_enough(single: ScoredHypothesis | None) -> bool:
    """Whether a single change explains so much that two changes at once are not searched."""
    return single is not None and single.share >= _EXPLAINED_SHARE


def _likely_hypotheses(reference: Features, candidate: Features) -> list[ScoredHypothesis]:
    """Return the hypotheses with the most significant chroma correlation, at their best lag.

    Those that correlate less than the unchanged sounds are left out: a cover in sync has none.
    """
    size = spectrum_size(reference, candidate)
    heard = unchanged_spectra(candidate, size)
    guesses: list[ScoredHypothesis] = []
    for tempo, hypotheses, turned in _BY_TEMPO:
        sureness = significance(stretched_spectra(reference, tempo, size), heard, turned, size)
        for hypothesis, row in zip(hypotheses, sureness, strict=True):
            place = int(np.argmax(row))
            lag = fine_lag(place, candidate, tempo, size)
            guesses.append(
                ScoredHypothesis(hypothesis=hypothesis, share=float(row[place]), lag=lag)
            )
    unchanged = next(guess for guess in guesses if guess.hypothesis is UNCHANGED)
    guesses.remove(unchanged)
    guesses.sort(key=lambda one: -one.share)
    least = max(_MIN_SIGNIFICANCE, _MIN_RELATIVE_SIGNIFICANCE * guesses[0].share)
    least_of_clear = max(least, _MIN_OVER_UNCHANGED * unchanged.share)
    return [
        guess
        for guess in guesses[:_REFINED_COUNT]
        if guess.share >= (least if _is_near(guess.hypothesis) else least_of_clear)
    ]


def _is_near(hypothesis: Hypothesis) -> bool:
    """Whether the unchanged sounds correlate nearly as well, if this edit was made."""
    return abs(hypothesis.tempo - 1) < _NEAR_TEMPO and abs(hypothesis.semitones) < _NEAR_SEMITONES


def _likely_joint_hypotheses(reference: Features, candidate: Features) -> list[ScoredHypothesis]:
    """Return the likeliest tempos, each with its likeliest rotation of the octave.

    Chroma cannot tell octaves apart, so both pitch shifts inside the searched range are returned.
    """
    size = spectrum_size(reference, candidate)
    heard = unchanged_spectra(candidate, size)
    found = []
    for tempo in JOINT_TEMPOS:
        sureness = significance(stretched_spectra(reference, tempo, size), heard, _TURNS, size)
        turn, place = divmod(int(np.argmax(sureness)), size)
        lag = fine_lag(place, candidate, tempo, size)
        found.append((float(sureness[turn, place]), tempo, _middle(sureness[:, place], turn), lag))
    found.sort(reverse=True)
    _, likeliest, steps, _ = found[0]
    if likeliest == 1.0 and min(steps % len(_TURNS), -steps % len(_TURNS)) < 1:
        return []  # nothing to undo: a cover in sync
    low, high = SEARCHED_SEMITONES
    return [
        ScoredHypothesis(
            hypothesis=Hypothesis(family="pitch_and_speed", tempo=tempo, semitones=semitones),
            share=sureness,
            lag=lag,
        )
        for sureness, tempo, steps, lag in found[:_JOINT_COUNT]
        if sureness >= _MIN_SIGNIFICANCE
        for semitones in (steps / _TURNS_PER_SEMITONE, steps / _TURNS_PER_SEMITONE - 12)
        if low - _MARGIN_SEMITONES <= semitones <= high + _MARGIN_SEMITONES
    ]


def _middle(values: NDArray[np.floating], place: int) -> float:
    """Return the fractional place of a maximum on a circle, by a parabola through three values."""
    before, at, after = (float(values[(place + step) % len(values)]) for step in (-1, 0, 1))
    curve = before - 2 * at + after
    return place + (0.5 * (before - after) / curve if curve < 0 else 0.0)


def _refined_jointly(
    reference: Features, candidate: Features, guess: ScoredHypothesis
) -> ScoredHypothesis:
    """Refine tempo and pitch, first in steps of 0.3 % and 4 cents, then of 0.1 % and 2 cents."""
    few = _thinned(candidate.peaks, _ENOUGH_FOR_BOTH)
    best = max(
        (
            _score_variation(reference, candidate, few, replace(guess, hypothesis=shifted), step)
            for shifted in map(guess.hypothesis.shifted, _COARSE_SHIFTS)
            for step in _COARSE_STEPS
        ),
        key=_share,
    )
    if best.share < _MIN_SHARE_TO_REFINE:
        return best
    return max(
        (
            _score_variation(
                reference, candidate, candidate.peaks, replace(best, hypothesis=shifted), step
            )
            for shifted in map(best.hypothesis.shifted, _FINE_SHIFTS)
            for step in _FINE_STEPS
        ),
        key=_share,
    )


def _share(scored: ScoredHypothesis) -> float:
    return scored.share


def _is_clearly_more(share: float, other: float) -> bool:
    """Whether two parameters explain a sound so much better than one that they are worth it."""
    return share > max(_MORE_BY_FACTOR * other, other + _MORE_BY_SHARE)


def _refined(reference: Features, candidate: Features, guess: ScoredHypothesis) -> ScoredHypothesis:
    """Refine the hypothesis for peak agreement, first in steps of 0.3 %, then 0.1 %."""
    few = _thinned(candidate.peaks, _ENOUGH_PEAKS)
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


def _thinned(peaks: Peaks, count: int) -> Peaks:
    """Return about `count` evenly spaced peaks, enough to compare two steps."""
    every = slice(None, None, max(1, len(peaks.frames) // count))
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
