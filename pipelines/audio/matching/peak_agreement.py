"""Peak agreement: do the spectral peaks of both sounds fall on the same places, in phase?

Chroma and MFCC chose the alignment; the peaks took no part in that, so they may judge it. A cover
in the same key and tempo shares notes and moments, but not the phases of a recording: after one
common delay the phases of the same recording agree, also under voice, noise, equaliser and reverb.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.matching.kernels import lag_histograms, largest_sum, matching_peaks

TOLERANCE_HZ = 0.35 * 22_050 / 2048
_SEARCH = round(0.25 / FINE_HOP_S)
_BACKGROUND = np.arange(_SEARCH + 1, round(0.75 / FINE_HOP_S) + 1)
_REACH = _SEARCH + int(_BACKGROUND[-1]) + 1
_CENTRE = slice(_REACH - _SEARCH - 1, _REACH + _SEARCH)
_BEST_AND_AWAY = np.concatenate(([0], -_BACKGROUND, _BACKGROUND))
_LEAST_ROOM = 0.5  # a steady tone agrees with itself at every lag: that is no agreement
_NO_DRIFT = np.zeros(1)
_STEPS = np.arange(2, 31) / 200
_DRIFTS = np.concatenate((-_STEPS, _STEPS))
"""Tempo differences of 1 % to 15 % either way, in steps of 0.5 %."""
_DELAY_STEP_S = 40e-6  # a fifth of a turn at 4.5 kHz
_CLOCK_STEPS = np.arange(-4, 5) * 4e-5
_PRICE_OF_TRIALS = 0.7  # what nine more trials add to the largest value by chance
_FEWEST_PAIRS = 8
_MOST_PAIRS = 256  # more would not make it surer, only dearer
CERTAIN = 5.25
"""R / sqrt(n) that chance does not reach: exp(-5.25^2) for each of some 1500 delays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Peaks of both sounds on top of each other.

    Attributes:
        share: Share of candidate peaks that agree beyond chance, -1..1.
        lag: Reference minus candidate time in fine frames, where it is reached.
        reference: Peaks of the reference.
        candidate: Peaks of the candidate inside the compared block.
    """

    share: float
    lag: int
    reference: Peaks
    candidate: Peaks


def match_peaks(
    reference: Peaks, candidate: Peaks, *, lag: int, first_frame: int, last_frame: int
) -> Match:
    """Find the share of candidate peaks that the reference has too, beyond chance.

    The share of hits h at the best lag within 0.25 s is corrected by the mean share b at lags 0.25
    to 0.75 s away: (h - b) / (1 - b), which is 1 for identical sounds and about 0 for others.

    Args:
        reference: Peaks of the reference.
        candidate: Peaks of the candidate.
        lag: Reference minus candidate time in fine frames, from the alignment.
        first_frame: First fine frame of the compared block in the candidate.
        last_frame: The fine frame behind its last one.
    """
    inside = slice(*np.searchsorted(candidate.frames, (first_frame, last_frame)))
    block = Peaks(
        candidate.frames[inside],
        candidate.hertz[inside],
        candidate.phases[inside],
        None if candidate.rests is None else candidate.rests[inside],
    )
    shares, lags = _shares(reference, block, lag, _NO_DRIFT)
    return Match(share=float(shares[0]), lag=int(lags[0]), reference=reference, candidate=block)


def phase_certainty(match: Match) -> float:
    """How sure the phases of matching peaks follow one delay: R / sqrt(n), at most about 5.25.

    R is the largest |sum exp(i (difference + 2 pi f delay))| of the n pairs over all delays within
    the lag's uncertainty, with equal clocks or with those that the frequencies of the pairs tell
    (film at another frame rate runs 0.1 % off). Chance gives about 2.5 and practically never 4,
    the same recording 4 to 15; 0 when there is too little to tell. Looking ends at certainty.
    """
    pairs = matching_peaks(
        match.reference.frames,
        match.reference.hertz,
        match.candidate.frames,
        match.candidate.hertz,
        match.lag,
        TOLERANCE_HZ,
    )
    if len(pairs) < _FEWEST_PAIRS:
        return 0.0
    pairs = pairs[:: math.ceil(len(pairs) / _MOST_PAIRS)]
    left, right = pairs[:, 0], pairs[:, 1]
    ratio = np.median(np.log(match.candidate.hertz[right] / match.reference.hertz[left]))
    best = _certainty(match, left, right, 0.0, CERTAIN)
    for slope in ratio + _CLOCK_STEPS:
        if best >= CERTAIN:
            break
        certainty = _certainty(match, left, right, slope, CERTAIN + _PRICE_OF_TRIALS)
        best = max(best, certainty - _PRICE_OF_TRIALS)
    return best


def _certainty(
    match: Match, left: NDArray[np.int64], right: NDArray[np.int64], slope: float, enough: float
) -> float:
    """R / sqrt(n) of pairs of peaks when the candidate's clock runs 1 + `slope` times as fast."""
    reference, candidate = match.reference, match.candidate
    hertz = 0.5 * (reference.hertz[left].astype(np.float64) + candidate.hertz[right])
    late = (reference.frames[left] - match.lag) - candidate.moments[right]
    turns = (candidate.phases[right] - reference.phases[left].astype(np.float64)) / 256
    seconds = candidate.frames[right] * FINE_HOP_S
    turns += hertz * (FINE_HOP_S * late - slope * (seconds - seconds.mean()))
    root = math.sqrt(len(left))
    reach_s = 1.25 * FINE_HOP_S
    return largest_sum(2 * np.pi * turns, hertz, reach_s, _DELAY_STEP_S, enough * root) / root


def drifting_share(match: Match) -> float:
    """The best share when the candidate may run 1 to 15 % off the reference's tempo.

    A recording played at another tempo crosses the right lag for a moment: enough for chroma, and
    for some peaks. Following the drift then finds several times as many.
    """
    shares, _ = _shares(match.reference, match.candidate, match.lag, _DRIFTS)
    return float(shares.max())


def _shares(
    reference: Peaks, candidate: Peaks, lag: int, drifts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Agreement and best lag for each drift, shapes (drifts,)."""
    peak_count = len(candidate.frames)
    if peak_count == 0 or len(reference.frames) == 0:
        return np.zeros(len(drifts)), np.full(len(drifts), lag)
    counts = lag_histograms(
        reference.frames,
        reference.hertz,
        candidate.frames,
        candidate.hertz,
        lag,
        _REACH,
        TOLERANCE_HZ,
        drifts,
    )
    # a peak may fall to the frame before or after, so three neighbouring lags count together
    near = counts[:, :-2] + counts[:, 1:-1]
    near += counts[:, 2:]
    rows = np.arange(len(drifts))
    best = _REACH - _SEARCH - 1 + np.argmax(near[:, _CENTRE], axis=1)
    shares = np.minimum(1.0, near[rows[:, None], best[:, None] + _BEST_AND_AWAY] / peak_count)
    chance = np.add.reduce(shares[:, 1:], axis=1) / len(_BACKGROUND) / 2
    agreement = (shares[:, 0] - chance) / np.maximum(1.0 - chance, _LEAST_ROOM)
    return agreement, lag + best + 1 - _REACH
