"""Tone agreement: do the musical tones agree, or only a voice or a crowd over them?

Two clips may share a narration or a crowd over different music; their peaks then agree in phase as
those of a shared song would. Speech and crowds glide while music holds its tones, so steady peaks
separate the cases: for a shared song they agree at least as often as fleeting peaks, for a shared
voice over other music hardly ever.
"""

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


def tonal_balance(match: PeakMatch) -> float:
    """Return how often steady peaks agree relative to fleeting ones, the larger of both sounds.

    About 1 or more for the same recording, whatever is mixed over it, and for a shared voice that
    is alone in one of the sounds; 0 to 0.7 if both sounds have different tones.
    """
    heard = match.candidate
    if len(heard.frames) == 0:
        return 1.0
    reference = _between(match.reference, heard.frames[0] + match.lag, heard.frames[-1] + match.lag)
    pairs = matching_peaks(
        reference.frames, reference.hertz, heard.frames, heard.hertz, match.lag, TOLERANCE_HZ
    )
    return max(
        _balance(_steady(heard), _hits(len(heard.frames), pairs[:, 1])),
        _balance(_steady(reference), _hits(len(reference.frames), pairs[:, 0])),
    )


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


def _steady(peaks: Peaks) -> NDArray[np.bool_]:
    return steady_peaks(
        peaks.frames, peaks.hertz, _NEXT_FRAMES, _SECOND_FRAMES, TOLERANCE_HZ, _MIN_REPEATS
    )


def _hits(count: int, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    is_hit = np.zeros(count, dtype=np.bool_)
    is_hit[places] = True
    return is_hit
