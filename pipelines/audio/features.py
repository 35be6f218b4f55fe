"""The features of one sound, uncentred, as they are stored, and centred, as they are compared.

Stored features are uncentred because a speed or pitch hypothesis must be undone before the
centring. What belongs here: samples to features. Not here: files, comparing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.centring import Centred, centred_features
from pipelines.audio.filter_banks import filter_banks
from pipelines.audio.geometry import HOP_S, frame_count, geometry
from pipelines.audio.peaks import Peaks, pick_peaks
from pipelines.audio.spectra import long_spectra, moving_mean, short_spectra

FEATURE_VERSION = "2"
"""Raised whenever the same sound would give other stored features."""
_LEVEL = np.float32(0.1)  # every sound is measured at this RMS, so its loudness does not matter
_COMPRESSION = np.float32(10.0)
_BACKGROUND_BINS = 51
_DYNAMIC_DB = np.float32(60.0)


@dataclass(frozen=True, eq=False)
class Features:
    """Uncentred features of one sound.

    Attributes:
        chroma: Whitened pitch-class energies (frames, 36), float16 as stored.
        mel_db: Log mel energies in dB (frames, 64), float16 as stored,
            at most 60 dB under the loudest.
        peaks: Spectral peaks, about 40 for each second.
    """

    chroma: NDArray[np.floating]
    mel_db: NDArray[np.floating]
    peaks: Peaks

    @property
    def frames(self) -> int:
        """Number of feature frames, 46.4 ms apart."""
        return len(self.chroma)

    @property
    def duration_s(self) -> float:
        """Length in seconds that the frames cover."""
        return self.frames * HOP_S

    @cached_property
    def centred(self) -> Centred:
        """Centred features, computed once."""
        return centred_features(self.chroma.astype(np.float32), self.mel_db.astype(np.float32))


def measure_features(samples: NDArray[np.float32], rate: int) -> Features:
    """Measure one sound.

    Args:
        samples: Mono samples (n,) without a constant part, not silent.
        rate: Their sample rate in Hz.
    """
    grid = geometry(rate)
    frames = frame_count(len(samples), rate)
    banks = filter_banks(rate)
    level = np.sqrt(np.mean(np.square(samples), dtype=np.float64))
    samples = samples * (_LEVEL / np.float32(level))
    chroma = _chroma(long_spectra(samples, grid, frames), banks.chroma)
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
