"""Peak agreement: do the spectral peaks of both sounds coincide in time, frequency and phase?

The alignment is chosen by chroma and MFCC, so peaks are independent evidence for it. A cover in
the same key and tempo shares notes and onsets, but not phases: after one common delay the phases
of the same recording agree, even under voice, noise, equalization and reverb.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.matching.kernels import lag_histograms, largest_certainty, matching_peaks

TOLERANCE_HZ = 0.35 * 22_050 / 2048
_SEARCH = round(0.25 / FINE_HOP_S)
_BACKGROUND = np.arange(_SEARCH + 1, round(0.75 / FINE_HOP_S) + 1)
_REACH = _SEARCH + int(_BACKGROUND[-1]) + 1
_CENTRE = slice(_REACH - _SEARCH - 1, _REACH + _SEARCH)
_BEST_AND_AWAY = np.concatenate(([0], -_BACKGROUND, _BACKGROUND))
_MIN_HEADROOM = 0.5  # a steady tone agrees with itself at every lag, which is no evidence
_NO_DRIFT = np.zeros(1)
_STEPS = np.arange(2, 31) / 200
_DRIFTS = np.concatenate((-_STEPS, _STEPS))
"""Tempo differences of 1 % to 15 % in both directions, in steps of 0.5 %."""
_DELAY_STEP_S = 40e-6  # a fifth of a turn at 4.5 kHz
_CLOCK_STEPS = np.arange(-4, 5) * 4e-5
_TRIALS_PENALTY = 0.7  # what nine more trials add to the maximum by chance
_FEWEST_PAIRS = 8
_MOST_PAIRS = 256  # more pairs cost time without adding certainty
_COLUMN_FRAMES = round(0.5 / FINE_HOP_S)
_RUNS = (4, 6, 8, 10)
_FEWEST_EXPECTED = 12.0  # hits, of which chance leaves hardly ever a quarter
_HARDLY_ANY = 0.25
CERTAIN = 5.25
"""A certainty that chance does not reach: p = exp(-5.25^2) for each of about 1500 delays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMatch:
    """The overlaid peaks of both sounds.

    Attributes:
        share: Share of candidate peaks that agree beyond chance, -1..1.
        lag: Reference minus candidate time in fine frames at which the share is reached.
        reference: Peaks of the reference.
        candidate: Peaks of the candidate inside the compared block.
    """

    share: float
    lag: int
    reference: Peaks
    candidate: Peaks


def match_peaks(
    reference: Peaks, candidate: Peaks, *, lag: int, first_frame: int, last_frame: int
) -> PeakMatch:
    """Find the share of candidate peaks that also occur in the reference, beyond chance.

    The hit rate h at the best lag within 0.25 s is corrected by the mean hit rate b at lags 0.25
    to 0.75 s away: (h - b) / (1 - b), which is 1 for identical sounds and about 0 for unrelated
    ones.

    Args:
        reference: Peaks of the reference.
        candidate: Peaks of the candidate.
        lag: Reference minus candidate time in fine frames, from the alignment.
        first_frame: First fine frame of the compared block in the candidate.
        last_frame: The fine frame after its last one.
    """
    inside = slice(*np.searchsorted(candidate.frames, (first_frame, last_frame)))
    block = Peaks(
        candidate.frames[inside],
        candidate.hertz[inside],
        candidate.phases[inside],
        None if candidate.rests is None else candidate.rests[inside],
    )
    shares, lags = _shares(reference, block, lag, _NO_DRIFT)
    return PeakMatch(share=float(shares[0]), lag=int(lags[0]), reference=reference, candidate=block)


def phase_certainty(match: PeakMatch) -> float:
    """Return the certainty that the phases of matching peaks follow one delay.

    It is the largest |sum m| / sqrt(sum |m|^2) over all delays within the lag's uncertainty, with m
    the mean of exp(i (difference + 2 pi f delay)) over the pairs of one tone. Tones count, not
    pairs: a sampled instrument repeats one phase with each note, so the pairs of a tone that two
    such instruments share are no independent evidence. Clocks are equal, or have the ratio that the
    pairs' frequencies suggest (film at another frame rate runs 0.1 % off). Chance gives about 2.5
    and almost never 4; n tones give at most sqrt(n). 0 if there are too few pairs. The search stops
    at about 5.25.
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
    pairs = pairs[np.argsort(_tones(match.candidate.hertz[pairs[:, 1]]), kind="stable")]
    left, right = pairs[:, 0], pairs[:, 1]
    ratio = np.median(np.log(match.candidate.hertz[right] / match.reference.hertz[left]))
    best = _certainty(match, left, right, 0.0, CERTAIN)
    for slope in ratio + _CLOCK_STEPS:
        if best >= CERTAIN:
            break
        certainty = _certainty(match, left, right, slope, CERTAIN + _TRIALS_PENALTY)
        best = max(best, certainty - _TRIALS_PENALTY)
    return best


def _certainty(
    match: PeakMatch, left: NDArray[np.int64], right: NDArray[np.int64], slope: float, enough: float
) -> float:
    """Return the certainty if the candidate's clock runs 1 + `slope` times as fast.

    The pairs are in the order of their tones.
    """
    reference, candidate = match.reference, match.candidate
    hertz = 0.5 * (reference.hertz[left].astype(np.float64) + candidate.hertz[right])
    late = (reference.frames[left] - match.lag) - candidate.moments[right]
    turns = (candidate.phases[right] - reference.phases[left].astype(np.float64)) / 256
    seconds = candidate.frames[right] * FINE_HOP_S
    turns += hertz * (FINE_HOP_S * late - slope * (seconds - seconds.mean()))
    return largest_certainty(
        2 * np.pi * turns,
        hertz,
        _tones(candidate.hertz[right]),
        1.25 * FINE_HOP_S,
        _DELAY_STEP_S,
        enough,
    )


def _tones(hertz: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return a number for the tone of each peak: peaks in one band of 7.5 Hz are one tone."""
    return np.floor(hertz / (2 * TOLERANCE_HZ)).astype(np.int64)


def is_partly_common(match: PeakMatch) -> bool:
    """Whether the peaks agree in at most five seconds of the block, and hardly at all beside them.

    A window of six seconds may be half of another recording and still have small distances.
    """
    heard = match.candidate.frames
    if len(heard) == 0:
        return False
    pairs = matching_peaks(
        match.reference.frames,
        match.reference.hertz,
        heard,
        match.candidate.hertz,
        match.lag,
        TOLERANCE_HZ,
    )
    columns = (heard - heard[0]) // _COLUMN_FRAMES
    peaks = np.bincount(columns)
    hits = np.bincount(columns[np.unique(pairs[:, 1])], minlength=len(peaks))
    return any(_is_confined(hits, peaks, run) for run in _RUNS if run < len(peaks))


def _is_confined(hits: NDArray[np.int64], peaks: NDArray[np.int64], run: int) -> bool:
    """Whether hits are confined to the best `run` of columns."""
    inside = np.convolve(hits, np.ones(run, dtype=np.int64), "valid")
    first = int(np.argmax(inside))
    within = slice(first, first + run)
    hits_within, peaks_within = int(hits[within].sum()), int(peaks[within].sum())
    expected = hits_within / max(1, peaks_within) * (int(peaks.sum()) - peaks_within)
    found = int(hits.sum()) - hits_within
    return expected >= _FEWEST_EXPECTED and found <= _HARDLY_ANY * expected


def drifting_share(match: PeakMatch) -> float:
    """Return the best share if the candidate's tempo differs by 1 to 15 %.

    A recording at another tempo crosses the right lag briefly: enough for chroma and some peaks.
    Following the drift then finds several times as many peaks.
    """
    shares, _ = _shares(match.reference, match.candidate, match.lag, _DRIFTS)
    return float(shares.max())


def _shares(
    reference: Peaks, candidate: Peaks, lag: int, drifts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return agreement and best lag for each drift, both of shape (drifts,)."""
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
    # a peak may fall into the frame before or after, so three neighbouring lags are summed
    near = counts[:, :-2] + counts[:, 1:-1]
    near += counts[:, 2:]
    rows = np.arange(len(drifts))
    best = _REACH - _SEARCH - 1 + np.argmax(near[:, _CENTRE], axis=1)
    shares = np.minimum(1.0, near[rows[:, None], best[:, None] + _BEST_AND_AWAY] / peak_count)
    chance = np.add.reduce(shares[:, 1:], axis=1) / len(_BACKGROUND) / 2
    agreement = (shares[:, 0] - chance) / np.maximum(1.0 - chance, _MIN_HEADROOM)
    return agreement, lag + best + 1 - _REACH
