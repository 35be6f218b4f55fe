"""Peak agreement: do the spectral peaks of both sounds coincide in time, frequency and phase?

The alignment is chosen by chroma and MFCC, so peaks are independent evidence for it. A cover in
the same key and tempo shares notes and onsets, but not phases: after one common delay the phases
of the same recording agree, even under voice, noise and equalization. A room turns the phases of
each frequency by its own angle, but all notes of that frequency by the same.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching import kernels

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
_NOTE_GAP_FRAMES = round(0.25 / FINE_HOP_S)  # peaks of a held note are closer
_COHERENT = 0.9
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
    pairs = _phase_pairs(match, most=_MOST_PAIRS)
    if pairs is None:
        return 0.0
    best = _certainty(pairs, 0.0, CERTAIN)
    for slope in pairs.slopes:
        if best >= CERTAIN:
            break
        certainty = _certainty(pairs, slope, CERTAIN + _TRIALS_PENALTY)
        best = max(best, certainty - _TRIALS_PENALTY)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCoherence:
    """How well the notes of a tone repeat one phase difference.

    Attributes:
        value: 1 if all notes of each tone differ by one angle, about 0 if by angles of chance.
        potential: What `value` is in standard deviations of chance where it is 1.
    """

    value: float
    potential: float


def note_coherence(match: PeakMatch) -> NoteCoherence:
    """Return how well separate notes of one tone repeat one phase difference.

    Whatever is linear and does not change with time, such as an equalizer or a room, turns all that
    sounds at one frequency by one angle, the argument of its transfer function there. In a room,
    angles of frequencies that are further apart than about the inverse of its reverberation time
    are unrelated (Schroeder, Frequency-correlation functions of frequency responses in rooms,
    1962), so no delay explains them, but each is repeated by every note of the recording. Notes
    that are played again repeat it only as far as they are the same sample at the same moment.

    With n unit vectors of the notes of a tone, and R the length of their mean, n R^2 - 1 is 0 on
    average by chance, with a variance of (n - 1) / n, and n - 1 for equal angles (Rayleigh's test;
    Mardia and Jupp, Directional Statistics, 2000, chapter 6). Both are summed over all tones.
    """
    pairs = _phase_pairs(match)
    if pairs is None:
        return NoteCoherence(value=0.0, potential=0.0)
    is_next = np.diff(pairs.tones) != 0
    is_next |= np.diff(pairs.seconds) > _NOTE_GAP_FRAMES * FINE_HOP_S
    notes = np.concatenate(([0], np.cumsum(is_next)))
    best = NoteCoherence(value=-1.0, potential=0.0)
    for slope in (0.0, *pairs.slopes):
        excess, repeats, variance = kernels.repeated_phases(pairs.phases(slope), pairs.tones, notes)
        if repeats == 0:
            return NoteCoherence(value=0.0, potential=0.0)
        potential = repeats / math.sqrt(variance)
        best = max(
            best,
            NoteCoherence(value=excess / repeats, potential=potential),
            key=lambda coherence: coherence.value,
        )
        if best.value >= _COHERENT:
            break
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class _PhasePairs:
    """Pairs of peaks in the order of their tones, then of time.

    Attributes:
        turns: Phase differences in turns, as if both peaks were `lag` apart exactly (n,).
        hertz: Mean frequencies (n,).
        seconds: Times in the candidate, their mean subtracted (n,).
        tones: Numbers of their tones, ascending (n,).
        slopes: How much faster the candidate's clock may run: what the frequencies suggest, and
            values beside it.
    """

    turns: NDArray[np.float64]
    hertz: NDArray[np.float64]
    seconds: NDArray[np.float64]
    tones: NDArray[np.int64]
    slopes: NDArray[np.float64]

    def phases(self, slope: float) -> NDArray[np.float64]:
        """Return phase differences in radians if the candidate's clock runs 1 + `slope` fast."""
        return 2 * np.pi * (self.turns - self.hertz * slope * self.seconds)


def _phase_pairs(match: PeakMatch, *, most: int | None = None) -> _PhasePairs | None:
    """Return the matching peaks' phases, at most `most` of them; None if there are too few."""
    reference, candidate = match.reference, match.candidate
    pairs = _pairs(match)
    if len(pairs) < _FEWEST_PAIRS:
        return None
    if most is not None:
        # Evenly spread over the block.
        pairs = pairs[:: math.ceil(len(pairs) / most)]
    tones = np.floor(candidate.hertz[pairs[:, 1]] / (2 * TOLERANCE_HZ)).astype(np.int64)
    order = np.argsort(tones, kind="stable")
    first, second = pairs[order, 0], pairs[order, 1]
    hertz = 0.5 * (reference.hertz[first].astype(np.float64) + candidate.hertz[second])
    # A pair is `late` fine frames off the lag, in which its phase turns by its frequency.
    late = (reference.frames[first] - match.lag) - candidate.moments[second]
    turns = (candidate.phases[second] - reference.phases[first].astype(np.float64)) / 256
    seconds = candidate.frames[second] * FINE_HOP_S
    # Another clock moves all frequencies by one ratio.
    ratio = np.median(np.log(candidate.hertz[second] / reference.hertz[first]))
    return _PhasePairs(
        turns=turns + hertz * FINE_HOP_S * late,
        hertz=hertz,
        seconds=seconds - seconds.mean(),
        tones=tones[order],
        slopes=ratio + _CLOCK_STEPS,
    )


def _pairs(match: PeakMatch) -> NDArray[np.int64]:
    """Return index pairs (n, 2) of matching peaks."""
    return kernels.matching_peaks(
        match.reference.frames,
        match.reference.hertz,
        match.candidate.frames,
        match.candidate.hertz,
        match.lag,
        TOLERANCE_HZ,
    )


def _certainty(pairs: _PhasePairs, slope: float, enough: float) -> float:
    return kernels.largest_certainty(
        pairs.phases(slope),
        pairs.hertz,
        pairs.tones,
        1.25 * FINE_HOP_S,
        _DELAY_STEP_S,
        enough,
    )


def is_partly_common(match: PeakMatch) -> bool:
    """Whether the peaks agree in at most five seconds of the block, and hardly at all beside them.

    A window of six seconds may be half of another recording and still have small distances.
    """
    frames = match.candidate.frames
    if len(frames) == 0:
        return False
    pairs = _pairs(match)
    columns = (frames - frames[0]) // _COLUMN_FRAMES
    peaks = np.bincount(columns)
    hits = np.bincount(columns[np.unique(pairs[:, 1])], minlength=len(peaks))
    for run in _RUNS:
        if run >= len(peaks):
            break
        # The hits beside the best `run` of columns, against those expected at its hit rate.
        inside = np.convolve(hits, np.ones(run, dtype=np.int64), "valid")
        first = int(np.argmax(inside))
        within = slice(first, first + run)
        hits_within, peaks_within = int(hits[within].sum()), int(peaks[within].sum())
        expected = hits_within / max(1, peaks_within) * (int(peaks.sum()) - peaks_within)
        hits_beside = int(hits.sum()) - hits_within
        if expected >= _FEWEST_EXPECTED and hits_beside <= _HARDLY_ANY * expected:
            return True
    return False


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
    counts = kernels.lag_histograms(
        reference.frames,
        reference.hertz,
        candidate.frames,
        candidate.hertz,
        lag,
        _REACH,
        TOLERANCE_HZ,
        drifts,
    )
    # A peak may fall into the frame before or after, so three neighbouring lags are summed.
    near = counts[:, :-2] + counts[:, 1:-1]
    near += counts[:, 2:]
    # The best lag within 0.25 s, corrected by the mean of those 0.25 to 0.75 s away.
    rows = np.arange(len(drifts))
    best = _REACH - _SEARCH - 1 + np.argmax(near[:, _CENTRE], axis=1)
    shares = np.minimum(1.0, near[rows[:, None], best[:, None] + _BEST_AND_AWAY] / peak_count)
    chance = np.add.reduce(shares[:, 1:], axis=1) / len(_BACKGROUND) / 2
    agreement = (shares[:, 0] - chance) / np.maximum(1.0 - chance, _MIN_HEADROOM)
    return agreement, lag + best + 1 - _REACH
