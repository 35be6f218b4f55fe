"""Short-time spectra, computed in cache-sized blocks.

Holds framing, windows, transforms and moving averages. Not here: features derived from the spectra
(`measurement.py`, `peak_picking.py`).
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft

from pipelines.audio.features.grid import FINE_HOP_S, HOP_S, LONG_WINDOW_S, SHORT_WINDOW_S, Geometry

Spectrum = NDArray[np.float32]
ComplexSpectrum = NDArray[np.complex64]
_FRAMES_AT_ONCE = 64  # 64 frames of 8192 float32 are 2 MB and fit into the CPU cache
_REFERENCE_RATE = 22_050.0


def long_spectra(samples: Spectrum, grid: Geometry, frames: int) -> Iterator[Spectrum]:
    """Yield magnitudes (some frames, bins up to 5 kHz) of 186 ms windows every 46.4 ms."""
    size, bins = grid.long_size, grid.long_bins
    centres = _centres(frames, HOP_S * grid.rate)
    for block in _transformed(samples, centres, size, LONG_WINDOW_S * _REFERENCE_RATE):
        yield np.abs(block[:, :bins])


def short_spectra(samples: Spectrum, grid: Geometry, frames: int) -> ComplexSpectrum:
    """Return complex spectra (2 frames, bins up to 8 kHz) of 93 ms windows every 23.2 ms."""
    size, bins = grid.short_size, grid.short_bins
    centres = _centres(2 * frames, FINE_HOP_S * grid.rate)
    spectra = np.empty((len(centres), bins), dtype=np.complex64)
    first = 0
    for block in _transformed(samples, centres, size, SHORT_WINDOW_S * _REFERENCE_RATE):
        spectra[first : first + len(block)] = block[:, :bins]
        first += len(block)
    return spectra


def moving_mean(values: Spectrum, width: int) -> Spectrum:
    """Return the moving mean over the last axis; the window is truncated at both ends."""
    count, half = values.shape[-1], width // 2
    sums = np.zeros((*values.shape[:-1], count + 1), dtype=np.float32)
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    places = np.arange(count)
    above = np.minimum(places + half + 1, count)
    below = np.maximum(places - half, 0)
    means: Spectrum = np.empty_like(values)
    # most windows are complete: slicing takes a third of the time of fancy indexing
    first, last = min(half, count), max(half, count - half)
    for edge in (slice(0, first), slice(max(first, count - half), count)):
        means[..., edge] = sums[..., above[edge]] - sums[..., below[edge]]
    if last > first:
        inside = means[..., first:last]
        np.subtract(sums[..., 2 * half + 1 :], sums[..., : last - first], out=inside)
    means /= (above - below).astype(np.float32)
    return means


def _centres(frames: int, hop: float) -> NDArray[np.int64]:
    """Return the centre sample of each frame, rounded because hops may be fractional."""
    return np.rint(np.arange(frames) * hop).astype(np.int64)


def _transformed(
    samples: Spectrum, centres: NDArray[np.int64], size: int, nominal_size: float
) -> Iterator[ComplexSpectrum]:
    """Yield windowed FFTs scaled to the nominal size, so that levels agree between rates."""
    after = max(0, int(centres[-1]) + size - len(samples))
    padded = np.pad(samples, (size // 2, after))
    window = _hann(size) * np.float32(nominal_size / size)
    windowed = np.empty((_FRAMES_AT_ONCE, size), dtype=np.float32)
    for first in range(0, len(centres), _FRAMES_AT_ONCE):
        places = centres[first : first + _FRAMES_AT_ONCE]
        for row, place in enumerate(places.tolist()):
            np.multiply(padded[place : place + size], window, out=windowed[row])
        yield rfft(windowed[: len(places)])


@lru_cache(maxsize=32)
def _hann(size: int) -> Spectrum:
    phases = 2 * np.pi * np.arange(size) / size
    return (0.5 - 0.5 * np.cos(phases)).astype(np.float32)
