"""Guess single edits from spectral peaks: each pair of peaks votes for the edit that explains it.

A generalized Hough transform (Ballard, Generalizing the Hough transform to detect arbitrary shapes,
1981): if the candidate is the reference at another speed, tempo or pitch, the pairs of peaks that
are one peak of the recording all vote for one frequency ratio and one time difference. A voice or
a crowd over the music has peaks of its own, but takes few of those votes away, where it changes
chroma as a whole. Not here: refining a guess (`search.py`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import FINE_HOP_S, Peaks
from pipelines.audio.matching import kernels
from pipelines.audio.matching.agreement import TOLERANCE_HZ
from pipelines.audio.matching.hypotheses import (
    SEARCHED_SEMITONES,
    SEARCHED_TEMPOS,
    UNCHANGED,
    Hypothesis,
    speed,
)

_STEP = 0.003  # of log frequency in one row, half of what refining adds on either side
_MARGIN = 3  # rows beyond the searched range: its ends are found as surely as its middle
_TEMPO_STEP = 0.01  # 0.5 % off, ten seconds are at most 50 ms off
_COLUMN_FRAMES = 4  # 0.1 s
_MOST_CANDIDATE_PEAKS = 400
_MOST_REFERENCE_PEAKS = 1_200
_APART_ROWS = 4
_GUESSES = 2  # of each family


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A guessed edit.

    Attributes:
        hypothesis: The edit.
        excess: How far its votes exceed chance, in units of the root of what chance gives.
        lag: Reference minus undone candidate time in fine frames.
    """

    hypothesis: Hypothesis
    excess: float
    lag: int


def _rows(ends: NDArray[np.float64], step: float) -> NDArray[np.int64]:
    lowest, highest = np.rint(ends / step).astype(int)
    return np.arange(lowest - _MARGIN, highest + _MARGIN + 1)


_SPEEDS = _rows(np.log(SEARCHED_TEMPOS), _STEP)
_PITCHES = _rows(np.log(2) / 12 * np.array(SEARCHED_SEMITONES), _STEP)
_SPEED_TEMPOS = np.exp(_SPEEDS * _STEP).astype(np.float32)
_SAME_TEMPO = np.ones(len(_PITCHES), dtype=np.float32)
_TEMPO_ROWS = _rows(np.log(SEARCHED_TEMPOS), _TEMPO_STEP)
_TEMPOS = np.exp(_TEMPO_ROWS * _TEMPO_STEP).astype(np.float32)


def guess_edits(reference: Peaks, candidate: Peaks, *, least_s: float) -> tuple[list[Guess], Guess]:
    """Return the likeliest speeds, tempos and pitches, the likeliest first, and "unchanged".

    Args:
        reference: Peaks of the reference.
        candidate: Peaks of the candidate.
        least_s: Shortest overlap in seconds of the reference.
    """
    few = _thinned(candidate, _MOST_CANDIDATE_PEAKS)
    frames, hertz, pitches = _by_frequency(reference)
    ends = (int(frames.max(initial=0)) + 1, int(few.frames.max(initial=0)) + 1)
    zero = round(ends[1] * float(_SPEED_TEMPOS[-1])) // _COLUMN_FRAMES + 2
    grid = (_COLUMN_FRAMES, zero, zero + ends[0] // _COLUMN_FRAMES + 2)
    least = round(least_s / FINE_HOP_S)

    def strongest(votes: NDArray[np.int32], tempos: NDArray[np.float32]) -> NDArray[np.float32]:
        return kernels.strongest_lags(votes, tempos, *ends, least, *grid[:2])

    heights = _log_rows(few.hertz)
    by_speed, by_pitch = (
        strongest(
            kernels.ratio_votes(frames, pitches, few.frames, heights, int(rows[0]), tempos, *grid),
            tempos,
        )
        for rows, tempos in ((_SPEEDS, _SPEED_TEMPOS), (_PITCHES, _SAME_TEMPO))
    )
    by_tempo = strongest(
        kernels.tempo_votes(frames, hertz, few.frames, few.hertz, TOLERANCE_HZ, _TEMPOS, *grid),
        _TEMPOS,
    )
    still = int(-_PITCHES[0])
    unchanged = Guess(
        hypothesis=UNCHANGED, excess=float(by_pitch[still, 0]), lag=int(by_pitch[still, 1])
    )
    guesses = [
        Guess(hypothesis=_edit(family, int(row)), excess=float(excess), lag=int(lag))
        for family, rows, strengths in (
            ("speed", _SPEEDS, by_speed),
            ("pitch", _PITCHES, by_pitch),
            ("tempo", _TEMPO_ROWS, by_tempo),
        )
        for row, (excess, lag) in _best_rows(rows, strengths)
    ]
    return sorted(guesses, key=lambda guess: guess.excess, reverse=True), unchanged


def _edit(family: str, row: int) -> Hypothesis:
    if family == "speed":
        return speed(float(np.exp(row * _STEP)))
    if family == "pitch":
        semitones = float(12 / np.log(2) * row * _STEP)
        return Hypothesis(family="pitch", tempo=1.0, semitones=semitones)
    return Hypothesis(family="tempo", tempo=float(np.exp(row * _TEMPO_STEP)), semitones=0.0)


def _best_rows(
    rows: NDArray[np.int64], strengths: NDArray[np.float32]
) -> list[tuple[int, NDArray[np.float32]]]:
    """Return the strongest rows except row 0, which is unchanged; of neighbours the strongest."""
    best: list[int] = []
    for place in np.argsort(-strengths[:, 0], kind="stable"):
        if rows[place] and all(abs(place - other) >= _APART_ROWS for other in best):
            best.append(int(place))
            if len(best) == _GUESSES:
                break
    return [(int(rows[place]), strengths[place]) for place in best]


@lru_cache(maxsize=64)
def _by_frequency(
    peaks: Peaks,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Return frames, frequencies and log frequencies; cached: a reference is compared again."""
    few = _thinned(peaks, _MOST_REFERENCE_PEAKS)
    order = np.argsort(few.hertz, kind="stable")
    return few.frames[order], few.hertz[order], _log_rows(few.hertz[order])


def _log_rows(hertz: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.log(hertz) / np.float32(_STEP), dtype=np.float32)


def _thinned(peaks: Peaks, most: int) -> Peaks:
    """Return at most `most` peaks, evenly spread over time."""
    every = slice(None, None, max(1, -(-len(peaks.frames) // most)))
    return peaks.at(every)
