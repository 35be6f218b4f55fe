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


def tone_agreement(match: PeakMatch) -> ToneAgreement:
    """Return how the steady peaks of both sounds agree where they overlap."""
    heard = match.candidate
    if len(heard.frames) == 0:
        return ToneAgreement(balance=1.0, conflict=0.0, foreign=0.0)
    first, last = heard.frames[0], heard.frames[-1]
    reference = _between(match.reference, first + match.lag, last + match.lag)
    pairs = matching_peaks(
        reference.frames, reference.hertz, heard.frames, heard.hertz, match.lag, TOLERANCE_HZ
    )
    sides = [
        _Side(
            (peaks.frames - start) // _NEAR_FRAMES,
            np.searchsorted(_BANDS_HZ, peaks.hertz),
            _steady(peaks),
            _hits(len(peaks.frames), places),
            _foreign(peaks, other, lag),
        )
        for peaks, start, places, other, lag in (
            (reference, first + match.lag, pairs[:, 0], heard, -match.lag),
            (heard, first, pairs[:, 1], reference, match.lag),
        )
    ]  # fmt: skip
    balance = max(_balance(side.is_steady, side.is_hit) for side in sides)
    agreeing = _agreeing_columns(sides[1])
    unshared = max(_LEAST_UNSHARED, 1.0 - match.share)
    return ToneAgreement(
        balance=balance,
        conflict=_conflict(sides),
        foreign=min(_foreign_share(side, agreeing) for side in sides) / unshared,
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """The peaks of one sound (n,): their columns of half a second, their bands, which are steady,
    which agree with the other's, and which have a tone that the other sound lacks.
    """

    columns: NDArray[np.int64]
    bands: NDArray[np.int64]
    is_steady: NDArray[np.bool_]
    is_hit: NDArray[np.bool_]
    is_foreign: NDArray[np.bool_]


def _between(peaks: Peaks, first: int, last: int) -> Peaks:
    inside = slice(*np.searchsorted(peaks.frames, (first, last + 1)))
    return Peaks(peaks.frames[inside], peaks.hertz[inside], peaks.phases[inside])


def _balance(is_steady: NDArray[np.bool_], is_hit: NDArray[np.bool_]) -> float:
    """Return the hit rate of steady peaks divided by that of fleeting peaks."""
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
    everything = np.array([_by_band(side.bands) for side in sides])
    steady = np.array([_by_band(side.bands[side.is_steady]) for side in sides])
    hits = np.array([_by_band(side.bands[side.is_steady & side.is_hit]) for side in sides])
    usual = hits.sum(axis=1, keepdims=True) / np.maximum(1, steady.sum(axis=1, keepdims=True))
    rates = np.max((hits + _PRIOR_COUNT * usual) / (steady + _PRIOR_COUNT), axis=0)
    if rates.max() == 0.0:
        return 0.0
    shares = np.min(steady / np.maximum(1, everything), axis=0)
    shares[steady.min(axis=0) < _FEWEST_STEADY] = 0.0
    return float(np.max((1 - rates / rates.max()) * shares))


def _agreeing_columns(side: _Side) -> NDArray[np.bool_]:
    """Return a mask (columns,) of those with at least half the usual share of agreeing peaks.

    Beside them another recording may begin, whose tones prove nothing about this one.
    """
    peaks = np.bincount(side.columns)
    hits = np.bincount(side.columns[side.is_hit], minlength=len(peaks))
    agreeing: NDArray[np.bool_] = 2 * hits * peaks.sum() >= hits.sum() * peaks
    return agreeing & (hits > 0)


def _foreign_share(side: _Side, agreeing: NDArray[np.bool_]) -> float:
    is_steady = side.is_steady & agreeing[side.columns]
    steady = np.count_nonzero(is_steady)
    if steady < _FEWEST_STEADY:
        return 0.0
    return float(np.count_nonzero(is_steady & side.is_foreign) / steady)


def _by_band(bands: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(bands, minlength=len(_BANDS_HZ) + 1)


def _steady(peaks: Peaks) -> NDArray[np.bool_]:
    return steady_peaks(
        peaks.frames, peaks.hertz, _NEXT_FRAMES, _SECOND_FRAMES, TOLERANCE_HZ, _MIN_REPEATS
    )


def _foreign(peaks: Peaks, other: Peaks, lag: int) -> NDArray[np.bool_]:
    return foreign_peaks(
        peaks.frames, peaks.hertz, other.frames, other.hertz, lag, _NEAR_FRAMES, TOLERANCE_HZ
    )


def _hits(count: int, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    is_hit = np.zeros(count, dtype=np.bool_)
    is_hit[places] = True
    return is_hit
