"""The time and frequency grid of all features, independent of the sample rate.

Windows and hops are fixed in seconds, so that frame k is the same time in a 44.1 kHz and a 48 kHz
sound. Not here: filter banks, spectra.
"""

from dataclasses import dataclass
from functools import lru_cache

HOP_S = 1024 / 22_050
"""Hop between feature frames, 46.4 ms."""
FINE_HOP_S = HOP_S / 2
"""Hop between peak frames; fine frame 2k is feature frame k."""
FRAMES_PER_S = 1 / HOP_S
LONG_WINDOW_S = 4096 / 22_050
SHORT_WINDOW_S = 2048 / 22_050
CHROMA_TOP_HZ = 5_000.0
MEL_TOP_HZ = 8_000.0
COMMON_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000)
HALVED_FROM_HZ = 44_100
"""Even rates from here on are halved first: the lower octaves still hold all bands."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Transform sizes in samples at one sample rate.

    `long_size` is for chroma, `short_size` for mel bands and peaks. Each is the even 5-smooth
    number nearest to the nominal window, because FFTs of other sizes are several times slower.
    """

    rate: int
    long_size: int
    short_size: int

    @property
    def long_bins(self) -> int:
        """Number of bins of the long transform up to 5 kHz."""
        return kept_bins(self.rate, self.long_size, CHROMA_TOP_HZ)

    @property
    def short_bins(self) -> int:
        """Number of bins of the short transform up to 8 kHz."""
        return kept_bins(self.rate, self.short_size, MEL_TOP_HZ)


@lru_cache(maxsize=64)
def geometry(rate: int) -> Geometry:
    """Return the transform sizes for a sample rate in Hz."""
    return Geometry(rate, smooth_size(LONG_WINDOW_S * rate), smooth_size(SHORT_WINDOW_S * rate))


def kept_bins(rate: int, size: int, top_hz: float) -> int:
    """Return the number of bins from 0 Hz up to `top_hz`."""
    return min(size // 2, int(top_hz * size / rate)) + 1


def smooth_size(nominal: float) -> int:
    """Return the even 5-smooth number nearest to `nominal`: 4,096 gives 4,096, 8,917 gives 9,000.

    A 5-smooth number has no prime factor above 5.
    """
    nearest = max(2, round(nominal))
    for distance in range(nearest):
        for size in (nearest - distance, nearest + distance):
            if size % 2 == 0 and _is_smooth(size):
                return size
    return nearest


def next_smooth(number: int) -> int:
    """Return the smallest 5-smooth number that is not below `number`."""
    while not _is_smooth(number):
        number += 1
    return number


def frame_count(sample_count: int, rate: int) -> int:
    """Return the number of feature frames; frame k is centred at k times the hop."""
    return int(sample_count / (HOP_S * rate)) + 1


def _is_smooth(number: int) -> bool:
    for prime in (2, 3, 5):
        while number > 1 and number % prime == 0:
            number //= prime
    return number == 1
