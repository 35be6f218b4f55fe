"""Pick the spectral peaks of one sound from its transform. Not here: comparing peaks."""

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FINE_HOP_S, Geometry
from pipelines.audio.features.peaks import Peaks
from pipelines.audio.features.spectra import moving_mean

PEAKS_PER_S = 40
_BOTTOM_HZ = 215.0
_TOP_HZ = 4_500.0
_LEAST_PROMINENCE = 0.7
_BACKGROUND_BINS = 61
_REACH_BINS = 4
_REACH_FRAMES = 2  # 46 ms
_FRAMES_PER_BLOCK = round(1 / FINE_HOP_S)


def pick_peaks(
    loudness: NDArray[np.float32], spectra: NDArray[np.complex64], grid: Geometry
) -> Peaks:
    """Return the strongest local maxima, at most 40 per second.

    Args:
        loudness: Log magnitudes (fine frames, bins) of the short transform.
        spectra: The transform itself, same shape.
        grid: Transform sizes of the sound.
    """
    bin_hz = grid.rate / grid.short_size
    first = int(_BOTTOM_HZ / bin_hz)
    last = min(int(_TOP_HZ / bin_hz), loudness.shape[1] - 2)
    # the moving mean of a bin needs half its width on either side, no more
    near = loudness[:, : last + 1 + _BACKGROUND_BINS // 2]
    prominence = (near - moving_mean(near, _BACKGROUND_BINS))[:, first : last + 1]
    is_peak = (prominence > _LEAST_PROMINENCE) & (prominence >= _neighbourhood(prominence))
    frames, bins = np.nonzero(is_peak)
    kept = _strongest(frames, prominence[frames, bins])
    frames, bins = frames[kept], bins[kept] + first
    offset = _vertex(loudness, frames, bins)
    hertz = ((bins + offset) * bin_hz).astype(np.float32)
    return Peaks(frames.astype(np.int32), hertz, _phases(spectra[frames, bins], bins))


def _neighbourhood(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the maximum within reach of each cell."""
    padded = np.pad(
        values,
        ((_REACH_FRAMES, _REACH_FRAMES), (_REACH_BINS, _REACH_BINS)),
        constant_values=np.float32(-np.inf),
    )
    return _largest(_largest(padded, 2 * _REACH_BINS + 1).T, 2 * _REACH_FRAMES + 1).T


def _largest(values: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Return the maximum of `width` neighbours along the last axis, shortened by `width` - 1.

    The reach doubles with each pass: three passes instead of eight for nine neighbours.
    """
    reach = 1
    while reach < width:
        step = min(reach, width - reach)
        values = np.maximum(values[:, :-step], values[:, step:])
        reach += step
    return values


def _strongest(frames: NDArray[np.int64], strength: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the indices of the 40 strongest peaks of each second, in time order."""
    block = frames // _FRAMES_PER_BLOCK
    order = np.lexsort((-strength, block))
    starts = np.searchsorted(block[order], block[order], side="left")
    rank = np.arange(len(order)) - starts
    return np.sort(order[rank < PEAKS_PER_S])


def _phases(values: NDArray[np.complex64], bins: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return phases relative to the window centre, where all bins of a peak share one phase."""
    turns = np.angle(values) / (2 * np.pi) + 0.5 * (bins % 2)
    # Through int64, which wraps to a byte; a float out of a byte's range has no defined result.
    return np.rint(256 * turns).astype(np.int64).astype(np.uint8)


def _vertex(
    loudness: NDArray[np.float32], frames: NDArray[np.int64], bins: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the sub-bin offset of each peak by parabolic interpolation of log magnitudes."""
    left, middle, right = (loudness[frames, bins + shift] for shift in (-1, 0, 1))
    bend = np.minimum(left - 2 * middle + right, np.float32(-1e-6))
    top: NDArray[np.float32] = np.float32(0.5) * (left - right) / bend
    return top.clip(-0.5, 0.5)
