"""Peak agreement: do the spectral peaks of both sounds fall on the same places?

Chroma and MFCC chose the alignment; the peaks took no part in that, so they may judge it. Covers
share notes but not the exact frequencies and moments of a recording.
"""

import numpy as np

from pipelines.audio.geometry import FINE_HOP_S
from pipelines.audio.kernels import lag_histogram
from pipelines.audio.peaks import Peaks

TOLERANCE_HZ = 0.35 * 22_050 / 2048
_SEARCH = round(0.25 / FINE_HOP_S)
_BACKGROUND = range(_SEARCH + 1, round(0.75 / FINE_HOP_S) + 1)
_REACH = _SEARCH + _BACKGROUND[-1] + 1
_LEAST_ROOM = 0.5  # a steady tone agrees with itself at every lag: that is no agreement


def peak_agreement(
    reference: Peaks, candidate: Peaks, *, lag: int, first_frame: int, last_frame: int
) -> float:
    """Share of candidate peaks that the reference has too, beyond what chance would give.

    The share of hits h at the best lag within 0.25 s is corrected by the mean share b at lags 0.25
    to 0.75 s away: (h - b) / (1 - b), which is 1 for identical sounds and about 0 for others.

    Args:
        reference: Peaks of the reference.
        candidate: Peaks of the candidate.
        lag: Reference minus candidate time in fine frames, from the alignment.
        first_frame: First fine frame of the compared block in the candidate.
        last_frame: The fine frame behind its last one.

    Returns:
        The agreement in -1..1, 0 when there is nothing to compare.
    """
    inside = slice(*np.searchsorted(candidate.frames, (first_frame, last_frame)))
    count = len(candidate.frames[inside])
    if count == 0 or len(reference.frames) == 0:
        return 0.0
    counts = lag_histogram(
        reference.frames,
        reference.hertz,
        candidate.frames[inside],
        candidate.hertz[inside],
        lag,
        _REACH,
        TOLERANCE_HZ,
    )
    # a peak may fall to the frame before or after, so three neighbouring lags count together
    shares = np.minimum(1.0, np.convolve(counts, np.ones(3), mode="same") / count)
    best = _REACH - _SEARCH + int(np.argmax(shares[_REACH - _SEARCH : _REACH + _SEARCH + 1]))
    away = np.asarray(_BACKGROUND)
    chance = float(np.mean(shares[np.concatenate((best - away, best + away))]))
    return float((shares[best] - chance) / max(1.0 - chance, _LEAST_ROOM))
