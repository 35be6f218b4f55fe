"""Align by peaks alone: each pair of peaks of equal frequency votes for its time difference.

Finds what the alignment by chroma and MFCC misses: a few common seconds, and music under a louder
voice. Not here: the verdict on such a stretch (`judging.py`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching.kernels import peak_votes, strongest_runs
from pipelines.audio.matching.peak_agreement import TOLERANCE_HZ

_STRETCH_FRAMES = round(0.5 / FINE_HOP_S)  # half a second of the candidate
_RUN_STRETCHES = 3  # any two seconds contain one of 1.5 s
_LEAST_STRETCHES = 4  # two seconds, the shortest excerpt
_APART_FRAMES = 4  # 0.1 s: nearer lags are one alignment
_STILL_COMMON = 0.4  # of the mean votes of the run
_MOST_STRETCHES = 3
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
    stretches = _stretches(reference, candidate, count=_MOST_STRETCHES)
    return [stretch for stretch in stretches if keeps_weak or not stretch.is_weak]


def is_reversed(reference: Peaks, candidate: Peaks) -> bool:
    """Whether the peaks of the candidate, played backwards, are those of the reference."""
    if not len(candidate.frames):
        return False
    backwards = Peaks(
        (candidate.frames[-1] - candidate.frames)[::-1],
        np.ascontiguousarray(candidate.hertz[::-1]),
        candidate.phases[::-1],
    )
    stretches = _stretches(reference, backwards, count=1)
    return bool(stretches) and stretches[0].excess >= _LEAST_REVERSED_EXCESS


def _stretches(reference: Peaks, candidate: Peaks, *, count: int) -> list[CommonStretch]:
    if not len(reference.frames) or not len(candidate.frames):
        return []
    # Votes are counts by time difference and half a second of the candidate.
    frames, hertz = _by_frequency(reference)
    votes = peak_votes(
        frames, hertz, candidate.frames, candidate.hertz, TOLERANCE_HZ, _STRETCH_FRAMES
    )
    if votes.shape[1] < _RUN_STRETCHES:
        return []
    chance = votes.sum(axis=0) * np.float32(3 / (int(frames.max()) + 1))
    runs = strongest_runs(votes, chance.astype(np.float32), _RUN_STRETCHES, count, _APART_FRAMES)
    last = int(candidate.frames[-1])
    stretches = []
    for excess, place, start in runs:
        if excess <= 0:
            continue
        row, first, end = int(place), int(start), int(start) + _RUN_STRETCHES
        # Extend the run in both directions while the votes stay well above chance.
        near = votes[row - 1 : row + 2].sum(axis=0) - chance
        least = _STILL_COMMON * near[first:end].mean()
        while first > 0 and near[first - 1] >= least:
            first -= 1
        while end < len(near) and near[end] >= least:
            end += 1
        # If it is shorter than two seconds, extend it where there are more votes.
        while end - first < min(_LEAST_STRETCHES, len(near)):
            is_before = first > 0 and (end == len(near) or near[first - 1] >= near[end])
            first, end = (first - 1, end) if is_before else (first, end + 1)
        stretches.append(
            CommonStretch(
                lag=row - last - 1,
                first_frame=first * _STRETCH_FRAMES,
                last_frame=end * _STRETCH_FRAMES,
                excess=float(excess),
            )
        )
    return stretches


@lru_cache(maxsize=64)
def _by_frequency(peaks: Peaks) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return frames and frequencies; cached because a reference is compared several times."""
    order = np.argsort(peaks.hertz, kind="stable")
    return peaks.frames[order], peaks.hertz[order]
