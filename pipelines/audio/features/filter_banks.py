"""The chroma and mel filter banks of each sample rate.

Banks of common rates are data built with librosa (`banks/filter_banks.npz`, rebuilt by
`tests/data/audio/build_filter_banks.py`). For other rates the same formulas are evaluated here, so
that measuring never imports librosa. A test compares both with librosa.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import COMMON_RATES, MEL_TOP_HZ, Geometry, geometry

CHROMA_BINS = 36
MEL_BANDS = 64
MEL_BOTTOM_HZ = 80.0
_CENTRE_OCTAVE = 5.0
_OCTAVE_WIDTH = 2.0
_MEL_LINEAR_HZ = 200.0 / 3.0
_MEL_BREAK_HZ = 1_000.0
_MEL_LOG_STEP = np.log(6.4) / 27.0


@dataclass(frozen=True, slots=True, eq=False)
class FilterBanks:
    """`chroma` (36, long bins) and `mel` (64, short bins), both float32."""

    chroma: NDArray[np.float32]
    mel: NDArray[np.float32]


@lru_cache(maxsize=16)
def filter_banks(rate: int) -> FilterBanks:
    """Return the banks for a sample rate in Hz, from stored data if available."""
    if rate in COMMON_RATES:
        data = files("pipelines.audio.features") / "banks" / "filter_banks.npz"
        with as_file(data) as path, np.load(path, allow_pickle=False) as stored:
            return FilterBanks(stored[f"chroma_{rate}"], stored[f"mel_{rate}"])
    return build_filter_banks(geometry(rate))


def build_filter_banks(grid: Geometry) -> FilterBanks:
    """Compute both banks and cut them to the bins in use."""
    chroma = chroma_bank(grid.rate, grid.long_size)[:, : grid.long_bins]
    mel = mel_bank(grid.rate, grid.short_size)[:, : grid.short_bins]
    return FilterBanks(
        np.ascontiguousarray(chroma, dtype=np.float32), np.ascontiguousarray(mel, dtype=np.float32)
    )


def chroma_bank(rate: int, size: int) -> NDArray[np.float64]:
    """Return Gaussian pitch classes (36, size // 2 + 1), the first one centred at C.

    The formula is that of `librosa.filters.chroma(n_chroma=36, tuning=0)`.
    """
    # The bin of 0 Hz has no pitch: it stands one and a half octaves below the first.
    frequencies = np.arange(1, size) * (rate / size)
    pitches = CHROMA_BINS * np.log2(frequencies / (440.0 / 16))
    pitches = np.concatenate(([pitches[0] - 1.5 * CHROMA_BINS], pitches))
    widths = np.concatenate((np.maximum(np.diff(pitches), 1.0), [1.0]))
    # Distances around the octave, from -half to half of it.
    away = pitches[None, :] - np.arange(CHROMA_BINS)[:, None]
    half = CHROMA_BINS / 2
    away = np.remainder(away + half + 10 * CHROMA_BINS, CHROMA_BINS) - half
    weights = np.exp(-0.5 * (2 * away / widths) ** 2)
    weights /= np.sqrt((weights**2).sum(axis=0))
    # Octaves far from the centre count less.
    weights *= np.exp(-0.5 * ((pitches / CHROMA_BINS - _CENTRE_OCTAVE) / _OCTAVE_WIDTH) ** 2)
    from_a_to_c = -3 * (CHROMA_BINS // 12)
    bank: NDArray[np.float64] = np.roll(weights, from_a_to_c, axis=0)[:, : size // 2 + 1]
    return bank


def mel_bank(rate: int, size: int) -> NDArray[np.float64]:
    """Return triangular mel bands from 80 to 8000 Hz, (64, size // 2 + 1).

    The formula is that of `librosa.filters.mel(norm="slaney", htk=False)`. Bands above the Nyquist
    frequency stay empty, so that band k is the same at every rate.
    """
    edges = mel_to_hz(mel_edges())
    ramps = edges[:, None] - np.arange(size // 2 + 1)[None, :] * (rate / size)
    widths = np.diff(edges)
    rising = -ramps[:-2] / widths[:-1, None]
    falling = ramps[2:] / widths[1:, None]
    area = 2.0 / (edges[2:] - edges[:-2])
    bank: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling)) * area[:, None]
    return bank


def mel_edges() -> NDArray[np.float64]:
    """Return where bands begin, peak and end on the mel scale, (66,): band k at k, k + 1, k + 2."""
    return np.linspace(float(hz_to_mel(MEL_BOTTOM_HZ)), float(hz_to_mel(MEL_TOP_HZ)), MEL_BANDS + 2)


def hz_to_mel(hertz: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert to Slaney's mel scale: linear below 1 kHz, logarithmic above."""
    value = np.asarray(hertz, dtype=np.float64)
    log_part = _MEL_BREAK_HZ / _MEL_LINEAR_HZ + (
        np.log(np.maximum(value, 1e-9) / _MEL_BREAK_HZ) / _MEL_LOG_STEP
    )
    return np.where(value < _MEL_BREAK_HZ, value / _MEL_LINEAR_HZ, log_part)


def mel_to_hz(mel: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert `hz_to_mel`."""
    value = np.asarray(mel, dtype=np.float64)
    break_mel = _MEL_BREAK_HZ / _MEL_LINEAR_HZ
    log_part = _MEL_BREAK_HZ * np.exp(_MEL_LOG_STEP * (value - break_mel))
    return np.where(value < break_mel, value * _MEL_LINEAR_HZ, log_part)
