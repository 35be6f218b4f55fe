"""Short-time spectra, computed in cache-sized blocks.

Holds framing, windows, transforms, moving averages and halving the sample rate of a sound whose
upper octave no feature uses. Not here: features derived from the spectra (`measurement.py`).
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
_TAPS = 31
_KAISER_BETA = 6.5
_HALVED_AT_ONCE = 1 << 13  # blocks and their intermediate results stay in the CPU cache


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


def halved(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return every second sample (n + 1) // 2 of the low-passed sound.

    The filter is a half-band low-pass by the window method: sin(pi k / 2) / (pi k) under a Kaiser
    window, so every second coefficient but the middle one is 0 (Crochiere and Rabiner, Multirate
    Digital Signal Processing, 1983, section 4.5). Up to 8 kHz of 44.1 kHz it changes levels by less
    than 0.01 dB; what would fold to below 8 kHz is 65 dB weaker.
    """
    weights = _half_band_weights()
    reach = len(weights)
    count = (len(samples) + 1) // 2
    padded = np.pad(samples, (2 * reach, 2 * reach + len(samples) % 2))
    even = np.ascontiguousarray(padded[2 * reach :: 2][:count])
    odd = np.ascontiguousarray(padded[1::2])
    result = np.multiply(even, np.float32(0.5), out=even)
    pair = np.empty(_HALVED_AT_ONCE, dtype=np.float32)
    for first in range(0, count, _HALVED_AT_ONCE):
        block = result[first : first + _HALVED_AT_ONCE]
        middle, size = first + reach, len(block)
        for step, weight in enumerate(weights):
            before, after = middle - 1 - step, middle + step
            both = np.add(odd[before : before + size], odd[after : after + size], out=pair[:size])
            block += np.multiply(both, weight, out=both)
    return result


def _half_band_weights() -> NDArray[np.float32]:
    """Return the coefficients at distances 1, 3, 5 ... from the middle."""
    away = np.arange(1, _TAPS // 2 + 1, 2)
    window = np.kaiser(_TAPS, _KAISER_BETA)[_TAPS // 2 + away]
    weights = np.sin(np.pi * away / 2) / (np.pi * away) * window
    return np.asarray(weights, dtype=np.float32)
