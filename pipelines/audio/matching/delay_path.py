"""The delay between two sounds as a path over time, for recordings whose clocks run unevenly.

Tape and vinyl waver, screen recorders and editors resynchronise, phones have clocks of their own:
the delay then changes by some milliseconds within seconds, and no single delay explains the phases
of the whole block. A path does: in each window of 0.3 s one delay turns all tones to one angle, and
from one window to the next it hardly moves, beside what the frequencies say (a tape that runs fast
raises all of them by one ratio), or jumps, at a price. No path explains the phases of a score that
was played or rendered again: they are those of other sounds, each tone by itself.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching import kernels
from pipelines.audio.matching.agreement import (
    DELAY_REACH_S,
    DELAY_STEP_S,
    FEWEST_PAIRS,
    TOLERANCE_HZ,
    PeakMatch,
    note_numbers,
    phase_differences,
)

_WINDOW_FRAMES = 13  # 0.3 s, a fifth of a period of the usual wow, 0.7 Hz
_HOP_FRAMES = 6
_FREE_STEPS = 6  # 0.24 ms in 0.14 s, beside what frequencies say
_JUMP_COST = 6.0
"""Chance gives a score of x with probability exp(-x), and there are about 200 unrelated delays."""
_DRIFT_FITS = 3
_STEADY_WEIGHT = 1e5  # Hz^2: one pair at 300 Hz in favour of equal clocks


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayPath:
    """How well the phases of matching peaks follow one path of the delay.

    Attributes:
        agreeing_tones: Mean over the windows of |sum m|^2 / sum |m|^2, with m the mean over the
            pairs of one tone of exp(i (difference + 2 pi f delay)), less the cost of jumps: the
            number of tones if the path explains all, 1.5 to 3 if it explains nothing but chance.
        tones: Mean number of tones in a window.
        coherence: How well the notes of a tone repeat one phase difference along the path: 1 if all
            differ by one angle, about 0 if by angles of chance.
        clock_ratio: How much faster the candidate runs on average, as its frequencies say, minus 1:
            what is cut or doubled to keep in time does not change the speed.
        gain: How many times as many peaks match with these changes of speed undone.
    """

    agreeing_tones: float
    tones: float
    coherence: float
    clock_ratio: float
    gain: float

    @property
    def evidence(self) -> float:
        """Agreeing tones times their share of all tones, the coherence of their notes and gain^2.

        Each factor separates the same recording from something else: many agreeing tones from other
        instruments with the same score, which agree in few; their share from the same instruments
        playing again, some of which agree with a path that follows one of them; coherence from
        both, because such a path differs from note to note; and gain, because only uneven clocks
        also change the frequencies.
        """
        share = self.agreeing_tones / max(1.0, self.tones)
        return self.agreeing_tones * share * self.coherence * self.gain**2


NO_PATH = DelayPath(agreeing_tones=0.0, tones=0.0, coherence=0.0, clock_ratio=0.0, gain=1.0)


def follow_delay(match: PeakMatch) -> DelayPath:
    """Find the path of the delay that explains most phases; `NO_PATH` if there are too few pairs.

    Frequencies say how fast the candidate runs in each window, so these changes of the delay are
    undone first, and more peaks match with frequencies undone. The rest of the delay is found by
    dynamic programming over all delays within the lag's uncertainty.
    """
    pairs = _matching(match, match.candidate.hertz)
    speed = _Speed.of(match, pairs)
    if speed is None:
        return NO_PATH
    matched = len(pairs)
    pairs = _matching(match, speed.undone(match.candidate))
    speed = _Speed.of(match, pairs)
    if speed is None:
        return NO_PATH

    reference, candidate = match.reference, match.candidate
    first, second = pairs[:, 0], pairs[:, 1]
    turns, hertz = phase_differences(match, pairs, speed.gained_frames(candidate.frames)[second])
    phases = 2 * np.pi * turns
    tones = np.floor(reference.hertz[first] / (2 * TOLERANCE_HZ)).astype(np.int64)
    windows = _windows(candidate.frames[second], speed.starts)
    scores, tone_counts = kernels.delay_scores(
        phases, hertz, tones, windows, DELAY_REACH_S, DELAY_STEP_S
    )
    path, total = kernels.best_path(scores, _FREE_STEPS, _JUMP_COST)

    frames = candidate.frames[second]
    # The delay of a pair is that of the nearest window, because a jump has nothing between.
    middles = speed.starts[0] + _WINDOW_FRAMES // 2
    nearest = ((frames - middles + _HOP_FRAMES // 2) // _HOP_FRAMES).clip(0, len(path) - 1)
    delays = DELAY_STEP_S * path[nearest] - DELAY_REACH_S
    return DelayPath(
        agreeing_tones=total / len(path),
        tones=float(tone_counts.mean()),
        coherence=_coherence(phases + 2 * np.pi * hertz * delays, tones, frames),
        clock_ratio=float(speed.ratios.mean()),
        gain=len(pairs) / matched,
    )


def with_drift_undone(match: PeakMatch) -> PeakMatch:
    """Return the match with a linear change of the candidate's speed undone in its frequencies.

    The change is fitted to the peaks that match, by least squares; undone, it lets more peaks match
    before and after them, so that it is fitted again.
    """
    undone = match
    for _ in range(_DRIFT_FITS):
        pairs = _matching(match, undone.candidate.hertz)
        if len(pairs) < FEWEST_PAIRS:
            return match
        hertz = match.reference.hertz[pairs[:, 0]].astype(np.float64)
        raised = match.candidate.hertz[pairs[:, 1]] - hertz
        frames = match.candidate.frames.astype(np.float64)
        causes = np.stack((hertz, hertz * frames[pairs[:, 1]]), axis=1)
        ratio, per_frame = np.linalg.lstsq(causes, raised)[0]
        original = match.candidate.hertz / (1 + ratio + per_frame * frames)
        candidate = replace(match.candidate, hertz=original.astype(np.float32))
        undone = replace(match, candidate=candidate)
    return undone


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speed:
    """By how much faster than the reference the candidate runs in each window (windows,).

    `starts` are the first fine frames of the windows in the candidate.
    """

    starts: NDArray[np.int64]
    ratios: NDArray[np.float64]

    @classmethod
    def of(cls, match: PeakMatch, pairs: NDArray[np.int64]) -> "_Speed | None":
        """Fit the ratio of the frequencies of matching peaks; None if there are too few pairs.

        By least squares of their differences, which are equally exact at all frequencies.
        """
        if len(pairs) < FEWEST_PAIRS:
            return None
        frames = match.candidate.frames[pairs[:, 1]]
        starts = np.arange(frames[0], max(frames[-1] - _WINDOW_FRAMES, frames[0]) + 1, _HOP_FRAMES)
        hertz = match.reference.hertz[pairs[:, 0]].astype(np.float64)
        raised = match.candidate.hertz[pairs[:, 1]] - hertz
        products = np.concatenate(([0.0], np.cumsum(hertz * raised)))
        squares = np.concatenate(([0.0], np.cumsum(np.square(hertz))))
        first, end = _windows(frames, starts).T
        energies = squares[end] - squares[first] + _STEADY_WEIGHT
        return cls(starts=starts, ratios=(products[end] - products[first]) / energies)

    def undone(self, peaks: Peaks) -> NDArray[np.float32]:
        """Return the frequencies of the candidate's peaks as the reference has them."""
        return np.asarray(peaks.hertz / (1 + self._at(peaks.frames)), dtype=np.float32)

    def gained_frames(self, frames: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return how many frames the candidate has gained at each frame, 0 on average."""
        gained = np.cumsum(self._at(np.arange(frames[0], frames[-1] + 1)))
        centred: NDArray[np.float64] = (gained - gained.mean())[frames - frames[0]]
        return centred

    def _at(self, frames: NDArray[np.integer]) -> NDArray[np.float64]:
        ratios: NDArray[np.float64] = np.interp(
            frames, self.starts + _WINDOW_FRAMES / 2, self.ratios
        )
        return ratios


def _matching(match: PeakMatch, hertz: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return index pairs (n, 2) of matching peaks if the candidate's have these frequencies."""
    reference, candidate = match.reference, match.candidate
    return kernels.matching_peaks(
        reference.frames, reference.hertz, candidate.frames, hertz, match.lag, TOLERANCE_HZ
    )


def _windows(frames: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first pair of each window and the one after its last (windows, 2)."""
    ends = np.searchsorted(frames, starts + _WINDOW_FRAMES)
    return np.stack((np.searchsorted(frames, starts), ends), axis=1)


def _coherence(
    phases: NDArray[np.float64], tones: NDArray[np.int64], frames: NDArray[np.int32]
) -> float:
    """Return how well the notes of a tone repeat one phase difference along the path."""
    order = np.argsort(tones, kind="stable")
    notes = note_numbers(tones[order], frames[order])
    excess, repeats, _ = kernels.repeated_phases(phases[order], tones[order], notes)
    return excess / repeats if repeats else 0.0
