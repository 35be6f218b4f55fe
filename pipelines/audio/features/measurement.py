"""Extract features from samples in one pass of shared transforms: chroma, mel bands and peaks.

Runs in a decoder process. From top to bottom: the features, the peaks, short-time spectra, and
halving the sample rate of a sound whose upper octave no feature uses. All but the last is done in
blocks that fit into the CPU cache: new memory for a whole sound costs more than its arithmetic.
Not here: files, centring, comparison.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.fft import rfft

from pipelines.audio.features import sound_features

Spectrum = NDArray[np.float32]
ComplexSpectrum = NDArray[np.complex64]

_LEVEL = np.float32(0.1)  # sounds are normalized to this RMS, so loudness has no influence
_COMPRESSION = np.float32(10.0)
_CHROMA_BACKGROUND_BINS = 51
_DYNAMIC_DB = np.float32(60.0)

PEAKS_PER_S = 40
_LEAST_PROMINENCE = 0.7
_PEAK_BACKGROUND_BINS = 61
_REACH_BINS = 4
_REACH_FRAMES = 2  # 46 ms
_FRAMES_PER_SECOND = round(1 / sound_features.FINE_HOP_S)

_FRAMES_AT_ONCE = 64  # at most 2 MB, in the CPU cache; even: blocks begin with a feature frame
_TAPS = 31
_KAISER_BETA = 6.5
_HALVED_AT_ONCE = 64


def measure_features(samples: NDArray[np.float32], rate: int) -> sound_features.Features:
    """Extract the features of one sound.

    Args:
        samples: Mono samples (n,) without DC offset, not silent.
        rate: Sample rate in Hz.
    """
    frames = sound_features.frame_count(len(samples), rate)
    level = np.sqrt(np.vdot(samples, samples) / np.float32(len(samples)))
    while rate >= sound_features.HALVED_FROM_HZ and rate % 2 == 0:
        samples, rate = halved(samples), rate // 2
    grid = sound_features.geometry(rate)
    banks = sound_features.filter_banks(rate)
    samples = samples * (_LEVEL / level)

    # Chroma is whitened: only what rises above the neighbouring bins counts, so that equalizers
    # and noise change it little.
    chroma = []
    for block in _long_spectra(samples, grid, frames):
        loudness = _loudness(np.abs(block.spectra))
        background = _mean_over_bins(loudness, _CHROMA_BACKGROUND_BINS)
        chroma.append(np.maximum(np.float32(0), loudness - background) @ banks.chroma.T)

    # Mel energies every second frame, floored below the loudest one.
    energies, maxima = [], []
    for block in _short_spectra(samples, grid, frames):
        magnitudes = np.abs(block.spectra)
        energies.append(np.square(magnitudes[block.inside][::2]) @ banks.mel.T)
        maxima.append(_local_maxima(_loudness(magnitudes), block, grid))
    mel_db = np.float32(10) * np.log10(np.maximum(np.concatenate(energies), np.float32(1e-10)))
    mel_db = np.maximum(mel_db, mel_db.max() - _DYNAMIC_DB)

    return sound_features.Features(
        np.concatenate(chroma).astype(np.float16),
        mel_db.astype(np.float16),
        _strongest(maxima, grid),
    )


def _loudness(magnitudes: Spectrum) -> Spectrum:
    loudness: Spectrum = np.log(np.float32(1) + _COMPRESSION * magnitudes)
    return loudness


@dataclass(frozen=True, slots=True, eq=False)
class _Maxima:
    """Local maxima of the short transform in time order.

    Attributes:
        frames: Number of the fine frame, (n,).
        bins: Number of the bin, (n,).
        prominence: How far they rise above the neighbouring bins, (n,).
        loudness: Log magnitudes of the bin below, the bin and the bin above, (3, n).
        spectrum: The transform at the bin, (n,).
    """

    frames: NDArray[np.intp]
    bins: NDArray[np.intp]
    prominence: Spectrum
    loudness: Spectrum
    spectrum: ComplexSpectrum


def _local_maxima(loudness: Spectrum, block: "_Block", grid: sound_features.Geometry) -> _Maxima:
    """Return the local maxima inside a block of the short transform.

    Args:
        loudness: Log magnitudes (frames of the block, bins).
        block: The transform itself.
        grid: Transform sizes of the sound.
    """
    bottom_hz, top_hz = sound_features.PEAK_BAND_HZ
    first = int(bottom_hz / grid.bin_hz)
    last = min(int(top_hz / grid.bin_hz), loudness.shape[1] - 2)
    # The moving mean of a bin needs half its width on either side, no more.
    near = loudness[:, : last + 1 + _PEAK_BACKGROUND_BINS // 2]
    band = slice(first, last + 1)
    padded = np.full(
        (len(loudness) + 2 * _REACH_FRAMES, last + 1 - first + 2 * _REACH_BINS),
        -np.inf,
        dtype=np.float32,
    )
    prominence = padded[_REACH_FRAMES:-_REACH_FRAMES, _REACH_BINS:-_REACH_BINS]
    background = _mean_over_bins(near, _PEAK_BACKGROUND_BINS)
    np.subtract(near[:, band], background[:, band], out=prominence)

    # A peak is the largest value within reach in both directions.
    largest = _moving_maximum(padded, 2 * _REACH_BINS + 1)
    largest = _moving_maximum(largest.T, 2 * _REACH_FRAMES + 1).T
    is_peak = (prominence > _LEAST_PROMINENCE) & (prominence >= largest)
    rows, bins = np.nonzero(is_peak[block.inside])
    rows += block.inside.start
    heights = prominence[rows, bins]
    bins += first
    return _Maxima(
        frames=block.first_frame + rows,
        bins=bins,
        prominence=heights,
        loudness=np.stack([loudness[rows, bins + shift] for shift in (-1, 0, 1)]),
        spectrum=block.spectra[rows, bins],
    )


def _strongest(blocks: Sequence[_Maxima], grid: sound_features.Geometry) -> sound_features.Peaks:
    """Return the most prominent maxima of each second as peaks, in time order."""
    frames, bins, prominence, loudness, spectrum = (
        np.concatenate([getattr(block, field.name) for block in blocks], axis=-1)
        for field in fields(_Maxima)
    )
    second = frames // _FRAMES_PER_SECOND
    order = np.lexsort((-prominence, second))
    starts = np.searchsorted(second[order], second[order], side="left")
    kept = np.sort(order[np.arange(len(order)) - starts < PEAKS_PER_S])
    bins = bins[kept]

    # A parabola through three log magnitudes has its vertex between two bins.
    below, middle, above = loudness[:, kept]
    bend = np.minimum(below - 2 * middle + above, np.float32(-1e-6))
    offset = (np.float32(0.5) * (below - above) / bend).clip(-0.5, 0.5)
    hertz = ((bins + offset) * grid.bin_hz).astype(np.float32)

    # Phases are relative to the window centre, where all bins of a peak share one phase. They pass
    # int64, which wraps to a byte; a float out of a byte's range has no defined result.
    turns = np.angle(spectrum[kept]) / (2 * np.pi) + 0.5 * (bins % 2)
    phases = np.rint(256 * turns).astype(np.int64).astype(np.uint8)
    return sound_features.Peaks(frames[kept].astype(np.int32), hertz, phases)


def _moving_maximum(values: Spectrum, width: int) -> Spectrum:
    """Return the maximum of `width` neighbours along the last axis, shortened by `width` - 1.

    The reach doubles with each pass: four passes instead of eight for nine neighbours.
    """
    reach = 1
    while reach < width:
        step = min(reach, width - reach)
        values = np.maximum(values[:, :-step], values[:, step:])
        reach += step
    return values


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some frames of a short-time transform.

    Attributes:
        spectra: Complex spectra (frames, bins), with some frames of the blocks before and after.
        first_frame: Number of the first row in the whole sound.
        inside: Rows that no other block has.
    """

    spectra: ComplexSpectrum
    first_frame: int
    inside: slice


def _long_spectra(
    samples: Spectrum, grid: sound_features.Geometry, frames: int
) -> Iterator[_Block]:
    """Yield spectra up to 5 kHz of 186 ms windows every 46.4 ms."""
    centres = _centres(frames, sound_features.HOP_S * grid.rate)
    nominal_size = sound_features.LONG_WINDOW_S * sound_features.REFERENCE_HZ
    return _transformed(samples, centres, grid.long_size, nominal_size, grid.long_bins)


def _short_spectra(
    samples: Spectrum, grid: sound_features.Geometry, frames: int
) -> Iterator[_Block]:
    """Yield spectra up to 8 kHz of 93 ms windows every 23.2 ms."""
    centres = _centres(2 * frames, sound_features.FINE_HOP_S * grid.rate)
    nominal_size = sound_features.SHORT_WINDOW_S * sound_features.REFERENCE_HZ
    return _transformed(
        samples, centres, grid.short_size, nominal_size, grid.short_bins, shared=_REACH_FRAMES
    )


def _mean_over_bins(values: Spectrum, width: int) -> Spectrum:
    """Return the moving mean over bins (last axis); the window is truncated at both ends."""
    count, half = values.shape[-1], width // 2
    # Sums before each place, and as far beyond either end as a window reaches.
    sums = np.empty((*values.shape[:-1], count + 2 * half + 1), dtype=np.float32)
    sums[..., : half + 1] = 0
    np.cumsum(values, axis=-1, out=sums[..., half + 1 : half + 1 + count])
    sums[..., half + 1 + count :] = sums[..., half + count, None]
    means: Spectrum = sums[..., 2 * half + 1 :] - sums[..., :count]
    places = np.arange(count)
    inside = np.minimum(places + half + 1, count) - np.maximum(places - half, 0)
    means /= inside.astype(np.float32)
    return means


def _centres(frames: int, hop: float) -> NDArray[np.int64]:
    """Return the centre sample of each frame, rounded because hops may be fractional."""
    return np.rint(np.arange(frames) * hop).astype(np.int64)


def _transformed(
    samples: Spectrum,
    centres: NDArray[np.int64],
    size: int,
    nominal_size: float,
    bins: int,
    *,
    shared: int = 0,
) -> Iterator[_Block]:
    """Yield windowed FFTs scaled to the nominal size, so that levels agree between rates.

    Blocks have up to `shared` frames of each neighbour.
    """
    after = max(0, int(centres[-1]) + size - len(samples))
    padded = np.pad(samples, (size // 2, after))
    window = _hann(size) * np.float32(nominal_size / size)
    windowed = np.empty((_FRAMES_AT_ONCE + 2 * shared, size), dtype=np.float32)
    for start in range(0, len(centres), _FRAMES_AT_ONCE):
        first = max(0, start - shared)
        places = centres[first : start + _FRAMES_AT_ONCE + shared].tolist()
        for row, place in enumerate(places):
            np.multiply(padded[place : place + size], window, out=windowed[row])
        yield _Block(
            rfft(windowed[: len(places)])[:, :bins],
            first,
            slice(start - first, start - first + _FRAMES_AT_ONCE),
        )


@lru_cache(maxsize=32)
def _hann(size: int) -> Spectrum:
    phases = 2 * np.pi * np.arange(size) / size
    return (0.5 - 0.5 * np.cos(phases)).astype(np.float32)


def halved(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the low-passed sound at half its rate, ((n + 1) // 2,).

    The filter is a half-band low-pass by the window method: sin(pi k / 2) / (pi k) under a Kaiser
    window, so every second coefficient but the middle one is 0 (Crochiere and Rabiner, Multirate
    Digital Signal Processing, 1983, section 4.5). Up to 8 kHz of 44.1 kHz it changes levels by less
    than 0.01 dB; what would fold to below 8 kHz is 65 dB weaker.
    """
    # The coefficients of the odd samples around an even one.
    away = np.arange(1, _TAPS // 2 + 1, 2)
    window = np.kaiser(_TAPS, _KAISER_BETA)[_TAPS // 2 + away]
    after = np.asarray(np.sin(np.pi * away / 2) / (np.pi * away) * window, dtype=np.float32)
    weights = np.concatenate((after[::-1], after))

    # Row k of the matrix holds the weights of odd sample k for each of the samples made at once.
    size, count = _HALVED_AT_ONCE, (len(samples) + 1) // 2
    matrix = np.ascontiguousarray(sliding_window_view(np.pad(weights, size - 1), size)[:, ::-1])
    rows = -(-count // size)
    odd = np.zeros(rows * size + len(weights) - 1, dtype=np.float32)
    odd[len(after) : len(after) + len(samples) // 2] = samples[1::2]
    windows = sliding_window_view(odd, len(matrix))[::size]
    result = np.empty((rows, size), dtype=np.float32)
    for first in range(0, rows, size):
        block = slice(first, first + size)
        np.matmul(np.ascontiguousarray(windows[block]), matrix, out=result[block])
    half = result.ravel()[:count]
    half += np.float32(0.5) * samples[::2]
    return half
