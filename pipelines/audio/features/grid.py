"""The time and frequency grid on which every sound is measured, whatever its sample rate.

Windows and hops are fixed in seconds, so that frame k means the same moment in a 44.1 kHz and in
a 48 kHz sound and nothing has to be resampled. Not here: filter banks, spectra.
"""

from dataclasses import dataclass
from functools import lru_cache

HOP_S = 1024 / 22_050
"""Time between two feature frames, 46.4 ms."""
FINE_HOP_S = HOP_S / 2
"""Time between two peak frames; fine frame 2k is feature frame k."""
FRAMES_PER_S = 1 / HOP_S
LONG_WINDOW_S = 4096 / 22_050
SHORT_WINDOW_S = 2048 / 22_050
CHROMA_TOP_HZ = 5_000.0
MEL_TOP_HZ = 8_000.0
COMMON_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


@dataclass(frozen=True, slots=True)
class Geometry:
    """Transform sizes in samples at one sample rate.

    `long_size` serves chroma, `short_size` serves mel bands and peaks. A size is the even
    5-smooth number next to the wanted length, because other sizes transform several times slower.
    """

    rate: int
    long_size: int
    short_size: int

    @property
    def long_bins(self) -> int:
        """Bins up to 5 kHz of the long transform, at most all of them."""
        return kept_bins(self.rate, self.long_size, CHROMA_TOP_HZ)

    @property
    def short_bins(self) -> int:
        """Bins up to 8 kHz of the short transform, at most all of them."""
        return kept_bins(self.rate, self.short_size, MEL_TOP_HZ)


@lru_cache(maxsize=64)
def geometry(rate: int) -> Geometry:
    """The grid at a sample rate in Hz."""
    return Geometry(rate, smooth_size(LONG_WINDOW_S * rate), smooth_size(SHORT_WINDOW_S * rate))


def kept_bins(rate: int, size: int, top_hz: float) -> int:
    """How many bins from 0 Hz lie at or below `top_hz`."""
    return min(size // 2, int(top_hz * size / rate)) + 1


def smooth_size(wanted: float) -> int:
    """The even number without prime factors above 5 that lies nearest to `wanted`."""
    nearest = max(2, round(wanted))
    for distance in range(nearest):
        for size in (nearest - distance, nearest + distance):
            if size % 2 == 0 and _is_smooth(size):
                return size
    return nearest


def frame_count(sample_count: int, rate: int) -> int:
    """Feature frames of a sound; frame k is centred at k times the hop, the first at 0 s."""
    return int(sample_count / (HOP_S * rate)) + 1


def _is_smooth(number: int) -> bool:
    for prime in (2, 3, 5):
        while number > 1 and number % prime == 0:
            number //= prime
    return number == 1
