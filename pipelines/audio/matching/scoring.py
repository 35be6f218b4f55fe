"""Compute the composite score from correlations and peak agreement, and check the literal rules.

The limits come from the specification (`warehouse.records.evidence.Limits`); the weights of the
composite are set by measurement. Numbers in, numbers out.
"""

import math
from dataclasses import dataclass

from pipelines.audio.matching.alignment import Block
from pipelines.audio.matching.peak_agreement import CERTAIN
from warehouse.records.evidence import MatchThresholds, Segment, meets_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Weights of the composite score; `chroma`, `mfcc` and `peaks` add up to 1."""

    chroma: float = 0.1
    mfcc: float = 0.2
    peaks: float = 0.7
    peak_scale: float = 0.10
    without_phase: float = 0.10
    variant_without_phase: float = 0.5
    unmet_rule: float = 0.3
    variant_penalty: float = 0.04


COMPOSITE = Composite()
_CHANCE_CERTAINTY = 3.25
_OTHER_TONES = 0.5
_SAME_TONES = 0.8
_CLEARLY_MORE = 1.5
_CLEARLY_ABOVE = 0.1


def composite_score(chroma: float, mfcc: float, agreement: float) -> float:
    """Return S = 0.1 c + 0.2 m + 0.7 (1 - exp(-p / 0.10)) in 0..1, scaled to 1 for identity."""
    saturated = -math.expm1(-_positive(agreement) / COMPOSITE.peak_scale)
    full = -math.expm1(-1 / COMPOSITE.peak_scale)
    return (
        COMPOSITE.chroma * _positive(chroma)
        + COMPOSITE.mfcc * _positive(mfcc)
        + COMPOSITE.peaks * saturated / full
    )


def phase_weight(certainty: float, *, least: float) -> float:
    """Return the weight of peak agreement, `least` to 1, by the phase certainty R / sqrt(n).

    Covers agree without phase. In unchanged sounds such agreement counts little, but not nothing,
    because strong reverb destroys the phases of a recording.
    """
    sure = _positive((certainty - _CHANCE_CERTAINTY) / (CERTAIN - _CHANCE_CERTAINTY))
    return least + (1 - least) * sure


def tonal_weight(balance: float) -> float:
    """Return the weight of peak agreement, 0 to 1, by the share of tones in it (`tonal_balance`).

    0 if only a voice or a crowd over different music agrees. On the development part of the
    benchmark, none of 709 accepted pairs of the same recording lies below 0.84; two of 34 pairs
    with a shared voice or crowd lie above 0.7.
    """
    return _positive((balance - _OTHER_TONES) / (_SAME_TONES - _OTHER_TONES))


def can_be_surpassed(agreement: float) -> bool:
    """Whether another hypothesis could still agree with significantly more peaks."""
    return explains_better(1.0, agreement)


def explains_better(agreement: float, other: float) -> bool:
    """Whether one hypothesis agrees with significantly more peaks than another."""
    return agreement > max(_CLEARLY_MORE * other, other + _CLEARLY_ABOVE)


def block_meets_rule(segment: Segment, block: Block, limits: MatchThresholds) -> bool:
    """Whether the block meets the literal rule of this segment."""
    return meets_rule(
        segment,
        chroma_distance=block.chroma_distance,
        mfcc_distance=block.mfcc_distance,
        overlap_s=block.overlap_s,
        limits=limits,
    )


def _positive(value: float) -> float:
    return min(max(value, 0.0), 1.0)
