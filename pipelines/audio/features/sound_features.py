"""The grid of a sound's features, and the features: uncentred for storage, centred for comparison.

Without centring, the cosine distance of unrelated music lies below every limit (0.19 to 0.25); with
it, unrelated pairs lie near 1 and equal recordings stay similar. Features are stored uncentred
because a speed or pitch change must be undone first. Not here: extracting them (`measurement.py`),
so that comparing stored features imports no transform; comparing (`matching/`).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

# The time and frequency grid of all features, independent of the sample rate.
#
# Windows and hops are fixed in seconds, so that frame k is the same time in a 44.1 kHz and a 48
# kHz sound.

REFERENCE_HZ = 22_050
"""The rate at which windows and hops are these numbers of samples."""
HOP_S = 1024 / REFERENCE_HZ
"""Hop between feature frames, 46.4 ms."""
FINE_HOP_S = HOP_S / 2
"""Hop between peak frames; fine frame 2k is feature frame k."""
FRAMES_PER_S = 1 / HOP_S
LONG_WINDOW_S = 4096 / REFERENCE_HZ
SHORT_WINDOW_S = 2048 / REFERENCE_HZ
PEAK_BAND_HZ = (215.0, 4_500.0)
"""Where spectral peaks are looked for."""
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
    def bin_hz(self) -> float:
        """Distance of two bins of the short transform."""
        return self.rate / self.short_size

    @property
    def long_bins(self) -> int:
        """Number of bins of the long transform up to 5 kHz."""
        return _kept_bins(self.rate, self.long_size, CHROMA_TOP_HZ)

    @property
    def short_bins(self) -> int:
        """Number of bins of the short transform up to 8 kHz."""
        return _kept_bins(self.rate, self.short_size, MEL_TOP_HZ)


@lru_cache(maxsize=64)
def geometry(rate: int) -> Geometry:
    """Return the transform sizes for a sample rate in Hz."""
    return Geometry(rate, _smooth_size(LONG_WINDOW_S * rate), _smooth_size(SHORT_WINDOW_S * rate))


def _kept_bins(rate: int, size: int, top_hz: float) -> int:
    """Return the number of bins from 0 Hz up to `top_hz`."""
    return min(size // 2, int(top_hz * size / rate)) + 1


def _smooth_size(nominal: float) -> int:
    """Return the even 5-smooth number nearest to `nominal`: 4,096 gives 4,096, 8,917 gives 9,000.

    A 5-smooth number has no prime factor above 5.
    """
    nearest = max(2, round(nominal))
    sizes = filter(_is_smooth, range(2, 2 * nearest, 2))
    return min(sizes, key=lambda size: abs(size - nearest))


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


# The chroma and mel filter banks of each sample rate.
#
# Banks of common rates are data built with librosa (`banks/filter_banks.npz`, rebuilt by
# `tests/data/audio/build_filter_banks.py`). For other rates the same formulas are evaluated here,
# so that measuring never imports librosa. A test compares both with librosa.

SEMITONES = 12
BINS_PER_SEMITONE = 3
CHROMA_BINS = SEMITONES * BINS_PER_SEMITONE
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
    """Return the banks for a sample rate in Hz, from stored data if available.

    Weights of chroma below float32's smallest normal number, 1.2e-38, are 0: they add nothing, but
    processors take twenty times as long for a product with them.
    """
    if rate in COMMON_RATES:
        data = files("pipelines.audio.features") / "banks" / "filter_banks.npz"
        with as_file(data) as path, np.load(path, allow_pickle=False) as stored:
            banks = FilterBanks(stored[f"chroma_{rate}"], stored[f"mel_{rate}"])
    else:
        banks = build_filter_banks(geometry(rate))
    banks.chroma[banks.chroma < np.finfo(np.float32).smallest_normal] = 0
    return banks


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
    from_a_to_c = -3 * BINS_PER_SEMITONE
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


# The features: uncentred as stored, centred for comparison.

FEATURE_VERSION = "3"
"""Increase this whenever the same sound would give different stored features."""
Frames = NDArray[np.float32]
_MFCC_COUNT = 20
_LOCAL_FRAMES = 2 * round(1.5 * FRAMES_PER_S) + 1  # 3 s
_LEAST_SPREAD = np.float32(1e-3)


@dataclass(frozen=True, slots=True, eq=False)
class Centred:
    """`chroma` (frames, 36) and `mfcc` (frames, 20), zero-mean in time, float32."""

    chroma: Frames
    mfcc: Frames


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Spectral peaks in time order.

    Attributes:
        frames: Time in fine frames of 23.2 ms, (n,).
        hertz: Frequency, interpolated between bins, (n,).
        phases: Phase at the window centre in 1/256 turns, (n,).
        rests: Rounding remainders of frames that were shifted in time, (n,); None if unshifted.
    """

    frames: NDArray[np.int32]
    hertz: NDArray[np.float32]
    phases: NDArray[np.uint8]
    rests: NDArray[np.float64] | None = None

    @property
    def exact_frames(self) -> NDArray[np.float64]:
        """Exact times in fine frames."""
        frames = self.frames.astype(np.float64)
        return frames if self.rests is None else frames + self.rests

    def at(self, places: slice | NDArray[np.bool_]) -> "Peaks":
        """Return the peaks at these places, contiguous as compiled loops expect them."""
        return Peaks(
            np.ascontiguousarray(self.frames[places]),
            np.ascontiguousarray(self.hertz[places]),
            np.ascontiguousarray(self.phases[places]),
            None if self.rests is None else np.ascontiguousarray(self.rests[places]),
        )


@dataclass(frozen=True, eq=False)
class Features:
    """Uncentred features of one sound.

    Attributes:
        chroma: Whitened pitch-class energies (frames, 36), float16 as stored.
        mel_db: Log mel energies in dB (frames, 64), float16 as stored,
            floored 60 dB below the loudest.
        peaks: Spectral peaks, at most 40 per second.
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


def centred_features(chroma: Frames, mel_db: Frames) -> Centred:
    """Centre uncentred chroma (frames, 36) and log mel energies (frames, 64)."""
    return Centred(_centred_chroma(chroma), _centred_mfcc(mel_db))


def _centred_chroma(chroma: Frames) -> Frames:
    """Normalize frames, smooth over neighbouring bins and subtract the 3 s moving mean."""
    norms = np.sqrt(np.square(chroma).sum(axis=1, keepdims=True))
    # Quiet frames stay small: scaled to full length, their noise would count like music.
    scaled = chroma / (norms + np.float32(1e-3) * norms.max() + np.float32(1e-9))
    smooth = (
        np.float32(0.5) * scaled
        + np.float32(0.25) * np.roll(scaled, 1, axis=1)
        + np.float32(0.25) * np.roll(scaled, -1, axis=1)
    )
    return centred_in_time_and_octave(smooth)


def centred_in_time_and_octave(values: Frames) -> Frames:
    """Subtract the 3 s moving mean of each bin, then the mean of each frame."""
    local = values - moving_mean(values, _LOCAL_FRAMES)
    return np.ascontiguousarray(local - local.mean(axis=1, keepdims=True))


def _centred_mfcc(mel_db: Frames) -> Frames:
    """Return cepstral coefficients 1 to 20 minus their 3 s mean, scaled by standard deviation."""
    cepstrum = mel_db @ _cosines(mel_db.shape[1])
    local = cepstrum - moving_mean(cepstrum, _LOCAL_FRAMES)
    scaled = local / np.maximum(local.std(axis=0, keepdims=True), _LEAST_SPREAD)
    # Added to the norm, 1 keeps quiet frames small, as in chroma.
    norms = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    unit: Frames = np.ascontiguousarray(scaled / (norms + np.float32(1)), dtype=np.float32)
    return unit


def moving_mean(values: Frames, width: int) -> Frames:
    """Return the moving mean over time (first axis); the window is truncated at the ends."""
    count = len(values)
    # The means are differences of long sums, in which float32 would lose digits.
    sums = np.zeros((count + 1, *values.shape[1:]), dtype=np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    places = np.arange(count)
    above = np.minimum(places + width // 2 + 1, count)
    below = np.maximum(places - width // 2, 0)
    means: Frames = ((sums[above] - sums[below]) / (above - below)[:, None]).astype(np.float32)
    return means


@lru_cache(maxsize=4)
def _cosines(bands: int) -> Frames:
    """Return the orthonormal DCT-II matrix for coefficients 1 to 20, shape (bands, 20)."""
    places = (np.arange(bands) + 0.5) * np.pi / bands
    orders = np.arange(1, _MFCC_COUNT + 1)
    cosines: Frames = (np.sqrt(2 / bands) * np.cos(np.outer(places, orders))).astype(np.float32)
    return cosines
