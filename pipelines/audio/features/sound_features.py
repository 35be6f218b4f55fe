"""The features of one sound: uncentred for storage, centred for comparison.

Without centring, the cosine distance of unrelated music lies below every limit (0.19 to 0.25); with
it, unrelated pairs lie near 1 and equal recordings stay similar. Features are stored uncentred
because a speed or pitch change must be undone first. Not here: extracting them (`measurement.py`),
so that comparing stored features imports no transform; comparing (`matching/`).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FRAMES_PER_S, HOP_S

FEATURE_VERSION = "3"
"""Increase this whenever the same sound would give different stored features."""
Frames = NDArray[np.float32]
MFCC_COUNT = 20
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
    def moments(self) -> NDArray[np.float64]:
        """Exact times in fine frames."""
        frames = self.frames.astype(np.float64)
        return frames if self.rests is None else frames + self.rests


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
    return Centred(centred_chroma(chroma), centred_mfcc(mel_db))


def centred_chroma(chroma: Frames) -> Frames:
    """Normalize frames, smooth over neighbouring bins and subtract the 3 s moving mean."""
    norms = np.sqrt(np.square(chroma).sum(axis=1, keepdims=True))
    # Quiet frames stay small: scaled to full length, their noise would count like music.
    scaled = chroma / (norms + np.float32(1e-3) * norms.max() + np.float32(1e-9))
    smooth = (
        np.float32(0.5) * scaled
        + np.float32(0.25) * np.roll(scaled, 1, axis=1)
        + np.float32(0.25) * np.roll(scaled, -1, axis=1)
    )
    # Centred in time, then over the octave.
    local = smooth - sliding_mean(smooth, _LOCAL_FRAMES)
    return np.ascontiguousarray(local - local.mean(axis=1, keepdims=True))


def centred_mfcc(mel_db: Frames) -> Frames:
    """Return cepstral coefficients 1 to 20 minus their 3 s mean, scaled by standard deviation."""
    cepstrum = mel_db @ _cosines(mel_db.shape[1])
    local = cepstrum - sliding_mean(cepstrum, _LOCAL_FRAMES)
    scaled = local / np.maximum(local.std(axis=0, keepdims=True), _LEAST_SPREAD)
    # Added to the norm, 1 keeps quiet frames small, as in chroma.
    norms = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    unit: Frames = np.ascontiguousarray(scaled / (norms + np.float32(1)), dtype=np.float32)
    return unit


def sliding_mean(values: Frames, width: int) -> Frames:
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
    orders = np.arange(1, MFCC_COUNT + 1)
    cosines: Frames = (np.sqrt(2 / bands) * np.cos(np.outer(places, orders))).astype(np.float32)
    return cosines
