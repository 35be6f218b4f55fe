"""Chroma spectra: the correlation of two sounds at every lag and rotation of the octave, by FFT.

Chroma is taken at 10.8 frames per second. Transforms are NumPy's, because importing `scipy.fft`
takes a fifth of a second. Not here: which tempos and rotations are tried
(`search.py`).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FRAMES_PER_S, next_smooth
from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.hypotheses import TEMPOS

_SHORTEST_S = 5.5
_SIZE_STEP = 128  # few distinct sizes, so that cached reference spectra are reused
_HARMONICS = 13  # of 19: chroma is smoothed over three of its 36 bins
_FINE_PER_COARSE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """2-D chroma spectrum over octave and time (harmonics, bins), and energy before each frame."""

    values: NDArray[np.complex64]
    energy: NDArray[np.float64]


def spectrum_size(reference: Features, candidate: Features) -> int:
    """Return the transform size for the correlation of both sounds at every tempo."""
    longest = max(reference.frames, candidate.frames) / 2
    return _SIZE_STEP * next_smooth(math.ceil(longest * (1 + 1 / TEMPOS[0]) / _SIZE_STEP))


def fine_lag(place: int, candidate: Features, tempo: float, size: int) -> int:
    """Convert a place in a correlation to reference minus undone candidate time in fine frames."""
    coarse_lag = place if place < size - candidate.frames // 2 else place - size
    return round(coarse_lag * tempo * _FINE_PER_COARSE)


def spectra_of(features: Features, tempo: float, size: int) -> Spectra:
    """Transform chroma played `tempo` times as fast over the octave and over `size` frames."""
    octave = _octave_of(features)
    last_frame = len(octave.energy) - 1
    count = max(1, int(len(octave.energy) / (2 * tempo)))
    places = np.minimum((2 * np.arange(count) + 0.5) * tempo, last_frame)
    below = places.astype(np.int64)
    above = np.minimum(below + 1, last_frame)
    part = places - below
    around = octave.values[:, below]
    around += part.astype(np.float32) * (octave.values[:, above] - around)
    energies = (
        (1 - part) ** 2 * octave.energy[below]
        + part**2 * octave.energy[above]
        + 2 * part * (1 - part) * octave.product[below]
    )
    values = np.fft.fft(around, size, axis=1).astype(np.complex64, copy=False)
    return Spectra(values, np.concatenate(([0.0], np.cumsum(energies))))


@dataclass(frozen=True, slots=True, eq=False)
class _Octave:
    """Centred chroma transformed over the octave (harmonics, frames); the energy of each frame, and
    its product with the next frame, which give the energy of what lies between them.
    """

    values: NDArray[np.complex64]
    energy: NDArray[np.float64]
    product: NDArray[np.float64]


@lru_cache(maxsize=8)
def _octave_of(features: Features) -> _Octave:
    """Return what all tempos of a sound are interpolated from: the transform is linear."""
    chroma = features.centred.chroma
    values = np.ascontiguousarray(np.fft.rfft(chroma, axis=1)[:, :_HARMONICS].T)
    wide = chroma.astype(np.float64)
    following = np.concatenate((wide[1:], wide[-1:]))
    return _Octave(values, np.square(wide).sum(axis=1), (wide * following).sum(axis=1))


@lru_cache(maxsize=4 * len(TEMPOS))
def stretched_spectra(reference: Features, tempo: float, size: int) -> Spectra:
    """Return cached spectra: many candidates are compared with the same few references."""
    return spectra_of(reference, tempo, size)


@lru_cache(maxsize=4)
def unchanged_spectra(candidate: Features, size: int) -> Spectra:
    """Return cached spectra of a candidate, conjugated: one search needs them with every tempo."""
    spectra = spectra_of(candidate, 1.0, size)
    return replace(spectra, values=spectra.values.conj())


def significance(
    reference: Spectra, candidate: Spectra, turned: tuple[float, ...], size: int
) -> NDArray[np.floating]:
    """Return correlation times the root of the overlap, shape (rotations, lags).

    The candidate's spectra are conjugated.
    """
    turns = _turns(turned)
    weight = _overlap_weight(reference, candidate, size)
    product = reference.values * candidate.values
    if len(turned) < _HARMONICS:
        return np.asarray(np.fft.ifft(turns @ product, axis=1).real * weight)
    lagged = np.fft.ifft(product[1:], axis=1)  # centred chroma has no mean
    rotated = np.concatenate((turns.real[:, 1:], -turns.imag[:, 1:]), axis=1)
    correlation = rotated @ np.concatenate((lagged.real, lagged.imag))
    correlation *= weight
    return np.asarray(correlation)


@lru_cache(maxsize=2 * len(TEMPOS))
def _turns(turned: tuple[float, ...]) -> NDArray[np.complex64]:
    """Return the factors that rotate each harmonic by so many of 36 bins."""
    orders = np.arange(_HARMONICS)
    turns = np.exp(-2j * np.pi * np.outer(turned, orders) / 36).astype(np.complex64)
    turns *= np.where(orders == 0, 1, 2) / 36
    return turns


@lru_cache(maxsize=2 * len(TEMPOS))
def _overlap_weight(reference: Spectra, candidate: Spectra, size: int) -> NDArray[np.float32]:
    """Return root of the overlap over both norms for each lag, 0 if less than 5.5 s overlap."""
    overlaps = _overlaps(len(reference.energy) - 1, len(candidate.energy) - 1, size)
    first, last, lags = overlaps
    left = reference.energy[last] - reference.energy[first]
    right = candidate.energy[last - lags] - candidate.energy[first - lags]
    weight = np.zeros(size, dtype=np.float32)
    weight[lags] = np.sqrt((last - first) / np.maximum(left * right, 1e-9))
    return weight


@lru_cache(maxsize=4 * len(TEMPOS))
def _overlaps(rows: int, columns: int, size: int) -> NDArray[np.int64]:
    """Return first and last reference frame of each long enough overlap, and its lag, (3, lags)."""
    lags = np.arange(size)
    lags[size - columns :] -= size
    first, last = np.maximum(lags, 0), np.minimum(rows, columns + lags)
    is_long = last - first >= _SHORTEST_S * FRAMES_PER_S / 2
    return np.stack((first, last, lags))[:, is_long]
