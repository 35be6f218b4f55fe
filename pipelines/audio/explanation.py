"""Explain the verdict on a pair as plot data: both sounds on one time axis, their similarity, the
compared window and its measures against the limits.

Stored features and evidence in, a frozen record out. Needs NumPy only, so processes that neither
decode nor compile may import it. Not here: drawing, recomputing a verdict (`manifest.py`).
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import HOP_S, Features
from pipelines.audio.matching.hypotheses import Hypothesis, undo
from warehouse.records.evidence import (
    LOWER_IS_BETTER,
    MatchThresholds,
    MeasureName,
    PairEvidence,
    least_overlap_s,
    meets_limit,
    variant_kind,
)

LARGEST_MAP = 400
WIDEST_STRIP = 900
_MOST_FRAMES = 1_500  # longer sounds are subsampled
_ALIKE_OVER_S = 1.0
_LEAST_ENERGY = 1e-6


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChromaStrip:
    """Chroma of one sound: `levels` (36, columns) in 0..1, starting at `start_s` on the
    reference's time axis and lasting `duration_s` seconds.
    """

    levels: NDArray[np.float32]
    start_s: float
    duration_s: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SimilarityMap:
    """Similarity map: chroma plus MFCC correlation in one second around each pair of times.

    `values` has shape (candidate, reference), at most 400 each, in -2..2, and covers both sounds
    from 0 s. Candidate time is after its speed change is undone.
    """

    values: NDArray[np.float32]
    reference_s: float
    candidate_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedWindow:
    """The compared window in seconds; the candidate's start is after its speed is undone."""

    reference_start_s: float
    candidate_start_s: float
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceMeasure:
    """One measure of the evidence and its limit, None if it has none."""

    name: MeasureName
    value: float | None
    limit: float | None

    @property
    def lower_is_better(self) -> bool:
        """Whether the limit is the largest value allowed, not the smallest."""
        return self.name in LOWER_IS_BETTER

    @property
    def is_met(self) -> bool | None:
        """Whether the value meets its limit; None if either is unknown."""
        if self.value is None or self.limit is None:
            return None
        return meets_limit(self.name, self.value, self.limit)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Explanation:
    """A judged pair ready for plotting. `window` is None if nothing was compared."""

    evidence: PairEvidence
    measures: tuple[EvidenceMeasure, ...]
    reference: ChromaStrip
    candidate: ChromaStrip
    similarity: SimilarityMap
    window: ComparedWindow | None


def explain_pair(
    reference: Features, candidate: Features, evidence: PairEvidence, *, limits: MatchThresholds
) -> Explanation:
    """Build the plot data of a judged pair.

    Args:
        reference: Uncentred features of the reference, as stored.
        candidate: Uncentred features of the candidate, as stored.
        evidence: The evidence stored for this pair.
        limits: The limits that the verdict used.
    """
    # The candidate with the variant undone, as it was compared.
    tempo, semitones = evidence.speed or 1.0, evidence.semitones or 0.0
    undone = candidate
    if (tempo, semitones) != (1.0, 0.0):
        kind = variant_kind(evidence)
        assert kind != "excerpt", "an excerpt is unchanged"
        undone = undo(candidate, Hypothesis(family=kind, tempo=tempo, semitones=semitones))

    # The compared window puts both sounds on one time axis.
    window, offset_s = None, 0.0
    first_s, second_s = evidence.reference_start_s, evidence.candidate_start_s
    if first_s is not None and second_s is not None and evidence.overlap_s is not None:
        window = ComparedWindow(
            reference_start_s=first_s,
            candidate_start_s=second_s * tempo,
            duration_s=evidence.overlap_s,
        )
        offset_s = window.reference_start_s - window.candidate_start_s
    return Explanation(
        evidence=evidence,
        measures=measures_of(evidence, limits),
        reference=_strip(reference, 0.0),
        candidate=_strip(undone, offset_s),
        similarity=_similarity(reference, undone),
        window=window,
    )


def measures_of(evidence: PairEvidence, limits: MatchThresholds) -> tuple[EvidenceMeasure, ...]:
    """Return the measures of a pair with the limits of its segment's rule."""
    if evidence.segment == "whole":
        allowed = (limits.whole_chroma_distance, limits.whole_mfcc_distance, limits.whole_overlap_s)
    else:
        allowed = (
            limits.local_chroma_distance,
            limits.local_mfcc_distance,
            least_overlap_s(evidence.overlap_s, limits.local_overlap_s),
        )
    values: tuple[tuple[MeasureName, float | None, float | None], ...] = (
        ("chroma_distance", evidence.chroma_distance, allowed[0]),
        ("mfcc_distance", evidence.mfcc_distance, allowed[1]),
        ("overlap_s", evidence.overlap_s, allowed[2]),
        ("peak_agreement", evidence.peak_agreement, None),
        ("score", evidence.score, limits.match_threshold),
    )
    return tuple(
        EvidenceMeasure(name=name, value=value, limit=limit) for name, value, limit in values
    )


def _strip(features: Features, start_s: float) -> ChromaStrip:
    chroma = features.chroma.astype(np.float32)
    # Each frame is scaled to its loudest pitch class, but a quiet frame stays dark.
    loudest = chroma.max(axis=1, keepdims=True)
    quiet = np.float32(0.05) * (loudest.max() if len(loudest) else 0)
    levels = chroma / np.maximum(loudest, quiet + np.float32(1e-9))
    step = ceil(len(levels) / WIDEST_STRIP)
    return ChromaStrip(
        levels=np.ascontiguousarray(_reduced(levels.T, 1, step).clip(0, 1)),
        start_s=start_s,
        duration_s=features.duration_s,
    )


def _similarity(reference: Features, candidate: Features) -> SimilarityMap:
    step = ceil(max(reference.frames, candidate.frames) / _MOST_FRAMES)
    width = max(1, round(_ALIKE_OVER_S / (HOP_S * step)))
    first, second = reference.centred, candidate.centred
    values = _correlation(first.chroma[::step], second.chroma[::step], width)
    values += _correlation(first.mfcc[::step], second.mfcc[::step], width)
    rows, columns = (ceil(count / LARGEST_MAP) for count in values.shape)
    return SimilarityMap(
        values=_reduced(values, rows, columns),
        reference_s=reference.duration_s,
        candidate_s=candidate.duration_s,
    )


def _correlation(
    reference: NDArray[np.float32], candidate: NDArray[np.float32], width: int
) -> NDArray[np.float32]:
    """Correlation of the `width` frames around each pair of frames, (candidate, reference)."""
    similarity = candidate @ reference.T
    # Sum the neighbours of each cell along its diagonal.
    padded = np.pad(similarity, ((width - 1 - width // 2, width),) * 2)
    rows, columns = similarity.shape
    products = np.zeros_like(similarity)
    for shift in range(width):
        products += padded[shift : shift + rows, shift : shift + columns]

    candidate_energy = _moving_sum(np.square(candidate).sum(axis=1), width)
    reference_energy = _moving_sum(np.square(reference).sum(axis=1), width)
    energies = np.outer(candidate_energy, reference_energy)
    norms = np.sqrt(np.maximum(energies, _LEAST_ENERGY))
    correlation: NDArray[np.float32] = (products / norms).clip(-1, 1).astype(np.float32)
    return correlation


def _moving_sum(values: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    full: NDArray[np.float32] = np.convolve(values, np.ones(width, dtype=np.float32))
    first = width // 2
    return full[first : first + len(values)]


def _reduced(values: NDArray[np.floating], rows: int, columns: int) -> NDArray[np.float32]:
    """Reduce blocks of `rows` x `columns` to their maximum, which keeps a thin diagonal visible."""
    for axis, size in enumerate((rows, columns)):
        starts = np.arange(0, values.shape[axis], max(1, size))
        values = np.maximum.reduceat(values, starts, axis=axis)
    return values.astype(np.float32)
