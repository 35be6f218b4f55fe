"""Extract features from samples in one pass of shared transforms: chroma, mel bands and peaks.

Runs in a decoder process. From top to bottom: the features, their short-time spectra in blocks that
fit into the CPU cache, and halving the sample rate of a sound whose upper octave no feature uses.
Not here: files, centring, comparison.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
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
_FRAMES_PER_BLOCK = round(1 / sound_features.FINE_HOP_S)

_FRAMES_AT_ONCE = 64  # 64 frames of 8192 float32 are 2 MB and fit into the CPU cache
_REFERENCE_RATE = 22_050.0
_TAPS = 31
_KAISER_BETA = 6.5
_HALVED_AT_ONCE = 1 << 13  # blocks and their intermediate results stay in the CPU cache


def measure_features(samples: NDArray[np.float32], rate: int) -> sound_features.Features:
    """Extract the features of one sound.

    Args:
        samples: Mono samples (n,) without DC offset, not silent.
        rate: Sample rate in Hz.
    """
    frames = sound_features.frame_count(len(samples), rate)
    level = np.sqrt(np.mean(np.square(samples), dtype=np.float64))
    while rate >= sound_features.HALVED_FROM_HZ and rate % 2 == 0:
        samples, rate = halved(samples), rate // 2
    grid = sound_features.geometry(rate)
    banks = sound_features.filter_banks(rate)
    samples = samples * (_LEVEL / np.float32(level))

    # Chroma is whitened: only what rises above the neighbouring bins counts, so that equalizers
    # and noise change it little.
    chroma = []
    for magnitudes in long_spectra(samples, grid, frames):
        loudness = _loudness(magnitudes)
        background = moving_mean(loudness, _CHROMA_BACKGROUND_BINS)
        chroma.append(np.maximum(np.float32(0), loudness - background) @ banks.chroma.T)

    # Mel energies every second frame, floored below the loudest one.
    spectra = short_spectra(samples, grid, frames)
    magnitudes = np.abs(spectra)
    energies = np.square(magnitudes[::2]) @ banks.mel.T
    mel_db = np.float32(10) * np.log10(np.maximum(energies, np.float32(1e-10)))
    mel_db = np.maximum(mel_db, mel_db.max() - _DYNAMIC_DB)

    peaks = pick_peaks(_loudness(magnitudes), spectra, grid)
    return sound_features.Features(
        np.concatenate(chroma).astype(np.float16), mel_db.astype(np.float16), peaks
    )


def _loudness(magnitudes: Spectrum) -> Spectrum:
    loudness: Spectrum = np.log(np.float32(1) + _COMPRESSION * magnitudes)
    return loudness


def pick_peaks(
    loudness: Spectrum, spectra: ComplexSpectrum, grid: sound_features.Geometry
) -> sound_features.Peaks:
    """Return the strongest local maxima, at most 40 per second.

    Args:
        loudness: Log magnitudes (fine frames, bins) of the short transform.
        spectra: The transform itself, same shape.
        grid: Transform sizes of the sound.
    """
    bin_hz = grid.rate / grid.short_size
    bottom_hz, top_hz = sound_features.PEAK_BAND_HZ
    first = int(bottom_hz / bin_hz)
    last = min(int(top_hz / bin_hz), loudness.shape[1] - 2)
    # The moving mean of a bin needs half its width on either side, no more.
    near = loudness[:, : last + 1 + _PEAK_BACKGROUND_BINS // 2]
    prominence = (near - moving_mean(near, _PEAK_BACKGROUND_BINS))[:, first : last + 1]

    # A peak is the largest value within reach in both directions.
    padded = np.pad(
        prominence,
        ((_REACH_FRAMES, _REACH_FRAMES), (_REACH_BINS, _REACH_BINS)),
        constant_values=np.float32(-np.inf),
    )
    largest = _moving_maximum(padded, 2 * _REACH_BINS + 1)
    largest = _moving_maximum(largest.T, 2 * _REACH_FRAMES + 1).T
    frames, bins = np.nonzero((prominence > _LEAST_PROMINENCE) & (prominence >= largest))

    # The strongest of each second are kept, in time order.
    block = frames // _FRAMES_PER_BLOCK
    order = np.lexsort((-prominence[frames, bins], block))
    starts = np.searchsorted(block[order], block[order], side="left")
    kept = np.sort(order[np.arange(len(order)) - starts < PEAKS_PER_S])
    frames, bins = frames[kept], bins[kept] + first

    # A parabola through three log magnitudes has its vertex between two bins.
    below, middle, above = (loudness[frames, bins + shift] for shift in (-1, 0, 1))
    bend = np.minimum(below - 2 * middle + above, np.float32(-1e-6))
    offset = (np.float32(0.5) * (below - above) / bend).clip(-0.5, 0.5)
    hertz = ((bins + offset) * bin_hz).astype(np.float32)

    # Phases are relative to the window centre, where all bins of a peak share one phase. They pass
    # int64, which wraps to a byte; a float out of a byte's range has no defined result.
    turns = np.angle(spectra[frames, bins]) / (2 * np.pi) + 0.5 * (bins % 2)
    phases = np.rint(256 * turns).astype(np.int64).astype(np.uint8)
    return sound_features.Peaks(frames.astype(np.int32), hertz, phases)


def _moving_maximum(values: Spectrum, width: int) -> Spectrum:
    """Return the maximum of `width` neighbours along the last axis, shortened by `width` - 1.

    The reach doubles with each pass: three passes instead of eight for nine neighbours.
    """
    reach = 1
    while reach < width:
        step = min(reach, width - reach)
        values = np.maximum(values[:, :-step], values[:, step:])
        reach += step
    return values


def long_spectra(
    samples: Spectrum, grid: sound_features.Geometry, frames: int
) -> Iterator[Spectrum]:
    """Yield magnitudes (some frames, bins up to 5 kHz) of 186 ms windows every 46.4 ms."""
    size, bins = grid.long_size, grid.long_bins
    centres = _centres(frames, sound_features.HOP_S * grid.rate)
    for block in _transformed(
        samples, centres, size, sound_features.LONG_WINDOW_S * _REFERENCE_RATE
    ):
        yield np.abs(block[:, :bins])


def short_spectra(samples: Spectrum, grid: sound_features.Geometry, frames: int) -> ComplexSpectrum:
    """Return complex spectra (2 frames, bins up to 8 kHz) of 93 ms windows every 23.2 ms."""
    size, bins = grid.short_size, grid.short_bins
    centres = _centres(2 * frames, sound_features.FINE_HOP_S * grid.rate)
    spectra = np.empty((len(centres), bins), dtype=np.complex64)
    first = 0
    for block in _transformed(
        samples, centres, size, sound_features.SHORT_WINDOW_S * _REFERENCE_RATE
    ):
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
    # Most windows are complete: slicing takes a third of the time of fancy indexing.
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
    # The coefficients at distances 1, 3, 5 ... from the middle.
    away = np.arange(1, _TAPS // 2 + 1, 2)
    window = np.kaiser(_TAPS, _KAISER_BETA)[_TAPS // 2 + away]
    ideal = np.sin(np.pi * away / 2) / (np.pi * away)
    weights = np.asarray(ideal * window, dtype=np.float32)
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
