"""Align two sounds: try every offset and every 6 s window, then warp by at most one frame.

Alignment is rigid because free warping fits anything to anything. Holds the search for the best
blocks and their distances. Not here: limits, scores, verdicts.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import HOP_S, Centred
from pipelines.audio.matching.kernels import Quartet, banded_path, best_alignment

DTW_RADIUS = 1
_NO_OVERLAP = -9.0
_ONE_THREAD_PRODUCTS = 1 << 18
_LEAST_ENERGY = 1e-3  # per frame; music has 0.2 to 0.8, a steady tone almost none


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """An aligned block of both sounds, in frames, with its correlations in -1..1."""

    reference_frame: int
    candidate_frame: int
    frames: int
    chroma: float
    mfcc: float

    @property
    def overlap_s(self) -> float:
        """Length in seconds."""
        return self.frames * HOP_S

    @property
    def lag(self) -> int:
        """Reference minus candidate time."""
        return self.reference_frame - self.candidate_frame

    @property
    def fine_range(self) -> tuple[int, int]:
        """The candidate's first fine frame, and the one after its last."""
        return 2 * self.candidate_frame, 2 * (self.candidate_frame + self.frames)

    @property
    def chroma_distance(self) -> float:
        """1 - correlation: 0 identical, about 1 unrelated."""
        return 1.0 - self.chroma

    @property
    def mfcc_distance(self) -> float:
        """1 - correlation: 0 identical, about 1 unrelated."""
        return 1.0 - self.mfcc


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The best local window and the best whole overlap; None if the sounds are too short."""

    local: Block | None
    whole: Block | None


@dataclass(frozen=True, slots=True, eq=False)
class _Energy:
    """Sums of squares before each frame (frames + 1) and 1 / norm of the window ending there."""

    before: NDArray[np.float32]
    inverse_norm: NDArray[np.float32]


def align(
    reference: Centred,
    candidate: Centred,
    *,
    window_s: float,
    least_window_s: float,
    least_overlap_s: float,
) -> Alignment:
    """Find the window and the overlap with the largest c + m (chroma plus MFCC correlation).

    Args:
        reference: Centred features of the reference.
        candidate: Centred features of the candidate.
        window_s: Length of the local window in seconds.
        least_window_s: Minimum window length for short sounds.
        least_overlap_s: Shortest whole comparison in seconds.
    """
    shorter = min(len(reference.chroma), len(candidate.chroma))
    window = min(round(window_s / HOP_S), shorter)
    if window * HOP_S < least_window_s:
        return Alignment(local=None, whole=None)
    # One pass over all offsets finds the best window and the best whole overlap.
    energies = (*_energies(reference, window), *_energies(candidate, window))
    (_, row, column), (whole, whole_row, whole_column) = best_alignment(
        _products(reference.chroma, candidate.chroma),
        _products(reference.mfcc, candidate.mfcc),
        _quartet([energy.inverse_norm for energy in energies]),
        _quartet([energy.before for energy in energies]),
        window,
        math.ceil(least_overlap_s / HOP_S),
    )
    local = block_at(reference, candidate, row - window + 1, column - window + 1, window)
    if whole == _NO_OVERLAP:
        return Alignment(local=local, whole=None)
    # An overlap begins at the first frame of one of the sounds.
    length = min(whole_row, whole_column) + 1
    first = (whole_row - length + 1, whole_column - length + 1)
    return Alignment(local=local, whole=block_at(reference, candidate, *first, length))


def overlap(reference_frames: int, candidate_frames: int, lag: int) -> tuple[int, int]:
    """Return the first frame of the candidate that overlaps, and the one after the last.

    Args:
        reference_frames: Length of the reference.
        candidate_frames: Length of the candidate.
        lag: Reference minus candidate time.
    """
    return max(0, -lag), min(candidate_frames, reference_frames - lag)


def _products(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute the dot products of all frames in pieces too small for multi-threaded BLAS.

    BLAS threads spin while they wait: on two cores they cost three times the CPU time they save.
    """
    result = np.empty((len(left), len(right)), dtype=np.float32)
    rows = max(1, _ONE_THREAD_PRODUCTS // (len(right) * left.shape[1]))
    transposed = np.ascontiguousarray(right.T)
    for first in range(0, len(left), rows):
        np.matmul(left[first : first + rows], transposed, out=result[first : first + rows])
    return result


def _quartet(vectors: list[NDArray[np.float32]]) -> Quartet:
    first, second, third, fourth = vectors
    return first, second, third, fourth


@lru_cache(maxsize=64)
def _energies(sound: Centred, window: int) -> tuple[_Energy, _Energy]:
    """Return the energies of chroma and MFCC; cached because a sound is compared several times."""
    return _energy(sound.chroma, window), _energy(sound.mfcc, window)


def _energy(values: NDArray[np.float32], window: int) -> _Energy:
    before = np.zeros(len(values) + 1)
    np.cumsum(np.square(values).sum(axis=1), out=before[1:])
    inverse = np.zeros(len(values), dtype=np.float32)
    inside = before[window:] - before[:-window]
    # A window of silence has no norm; it stays 0 and so never aligns.
    is_audible = inside > _LEAST_ENERGY * window
    inverse[window - 1 :][is_audible] = 1 / np.sqrt(inside[is_audible])
    return _Energy(before.astype(np.float32), inverse)


def block_at(
    reference: Centred, candidate: Centred, reference_frame: int, candidate_frame: int, frames: int
) -> Block:
    """Measure a block rigidly and warped by at most one frame; return the better result."""
    rows = np.arange(reference_frame, reference_frame + frames)
    columns = np.arange(candidate_frame, candidate_frame + frames)
    rigid = _correlations(reference, candidate, rows, columns)

    # The best path within `DTW_RADIUS` candidate frames of the diagonal.
    shifts = np.arange(-DTW_RADIUS, DTW_RADIUS + 1)
    places = np.clip(columns[:, None] + shifts, 0, len(candidate.chroma) - 1)
    similarity = np.zeros(places.shape)
    for of_reference, of_candidate in (
        (reference.chroma, candidate.chroma),
        (reference.mfcc, candidate.mfcc),
    ):
        block = of_reference[rows]
        scale = float(np.square(block).sum()) + _LEAST_ENERGY * len(rows)
        similarity += np.einsum("kf,ksf->ks", block, of_candidate[places]) / scale
    path = banded_path(similarity.astype(np.float32))
    warped = _correlations(reference, candidate, rows, places[np.arange(len(rows)), path])

    chroma, mfcc = max(rigid, warped, key=sum)
    return Block(
        reference_frame=reference_frame,
        candidate_frame=candidate_frame,
        frames=frames,
        chroma=chroma,
        mfcc=mfcc,
    )


def _correlations(
    reference: Centred,
    candidate: Centred,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> tuple[float, float]:
    """Return sum X Y / sqrt(sum X^2 sum Y^2) over all frames and bins, for chroma and MFCC."""
    return (
        _correlation(reference.chroma[rows], candidate.chroma[columns]),
        _correlation(reference.mfcc[rows], candidate.mfcc[columns]),
    )


def _correlation(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    first, second = left.astype(np.float64).ravel(), right.astype(np.float64).ravel()
    energies = (float(first @ first), float(second @ second))
    if min(energies) < _LEAST_ENERGY * len(left):
        return 0.0
    return min(1.0, float(first @ second) / float(np.sqrt(energies[0] * energies[1])))
