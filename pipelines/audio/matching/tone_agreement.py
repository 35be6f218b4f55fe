"""Tone agreement: do the musical tones agree, or only a voice or a crowd over them?

Two clips may share a narration or a crowd over different music; their peaks then agree in phase as
those of a shared song would. Speech and crowds glide while music holds its tones, so steady peaks
separate the cases: for a shared song they agree at least as often as fleeting peaks, for a shared
voice over other music hardly ever. A sung voice holds its tones too, but not all over the spectrum:
where two songs share only that, steady peaks of another band do not agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.matching.kernels import matching_peaks, steady_peaks
from pipelines.audio.matching.peak_agreement import TOLERANCE_HZ, PeakMatch

_NEXT_FRAMES = 3  # closer peaks would be the same peak
_SECOND_FRAMES = round(1 / FINE_HOP_S)
_MIN_REPEATS = 2  # two more within a second: a held or repeated tone, hardly ever chance
_PRIOR_COUNT = 8.0
"""Pseudo-count of peaks with the average hit rate, so that a few steady peaks do not decide."""
_BANDS_HZ = np.array([520.0, 1040.0, 2080.0], dtype=np.float32)
"""Where bands of an octave or more end: bass and chords, melody, its overtones, the rest."""
_FEWEST_STEADY = 20
"""Steady peaks that a band needs in both sounds to be held against them."""


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
    """

    balance: float
    conflict: float


def tone_agreement(match: PeakMatch) -> ToneAgreement:
    """Return how the steady peaks of both sounds agree where they overlap."""
    heard = match.candidate
    if len(heard.frames) == 0:
        return ToneAgreement(balance=1.0, conflict=0.0)
    reference = _between(match.reference, heard.frames[0] + match.lag, heard.frames[-1] + match.lag)
    pairs = matching_peaks(
        reference.frames, reference.hertz, heard.frames, heard.hertz, match.lag, TOLERANCE_HZ
    )
    sides = [
        _Side(
            np.searchsorted(_BANDS_HZ, peaks.hertz),
            _steady(peaks),
            _hits(len(peaks.frames), places),
        )
        for peaks, places in ((reference, pairs[:, 0]), (heard, pairs[:, 1]))
    ]
    balance = max(_balance(side.is_steady, side.is_hit) for side in sides)
    return ToneAgreement(balance=balance, conflict=_conflict(sides))


@dataclass(frozen=True, slots=True)
class _Side:
    """The peaks of one sound (n,): their bands, which are steady, which agree with the other's."""

    bands: NDArray[np.int64]
    is_steady: NDArray[np.bool_]
    is_hit: NDArray[np.bool_]


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


def _by_band(bands: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(bands, minlength=len(_BANDS_HZ) + 1)


def _steady(peaks: Peaks) -> NDArray[np.bool_]:
    return steady_peaks(
        peaks.frames, peaks.hertz, _NEXT_FRAMES, _SECOND_FRAMES, TOLERANCE_HZ, _MIN_REPEATS
    )


def _hits(count: int, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    is_hit = np.zeros(count, dtype=np.bool_)
    is_hit[places] = True
    return is_hit
