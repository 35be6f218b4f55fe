"""Extract features from samples in one pass of shared transforms: chroma, mel bands and peaks.

Runs in a decoder process. Not here: files, centring, comparison.
"""

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.filter_banks import filter_banks
from pipelines.audio.features.grid import (
    FINE_HOP_S,
    HALVED_FROM_HZ,
    Geometry,
    frame_count,
    geometry,
)
from pipelines.audio.features.sound_features import Features, Peaks
from pipelines.audio.features.spectra import halved, long_spectra, moving_mean, short_spectra

_LEVEL = np.float32(0.1)  # sounds are normalized to this RMS, so loudness has no influence
_COMPRESSION = np.float32(10.0)
_CHROMA_BACKGROUND_BINS = 51
_DYNAMIC_DB = np.float32(60.0)
PEAKS_PER_S = 40
_BOTTOM_HZ = 215.0
_TOP_HZ = 4_500.0
_LEAST_PROMINENCE = 0.7
_PEAK_BACKGROUND_BINS = 61
_REACH_BINS = 4
_REACH_FRAMES = 2  # 46 ms
_FRAMES_PER_BLOCK = round(1 / FINE_HOP_S)


def measure_features(samples: NDArray[np.float32], rate: int) -> Features:
    """Extract the features of one sound.

    Args:
        samples: Mono samples (n,) without DC offset, not silent.
        rate: Sample rate in Hz.
    """
    frames = frame_count(len(samples), rate)
    level = np.sqrt(np.mean(np.square(samples), dtype=np.float64))
    while rate >= HALVED_FROM_HZ and rate % 2 == 0:
        samples, rate = halved(samples), rate // 2
    grid = geometry(rate)
    banks = filter_banks(rate)
    samples = samples * (_LEVEL / np.float32(level))
    long = long_spectra(samples, grid, frames)
    chroma = np.concatenate([_chroma(block, banks.chroma) for block in long])
    spectra = short_spectra(samples, grid, frames)
    short = np.abs(spectra)
    mel_db = _mel_db(short[::2], banks.mel)
    peaks = pick_peaks(_loudness(short), spectra, grid)
    return Features(chroma.astype(np.float16), mel_db.astype(np.float16), peaks)


def _loudness(magnitudes: NDArray[np.float32]) -> NDArray[np.float32]:
    loudness: NDArray[np.float32] = np.log(np.float32(1) + _COMPRESSION * magnitudes)
    return loudness


def _chroma(magnitudes: NDArray[np.float32], bank: NDArray[np.float32]) -> NDArray[np.float32]:
    loudness = _loudness(magnitudes)
    whitened = np.maximum(np.float32(0), loudness - moving_mean(loudness, _CHROMA_BACKGROUND_BINS))
    chroma: NDArray[np.float32] = whitened @ bank.T
    return chroma


def _mel_db(magnitudes: NDArray[np.float32], bank: NDArray[np.float32]) -> NDArray[np.float32]:
    energies = np.square(magnitudes) @ bank.T
    decibels = np.float32(10) * np.log10(np.maximum(energies, np.float32(1e-10)))
    floored: NDArray[np.float32] = np.maximum(decibels, decibels.max() - _DYNAMIC_DB)
    return floored


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
    near = loudness[:, : last + 1 + _PEAK_BACKGROUND_BINS // 2]
    prominence = (near - moving_mean(near, _PEAK_BACKGROUND_BINS))[:, first : last + 1]
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
