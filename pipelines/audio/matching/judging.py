"""Judge one pair of sounds: unchanged, and with a speed, tempo or pitch hypothesis undone.

Measures and decides for one pair. Not here: choosing pairs, groups of pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pipelines.audio.features.grid import HOP_S
from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.alignment import Block, align
from pipelines.audio.matching.hypotheses import Hypothesis, undo
from pipelines.audio.matching.peak_agreement import (
    PeakMatch,
    drifting_share,
    match_peaks,
    phase_certainty,
)
from pipelines.audio.matching.scoring import (
    COMPOSITE,
    block_meets_rule,
    can_be_surpassed,
    composite_score,
    explains_better,
    phase_weight,
    tonal_weight,
)
from pipelines.audio.matching.search import (
    ScoredHypothesis,
    best_hypothesis,
    best_joint_hypothesis,
)
from pipelines.audio.matching.tone_agreement import tonal_balance
from warehouse.records.evidence import MatchThresholds, PairEvidence, Segment

_RULE_NOT_MET = "distances_above_limits"
_LEAST_SHARE = 0.03  # below this, a hypothesis cannot be distinguished from chance


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedBlock:
    """One block with its measures. `objection` is the reason it does not count, if any."""

    segment: Segment
    block: Block
    agreement: float
    score: float
    objection: str | None


def judge_unchanged(
    reference: Features, candidate: Features, limits: MatchThresholds
) -> PairEvidence:
    """Apply both rules to the unchanged sounds."""

    def judge(segment: Segment, block: Block) -> _JudgedBlock:
        match = _match(reference, candidate, block)
        if not block_meets_rule(segment, block, limits):
            return _judge_block(segment, block, _harmonic_share(match, block), _RULE_NOT_MET)
        weight = phase_weight(phase_certainty(match), least=COMPOSITE.without_phase)
        judged = _judge_by_tones(segment, block, match, match.share * weight, limits)
        return replace(judged, objection="tempo_drifts") if _is_drifting(match) else judged

    best = _most_credible(reference, candidate, limits, judge)
    if best is None:
        return PairEvidence(verdict="not_comparable", reason="overlap_too_short")
    is_confirmed = _is_match(best, limits)
    return replace(
        _evidence(best),
        verdict="confirmed" if is_confirmed else "rejected",
        reason=_reason(best, is_confirmed, f"{best.segment}_rule_met"),
    )


def judge_variant(
    reference: Features, candidate: Features, limits: MatchThresholds
) -> PairEvidence | None:
    """Apply both rules with the likeliest hypothesis undone; None if no hypothesis is likely.

    Tempo and pitch changed independently count if they match; of the many pairs of both, one always
    fits a little, and would hide the measures of the single change.
    """
    single = best_hypothesis(reference, candidate)
    joint = best_joint_hypothesis(reference, candidate, single)
    if joint is not None:
        evidence = _judge_hypothesis(reference, candidate, limits, joint)
        if evidence is not None and evidence.verdict == "variant":
            return evidence
    return None if single is None else _judge_hypothesis(reference, candidate, limits, single)


def _judge_hypothesis(
    reference: Features, candidate: Features, limits: MatchThresholds, found: ScoredHypothesis
) -> PairEvidence | None:
    if found.share < _LEAST_SHARE:
        return None
    hypothesis = found.hypothesis
    undone = undo(candidate, hypothesis)

    def judge(segment: Segment, block: Block) -> _JudgedBlock:
        match = _match(reference, undone, block)
        agreement = match.share * _variant_weight(hypothesis, match)
        if block_meets_rule(segment, block, limits):
            judged = _judge_by_tones(segment, block, match, agreement, limits)
        else:
            judged = _judge_block(segment, block, agreement, _RULE_NOT_MET)
        return replace(judged, score=max(0.0, judged.score - COMPOSITE.variant_penalty))

    best = _most_credible(reference, undone, limits, judge)
    if best is None:
        return None
    is_variant = _is_match(best, limits)
    return replace(
        _evidence(best),
        verdict="variant" if is_variant else "rejected",
        reason=_reason(best, is_variant, f"{hypothesis.family}_variant"),
        candidate_start_s=float(best.block.candidate_frame * HOP_S / hypothesis.tempo),
        speed=round(float(hypothesis.tempo), 4),
        semitones=round(float(hypothesis.semitones), 3),
    )


def _most_credible(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    judge: Callable[[Segment, Block], _JudgedBlock],
) -> _JudgedBlock | None:
    """Prefer a sufficient whole match, else the best score under a rule that is met."""
    judged = []
    for segment, block in _blocks(reference, candidate, limits):
        one = judge(segment, block)
        if segment == "whole" and _is_match(one, limits):
            return one
        judged.append(one)
    return max(judged, key=_credibility_key, default=None)


def _credibility_key(judged: _JudgedBlock) -> tuple[bool, bool, float]:
    """Sort key: no objection first, then any other objection than distances above the limits."""
    return (judged.objection is None, judged.objection != _RULE_NOT_MET, judged.score)


def _is_drifting(match: PeakMatch) -> bool:
    return can_be_surpassed(match.share) and explains_better(drifting_share(match), match.share)


def _harmonic_share(match: PeakMatch, block: Block) -> float:
    """Return the share of agreeing peaks, 0 without harmonic correlation.

    The peaks of a constant tone agree with any other occurrence of that tone.
    """
    return match.share if block.chroma > 0 else 0.0


def _judge_by_tones(
    segment: Segment, block: Block, match: PeakMatch, agreement: float, limits: MatchThresholds
) -> _JudgedBlock:
    """Weight the agreement by steady tones: a shared voice or crowd is not shared music."""
    weight = tonal_weight(tonal_balance(match))
    judged = _judge_block(segment, block, weight * agreement, None)
    is_shared_voice = weight == 0.0 and _is_match(
        _judge_block(segment, block, agreement, None), limits
    )
    return replace(judged, objection="tones_differ") if is_shared_voice else judged


def _blocks(
    reference: Features, candidate: Features, limits: MatchThresholds
) -> list[tuple[Segment, Block]]:
    alignment = align(
        reference.centred,
        candidate.centred,
        window_s=limits.local_window_s,
        least_window_s=limits.local_overlap_s,
        least_overlap_s=limits.whole_overlap_s,
    )
    found: list[tuple[Segment, Block | None]] = [
        ("whole", alignment.whole),
        ("local", alignment.local),
    ]
    return [(segment, block) for segment, block in found if block is not None]


def _match(reference: Features, candidate: Features, block: Block) -> PeakMatch:
    return match_peaks(
        reference.peaks,
        candidate.peaks,
        lag=2 * (block.reference_frame - block.candidate_frame),
        first_frame=2 * block.candidate_frame,
        last_frame=2 * (block.candidate_frame + block.frames),
    )


def _variant_weight(hypothesis: Hypothesis, match: PeakMatch) -> float:
    """Return the weight of peak agreement for a variant.

    Time stretching destroys phases; only a plain speed change keeps them. For a slight edit the
    phases must agree as in an unchanged sound, or every cover would be a slight variant.
    """
    certainty = phase_certainty(match) if hypothesis.family == "speed" else 0.0
    slight, clear = COMPOSITE.without_phase, COMPOSITE.variant_without_phase
    return phase_weight(certainty, least=slight if hypothesis.is_slight else clear)


def _judge_block(
    segment: Segment, block: Block, agreement: float, objection: str | None
) -> _JudgedBlock:
    return _JudgedBlock(
        segment=segment,
        block=block,
        agreement=agreement,
        score=composite_score(block.chroma, block.mfcc, agreement),
        objection=objection,
    )


def _is_match(judged: _JudgedBlock, limits: MatchThresholds) -> bool:
    return judged.objection is None and judged.score >= limits.match_threshold


def _reason(judged: _JudgedBlock, is_enough: bool, accepted: str) -> str:
    return accepted if is_enough else judged.objection or "score_below_threshold"


def _evidence(judged: _JudgedBlock) -> PairEvidence:
    """Convert to evidence; reduce the score if no rule is met, so that it never contradicts.

    Values become plain floats because JSON encoders reject NumPy floats.
    """
    share = 1.0 if judged.objection is None else COMPOSITE.unmet_rule
    return PairEvidence(
        verdict="rejected",
        reason="",
        segment=judged.segment,
        chroma_distance=float(judged.block.chroma_distance),
        mfcc_distance=float(judged.block.mfcc_distance),
        overlap_s=float(judged.block.overlap_s),
        reference_start_s=float(judged.block.reference_frame * HOP_S),
        candidate_start_s=float(judged.block.candidate_frame * HOP_S),
        peak_agreement=float(judged.agreement),
        score=float(share * judged.score),
        speed=1.0,
        semitones=0.0,
    )
