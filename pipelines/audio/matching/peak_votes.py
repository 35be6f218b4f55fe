"""Align by peaks alone: each pair of peaks of equal frequency votes for its time difference.

Finds what the alignment by chroma and MFCC misses: a few common seconds, and music under a louder
voice. Not here: the verdict on a found stretch (`judging.py`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching.kernels import peak_votes, strongest_runs
from pipelines.audio.matching.peak_agreement import TOLERANCE_HZ

_STRETCH_FRAMES = round(0.5 / FINE_HOP_S)
_RUN_STRETCHES = 3  # any two seconds contain one of 1.5 s
_LEAST_STRETCHES = 4
_APART_FRAMES = 4
_STILL_COMMON = 0.4
_COUNT = 3
_LEAST_EXCESS = 5.0  # unrelated sounds reach about 4, a recording under an equal voice 13
_LEAST_REVERSED_EXCESS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonStretch:
    """A stretch in which peaks coincide, in fine frames.

    `excess` is how far the votes exceed chance, in units of the root of what chance gives.
    """

    lag: int
    first_frame: int
    last_frame: int
    excess: float

    @property
    def is_weak(self) -> bool:
        """Whether chance can explain it."""
        return self.excess <= _LEAST_EXCESS


def common_stretches(
    reference: Peaks, candidate: Peaks, *, keeps_weak: bool = False
) -> list[CommonStretch]:
    """Return up to three common stretches of two sounds, the likeliest first.

    `first_frame` and `last_frame` are of the candidate, `lag` is reference minus candidate time.
    With `keeps_weak`, weak stretches are returned too.
    """
    found = _stretches(reference, candidate, count=_COUNT)
    return [stretch for stretch in found if keeps_weak or not stretch.is_weak]


def is_reversed(reference: Peaks, candidate: Peaks) -> bool:
    """Whether the peaks of the candidate, played backwards, are those of the reference."""
    if not len(candidate.frames):
        return False
    backwards = Peaks(
        (candidate.frames[-1] - candidate.frames)[::-1],
        np.ascontiguousarray(candidate.hertz[::-1]),
        candidate.phases[::-1],
    )
    found = _stretches(reference, backwards, count=1)
    return bool(found) and found[0].excess >= _LEAST_REVERSED_EXCESS


def _stretches(reference: Peaks, candidate: Peaks, *, count: int) -> list[CommonStretch]:
    if not len(reference.frames) or not len(candidate.frames):
        return []
    frames, hertz = _by_frequency(reference)
    votes = peak_votes(
        frames, hertz, candidate.frames, candidate.hertz, TOLERANCE_HZ, _STRETCH_FRAMES
    )
    if votes.shape[1] < _RUN_STRETCHES:
        return []
    chance = votes.sum(axis=0) * np.float32(3 / (int(frames.max()) + 1))
    runs = strongest_runs(votes, chance.astype(np.float32), _RUN_STRETCHES, count, _APART_FRAMES)
    last = int(candidate.frames[-1])
    return [
        _stretch(votes, chance, int(row), int(column), float(excess), last)
        for excess, row, column in runs
        if excess > 0
    ]


@lru_cache(maxsize=64)
def _by_frequency(peaks: Peaks) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    order = np.argsort(peaks.hertz, kind="stable")
    return peaks.frames[order], peaks.hertz[order]


def _stretch(
    votes: NDArray[np.int32],
    chance: NDArray[np.floating],
    row: int,
    column: int,
    excess: float,
    last: int,
) -> CommonStretch:
    """Extend a run in both directions while the votes stay well above chance."""
    near = votes[row - 1 : row + 2].sum(axis=0) - chance
    least = _STILL_COMMON * near[column : column + _RUN_STRETCHES].mean()
    first, end = column, column + _RUN_STRETCHES
    while first > 0 and near[first - 1] >= least:
        first -= 1
    while end < len(near) and near[end] >= least:
        end += 1
    while end - first < min(_LEAST_STRETCHES, len(near)):
        is_before = first > 0 and (end == len(near) or near[first - 1] >= near[end])
        first, end = (first - 1, end) if is_before else (first, end + 1)
    return CommonStretch(
        lag=row - last - 1,
        first_frame=first * _STRETCH_FRAMES,
        last_frame=end * _STRETCH_FRAMES,
        excess=excess,
    )
