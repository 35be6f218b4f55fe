"""Similarity of two recordings by a simple measure, for the difficulty check.

It is no verifier: it measures how close the nearest negatives are, and how far unrelated tracks.
"""

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from pipelines.sandbox.world.sound.instruments import RATE, Samples

_WINDOW = 4096
_HOP = 2048
_LOWEST_HZ, _HIGHEST_HZ = 80.0, 2500.0
_LAGS = 40  # frames of 46 ms


def chroma(x: Samples) -> NDArray[np.float64]:
    """Pitch-class energies over time, centred: shape (frames, 12)."""
    frames = np.lib.stride_tricks.sliding_window_view(x, _WINDOW)[::_HOP]
    spectrum = np.abs(scipy.fft.rfft(frames * np.hanning(_WINDOW).astype(np.float32), axis=1))
    hz = np.fft.rfftfreq(_WINDOW, 1 / RATE)
    kept = (hz >= _LOWEST_HZ) & (hz <= _HIGHEST_HZ)
    classes = np.round(12 * np.log2(hz[kept] / 440.0)).astype(np.int64) % 12
    folded = np.zeros((frames.shape[0], 12))
    for number in range(12):
        folded[:, number] = np.log1p(spectrum[:, kept][:, classes == number]).sum(axis=1)
    folded -= folded.mean(axis=0)
    return folded - folded.mean(axis=1, keepdims=True)


def chroma_correlation(x: Samples, y: Samples) -> float:
    """Return the best correlation of two chroma sequences over small shifts, -1 to 1."""
    a, b = chroma(x), chroma(y)
    return max(_correlation(a, b, lag) for lag in range(-_LAGS, _LAGS + 1))


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64], lag: int) -> float:
    a = a[max(0, lag) :]
    b = b[max(0, -lag) :]
    size = min(len(a), len(b))
    if size < 2 * _LAGS:
        return -1.0
    a, b = a[:size], b[:size]
    norm = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / norm if norm else 0.0
