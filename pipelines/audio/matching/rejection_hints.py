"""Hints on rejected pairs, for example that it is likely a cover. Never a match.

Pure rules on the measures of the evidence, tuned on the development part of the benchmark; the
accuracy card reports how often they are right.
"""

from dataclasses import replace

from pipelines.audio.matching.scoring import COMPOSITE
from warehouse.records.evidence import MatchThresholds, PairEvidence, RejectionLabel, meets_rule

_COVER_CHROMA_DISTANCE = 0.5
_COVER_TIMBRE_GAP = 0.15
_COVER_PEAK_AGREEMENT = 0.06
_SCORE_BELOW_THRESHOLD = 0.2
_CHROMA_DISTANCE_ABOVE_LIMIT = 0.02


def add_rejection_hint(evidence: PairEvidence, limits: MatchThresholds) -> PairEvidence:
    """Return the evidence with its `observation` set; only rejected pairs have one.

    `likely_cover`: the harmony agrees, the timbre much less, and hardly any spectral peak does.
    `shared_voice`: only a voice or a crowd is shared, as in a mash-up. `uncertain`: close to a
    match. That a candidate is reversed takes its peaks to see (`peak_votes.py`).
    """
    if evidence.verdict != "rejected" or evidence.score is None:
        return evidence
    return replace(evidence, observation=_observation(evidence, limits))


def _observation(evidence: PairEvidence, limits: MatchThresholds) -> RejectionLabel | None:
    if evidence.reason == "tones_differ":
        return "shared_voice"
    if _looks_like_cover(evidence, limits):
        return "likely_cover"
    return "uncertain" if _is_close(evidence, limits) else None


def _looks_like_cover(evidence: PairEvidence, limits: MatchThresholds) -> bool:
    chroma, mfcc = evidence.chroma_distance, evidence.mfcc_distance
    if chroma is None or mfcc is None or evidence.peak_agreement is None:
        return False
    return (
        _holds(evidence, limits)
        and chroma <= _COVER_CHROMA_DISTANCE
        and mfcc - chroma >= _COVER_TIMBRE_GAP
        and evidence.peak_agreement < _COVER_PEAK_AGREEMENT
    )


def _is_close(evidence: PairEvidence, limits: MatchThresholds) -> bool:
    """Whether the score before the unmet-rule penalty and the chroma distance are near a match."""
    score, chroma = evidence.score, evidence.chroma_distance
    if score is None or chroma is None:
        return False
    full = score if _holds(evidence, limits) else score / COMPOSITE.unmet_rule
    furthest = limits.local_chroma_distance + _CHROMA_DISTANCE_ABOVE_LIMIT
    return chroma <= furthest and full >= limits.match_threshold - _SCORE_BELOW_THRESHOLD


def _holds(evidence: PairEvidence, limits: MatchThresholds) -> bool:
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
