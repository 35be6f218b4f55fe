"""Tone agreement: do the musical tones agree, or only a voice or a crowd over them?

Two clips may share a narration or a crowd over different music; their peaks then agree in phase as
those of a shared song would. Speech and crowds glide while music holds its tones, so steady peaks
separate the cases: for a shared song they agree at least as often as fleeting peaks, for a shared
voice over other music hardly ever. A sung voice holds its tones too, but not all over the spectrum:
where two songs share only that, steady peaks of another band do not agree. And whatever is mixed
over a song hides tones of it or adds some, but two songs each have tones that the other lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching.kernels import foreign_peaks, matching_peaks, steady_peaks
from pipelines.audio.matching.peak_agreement import TOLERANCE_HZ, PeakMatch

_NEXT_FRAMES = 3  # closer peaks would be the same peak
_SECOND_FRAMES = round(1 / FINE_HOP_S)
_MIN_REPEATS = 2  # two more within a second: a held or repeated tone, hardly ever chance
_PRIOR_COUNT = 8.0
"""Pseudo-count of peaks with the average hit rate, so that a few steady peaks do not decide."""
_BANDS_HZ = np.array([520.0, 1040.0, 2080.0], dtype=np.float32)
"""Where bands of an octave or more end: bass and chords, melody, its overtones, the rest."""
_FEWEST_STEADY = 20
"""Steady peaks that a band, or a sound, needs in both sounds to be held against them."""
_NEAR_FRAMES = round(0.5 / FINE_HOP_S)
"""Reverberation and short windows move peaks of a tone, but not by more than this."""
_LEAST_UNSHARED = 0.4
"""Where nearly all peaks agree, a few others say nothing."""


@dataclass(frozen=True, slots=True)
class ToneAgreement:
    """How steady peaks agree, which are tones of music.

    Attributes:
        balance: How often they agree relative to fleeting ones, the larger of both sounds. About 1
            or more for the same recording, whatever is mixed over it, and for a shared voice that
            is alone in one of the sounds; 0 to 0.7 if both sounds have different tones.
        conflict: How much less often they agree in one band than in another, 0 to 1, times the
            share of steady peaks there. At most 0.41 for the same recording; up to 0.72 where two
            songs share one part of several. A voice that hides the tones of a band is no conflict:
            most of its peaks are fleeting.
        foreign: The share of steady peaks whose tone the other sound does not have nearby, the
            smaller of both sounds, relative to the share of peaks that do not agree, 0 to 2.5.
            Hardly ever above 0.45 for the same recording; up to 1 for other music under a crowd.
    """

    balance: float
    conflict: float
    foreign: float


@dataclass(frozen=True, slots=True)
class _Side:
    """The peaks of one sound (n,): their columns of half a second, their bands, which are steady,
    which agree with the other's, and which have a tone that the other sound lacks.
    """

    columns: NDArray[np.signedinteger]
    bands: NDArray[np.int64]
    is_steady: NDArray[np.bool_]
    is_hit: NDArray[np.bool_]
    is_foreign: NDArray[np.bool_]


def tone_agreement(match: PeakMatch) -> ToneAgreement:
    """Return how the steady peaks of both sounds agree where they overlap."""
    candidate, lag = match.candidate, match.lag
    if len(candidate.frames) == 0:
        return ToneAgreement(balance=1.0, conflict=0.0, foreign=0.0)
    first, last = candidate.frames[0], candidate.frames[-1]
    inside = slice(*np.searchsorted(match.reference.frames, (first + lag, last + lag + 1)))
    reference = Peaks(
        match.reference.frames[inside],
        match.reference.hertz[inside],
        match.reference.phases[inside],
    )
    pairs = matching_peaks(
        reference.frames, reference.hertz, candidate.frames, candidate.hertz, lag, TOLERANCE_HZ
    )
    of_reference = _side(reference, candidate, -lag, first + lag, pairs[:, 0])
    of_candidate = _side(candidate, reference, lag, first, pairs[:, 1])
    return ToneAgreement(
        balance=max(_balance(of_reference), _balance(of_candidate)),
        conflict=_conflict((of_reference, of_candidate)),
        foreign=_foreign((of_reference, of_candidate), share=match.share),
    )


def _side(peaks: Peaks, other: Peaks, lag: int, start: int, hits: NDArray[np.int64]) -> _Side:
    """Describe the peaks of one sound.

    Args:
        peaks: The peaks.
        other: Those of the other sound.
        lag: Time of the other sound minus time of this one, in fine frames.
        start: Fine frame at which the first column begins.
        hits: Indices of the peaks that agree.
    """
    is_hit = np.zeros(len(peaks.frames), dtype=np.bool_)
    is_hit[hits] = True
    return _Side(
        columns=(peaks.frames - start) // _NEAR_FRAMES,
        bands=np.searchsorted(_BANDS_HZ, peaks.hertz),
        is_steady=steady_peaks(
            peaks.frames, peaks.hertz, _NEXT_FRAMES, _SECOND_FRAMES, TOLERANCE_HZ, _MIN_REPEATS
        ),
        is_hit=is_hit,
        is_foreign=foreign_peaks(
            peaks.frames, peaks.hertz, other.frames, other.hertz, lag, _NEAR_FRAMES, TOLERANCE_HZ
        ),
    )


def _balance(side: _Side) -> float:
    """Return the hit rate of steady peaks divided by that of fleeting peaks."""
    is_steady, is_hit = side.is_steady, side.is_hit
    if not is_hit.any():
        return 1.0
    prior = _PRIOR_COUNT * float(is_hit.mean())
    steady = (np.count_nonzero(is_hit & is_steady) + prior) / (is_steady.sum() + _PRIOR_COUNT)
    fleeting = (np.count_nonzero(is_hit & ~is_steady) + prior) / ((~is_steady).sum() + _PRIOR_COUNT)
    return float(steady / fleeting)


def _conflict(sides: Sequence[_Side]) -> float:
    """Return the largest (1 - r / max r) s over all bands.

    r is the share of a band's steady peaks that agree, the larger of both sounds; s the share of
    steady ones among its peaks, the smaller of both.
    """
    all_peaks = np.array([_by_band(side.bands) for side in sides])
    steady = np.array([_by_band(side.bands[side.is_steady]) for side in sides])
    hits = np.array([_by_band(side.bands[side.is_steady & side.is_hit]) for side in sides])
    usual = hits.sum(axis=1, keepdims=True) / np.maximum(1, steady.sum(axis=1, keepdims=True))
    rates = np.max((hits + _PRIOR_COUNT * usual) / (steady + _PRIOR_COUNT), axis=0)
    if rates.max() == 0.0:
        return 0.0
    shares = np.min(steady / np.maximum(1, all_peaks), axis=0)
    shares[steady.min(axis=0) < _FEWEST_STEADY] = 0.0
    return float(np.max((1 - rates / rates.max()) * shares))


def _foreign(sides: tuple[_Side, _Side], *, share: float) -> float:
    """Return the share of foreign tones, the smaller of both sounds, by that of unshared peaks."""
    # Only columns with at least half the usual share of agreeing peaks count: beside them another
    # recording may begin, whose tones prove nothing about this one.
    candidate = sides[1]
    peaks = np.bincount(candidate.columns)
    hits = np.bincount(candidate.columns[candidate.is_hit], minlength=len(peaks))
    is_agreeing = (2 * hits * peaks.sum() >= hits.sum() * peaks) & (hits > 0)
    shares = []
    for side in sides:
        is_steady = side.is_steady & is_agreeing[side.columns]
        steady = np.count_nonzero(is_steady)
        foreign = np.count_nonzero(is_steady & side.is_foreign)
        shares.append(float(foreign / steady) if steady >= _FEWEST_STEADY else 0.0)
    return min(shares) / max(_LEAST_UNSHARED, 1.0 - share)


def _by_band(bands: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(bands, minlength=len(_BANDS_HZ) + 1)
