"""Halve the sample rate of a sound whose upper octave no feature uses. Not here: features."""

import numpy as np
from numpy.typing import NDArray

_TAPS = 31
_KAISER_BETA = 6.5
_BLOCK = 1 << 13  # blocks and their intermediate results stay in the CPU cache


def halved(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return every second sample (n + 1) // 2 of the low-passed sound.

    The filter is a half-band low-pass by the window method: sin(pi k / 2) / (pi k) under a Kaiser
    window, so every second coefficient but the middle one is 0 (Crochiere and Rabiner, Multirate
    Digital Signal Processing, 1983, section 4.5). Up to 8 kHz of 44.1 kHz it changes levels by less
    than 0.01 dB; what would fold to below 8 kHz is 65 dB weaker.
    """
    weights = _weights()
    reach = len(weights)
    count = (len(samples) + 1) // 2
    padded = np.pad(samples, (2 * reach, 2 * reach + len(samples) % 2))
    even = np.ascontiguousarray(padded[2 * reach :: 2][:count])
    odd = np.ascontiguousarray(padded[1::2])
    result = np.multiply(even, np.float32(0.5), out=even)
    pair = np.empty(_BLOCK, dtype=np.float32)
    for first in range(0, count, _BLOCK):
        block = result[first : first + _BLOCK]
        middle, size = first + reach, len(block)
        for step, weight in enumerate(weights):
            before, after = middle - 1 - step, middle + step
            both = np.add(odd[before : before + size], odd[after : after + size], out=pair[:size])
            block += np.multiply(both, weight, out=both)
    return result


def _weights() -> NDArray[np.float32]:
    """Return the coefficients at distances 1, 3, 5 ... from the middle."""
    away = np.arange(1, _TAPS // 2 + 1, 2)
    window = np.kaiser(_TAPS, _KAISER_BETA)[_TAPS // 2 + away]
    weights = np.sin(np.pi * away / 2) / (np.pi * away) * window
    return np.asarray(weights, dtype=np.float32)
