"""What a rejected pair is likely to be: a cover, or something a person should hear. Never a match.

Pure rules on the numbers of the evidence, chosen on the benchmark's first part; the accuracy card
says how often they are right.
"""

from dataclasses import dataclass, replace

from pipelines.audio.matching.scoring import COMPOSITE
from warehouse.records.evidence import Limits, Observation, PairEvidence, meets_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What speaks for which observation. Distances: lower is better."""

    cover_chroma_distance: float = 0.5
    cover_timbre_gap: float = 0.15
    cover_peak_agreement: float = 0.06
    score_below_threshold: float = 0.2
    chroma_distance_above_limit: float = 0.02


SIGNS = Signs()


def observed(evidence: PairEvidence, limits: Limits) -> PairEvidence:
    """The evidence with the observation that its numbers allow; only a rejected pair has one.

    `likely_cover`: the harmony runs together while the timbre does so much less and hardly a
    spectral peak agrees. `uncertain`: close to a match, or only a voice or a crowd is shared.
    """
    if evidence.verdict != "rejected" or evidence.score is None:
        return evidence
    return replace(evidence, observation=_observation(evidence, limits))


def _observation(evidence: PairEvidence, limits: Limits) -> Observation | None:
    if evidence.reason == "tones_differ":
        return "uncertain"
    if _looks_like_cover(evidence, limits):
        return "likely_cover"
    return "uncertain" if _is_close(evidence, limits) else None


def _looks_like_cover(evidence: PairEvidence, limits: Limits) -> bool:
    chroma, mfcc = evidence.chroma_distance, evidence.mfcc_distance
    if chroma is None or mfcc is None or evidence.peak_agreement is None:
        return False
    return (
        _holds(evidence, limits)
        and chroma <= SIGNS.cover_chroma_distance
        and mfcc - chroma >= SIGNS.cover_timbre_gap
        and evidence.peak_agreement < SIGNS.cover_peak_agreement
    )


def _is_close(evidence: PairEvidence, limits: Limits) -> bool:
    """The score, had the rule held, is little below the threshold, and the rule nearly holds."""
    score, chroma = evidence.score, evidence.chroma_distance
    if score is None or chroma is None:
        return False
    full = score if _holds(evidence, limits) else score / COMPOSITE.unmet_rule
    furthest = limits.local_chroma_distance + SIGNS.chroma_distance_above_limit
    return chroma <= furthest and full >= limits.match_threshold - SIGNS.score_below_threshold


def _holds(evidence: PairEvidence, limits: Limits) -> bool:
    chroma, mfcc, overlap_s = evidence.chroma_distance, evidence.mfcc_distance, evidence.overlap_s
    if evidence.segment is None or chroma is None or mfcc is None or overlap_s is None:
        return False
    return meets_rule(
        evidence.segment,
        chroma_distance=chroma,
        mfcc_distance=mfcc,
        overlap_s=overlap_s,
        limits=limits,
    )
