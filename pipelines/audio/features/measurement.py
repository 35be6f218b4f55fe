"""Extract features from samples in one pass of shared transforms.

Runs in a decoder process. Not here: files, centring, comparison.
"""

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.filter_banks import filter_banks
from pipelines.audio.features.grid import HALVED_FROM_HZ, frame_count, geometry
from pipelines.audio.features.halving import halved
from pipelines.audio.features.peak_picking import pick_peaks
from pipelines.audio.features.sound_features import Features
from pipelines.audio.features.spectra import long_spectra, moving_mean, short_spectra

_LEVEL = np.float32(0.1)  # sounds are normalized to this RMS, so loudness has no influence
_COMPRESSION = np.float32(10.0)
_BACKGROUND_BINS = 51
_DYNAMIC_DB = np.float32(60.0)


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
    whitened = np.maximum(np.float32(0), loudness - moving_mean(loudness, _BACKGROUND_BINS))
    chroma: NDArray[np.float32] = whitened @ bank.T
    return chroma


def _mel_db(magnitudes: NDArray[np.float32], bank: NDArray[np.float32]) -> NDArray[np.float32]:
    energies = np.square(magnitudes) @ bank.T
    decibels = np.float32(10) * np.log10(np.maximum(energies, np.float32(1e-10)))
    floored: NDArray[np.float32] = np.maximum(decibels, decibels.max() - _DYNAMIC_DB)
    return floored
