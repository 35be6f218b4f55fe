"""Centre features so that unrelated music is uncorrelated and equal recordings stay similar.

Without centring, the cosine distance of unrelated music lies below every limit (0.19 to 0.25);
with it, unrelated pairs lie near 1. Arrays in, arrays out.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import FRAMES_PER_S

Frames = NDArray[np.float32]
MFCC_COUNT = 20
_LOCAL_FRAMES = 2 * round(1.5 * FRAMES_PER_S) + 1  # 3 s
_LEAST_SPREAD = np.float32(1e-3)


@dataclass(frozen=True, slots=True, eq=False)
class Centred:
    """`chroma` (frames, 36) and `mfcc` (frames, 20), zero-mean in time, float32."""

    chroma: Frames
    mfcc: Frames


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
    local = smooth - sliding_mean(smooth, _LOCAL_FRAMES)
    return np.ascontiguousarray(local - local.mean(axis=1, keepdims=True))


def centred_mfcc(mel_db: Frames) -> Frames:
    """Return cepstral coefficients 1 to 20 minus their 3 s mean, scaled by standard deviation."""
    cepstrum = mel_db @ _cosines(mel_db.shape[1])
    local = cepstrum - sliding_mean(cepstrum, _LOCAL_FRAMES)
    scaled = local / np.maximum(local.std(axis=0, keepdims=True), _LEAST_SPREAD)
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
