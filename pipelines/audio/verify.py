"""Verdicts: one pair of sounds, and a candidate's sounds against a track's references.

What belongs here: validate, measure, decide. Not here: files, storage, which sounds to compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.audio.agreement import (
    TOLERANCE_HZ,
    drifting_share,
    match_peaks,
    phase_certainty,
)
from pipelines.audio.alignment import Block, align
from pipelines.audio.features import Features
from pipelines.audio.geometry import HOP_S
from pipelines.audio.peaks import Peaks
from pipelines.audio.scoring import (
    COMPOSITE,
    composite_score,
    explains_better,
    meets_rule,
    phase_weight,
)
from pipelines.audio.sounds import Heard, NotComparable, Sound
from pipelines.domain.evidence import Limits, PairEvidence, Segment, Verdict

MOST_REFERENCES = 3
MOST_CANDIDATES = 2
ENOUGH_SCORE = 0.9
"""A pair this sure needs no second opinion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair:
    """One compared pair of a group, by position in what was given."""

    reference_index: int
    candidate_index: int
    evidence: PairEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """The verdict over all pairs: that of `best`, the most credible pair."""

    verdict: Verdict
    reason: str
    best: GroupPair | None
    pairs: tuple[GroupPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    segment: Segment
    block: Block
    agreement: float
    score: float
    is_met: bool
    is_drifting: bool


def compare_pair(reference: Heard, candidate: Heard, *, limits: Limits) -> PairEvidence:
    """Compare two sounds as they are heard."""
    for role, heard in (("reference", reference), ("candidate", candidate)):
        if isinstance(heard, NotComparable):
            return PairEvidence(verdict="not_comparable", reason=f"{role}_{heard.reason}")
    assert isinstance(reference, Sound)
    assert isinstance(candidate, Sound)
    alignment = align(
        reference.features.centred,
        candidate.features.centred,
        window_s=limits.local_window_s,
        least_window_s=limits.local_overlap_s,
        least_overlap_s=limits.whole_overlap_s,
    )
    found: list[tuple[Segment, Block | None]] = [
        ("whole", alignment.whole),
        ("local", alignment.local),
    ]
    judged = [
        _judge(reference, candidate, segment, block, limits)
        for segment, block in found
        if block is not None
    ]
    if not judged:
        return PairEvidence(verdict="not_comparable", reason="overlap_too_short")
    return _evidence(_most_credible(judged, limits), limits)


def verify_group(
    references: Sequence[Heard], candidates: Sequence[Heard], *, limits: Limits
) -> GroupVerdict:
    """Compare up to two candidates with up to three references, the cleanest reference first.

    Stops at the first pair that is confirmed with a score of at least 0.9. Positions in the
    result are those of the arguments.
    """
    pairs: list[GroupPair] = []
    for reference_index in _cleanest_first(references)[:MOST_REFERENCES]:
        for candidate_index, candidate in enumerate(candidates[:MOST_CANDIDATES]):
            evidence = compare_pair(references[reference_index], candidate, limits=limits)
            pairs.append(
                GroupPair(
                    reference_index=reference_index,
                    candidate_index=candidate_index,
                    evidence=evidence,
                )
            )
            if evidence.verdict == "confirmed" and (evidence.score or 0.0) >= ENOUGH_SCORE:
                return _group_verdict(pairs)
    return _group_verdict(pairs)


def warm_up() -> None:
    """Load the compiled loops, which takes some 0.3 s once per process."""
    noise = np.random.default_rng(0).standard_normal((round(9 / HOP_S), 100))
    mel_db = noise[:, :64].astype(np.float16)
    peaks = Peaks(
        np.arange(100, dtype=np.int32),
        np.full(100, 440.0, dtype=np.float32),
        np.zeros(100, dtype=np.uint8),
    )
    features = Features(np.abs(noise[:, 64:]).astype(np.float16), mel_db, peaks)
    sound = Sound(
        sha256="",
        features=features,
        duration_s=features.duration_s,
        sample_rate_hz=0,
        codec="",
        library_version="",
    )
    compare_pair(sound, sound, limits=Limits())


def cleanliness(sound: Sound) -> float:
    """How good a reference a sound is, higher is better: steady spectral peaks each second.

    Music holds its frequencies, speech glides; so a peak counts when the same frequency peaks
    again within the next second.
    """
    peaks = sound.features.peaks
    if len(peaks.frames) == 0:
        return 0.0
    order = np.lexsort((peaks.frames, np.round(peaks.hertz / (4 * TOLERANCE_HZ))))
    frames, hertz = peaks.frames[order], peaks.hertz[order]
    is_again = (np.abs(np.diff(hertz)) < 2 * TOLERANCE_HZ) & (np.diff(frames) * HOP_S / 2 < 1.0)
    return float(np.count_nonzero(is_again) / sound.features.duration_s)


def _judge(
    reference: Sound, candidate: Sound, segment: Segment, block: Block, limits: Limits
) -> _Judged:
    match = match_peaks(
        reference.features.peaks,
        candidate.features.peaks,
        lag=2 * (block.reference_frame - block.candidate_frame),
        first_frame=2 * block.candidate_frame,
        last_frame=2 * (block.candidate_frame + block.frames),
    )
    is_met = meets_rule(segment, block, limits)
    agreement = match.share
    if is_met:  # dearer looks, for the few pairs that may still be confirmed
        agreement *= phase_weight(phase_certainty(match))
    return _Judged(
        segment=segment,
        block=block,
        agreement=agreement,
        score=composite_score(block.chroma, block.mfcc, agreement),
        is_met=is_met,
        is_drifting=is_met and explains_better(drifting_share(match), match.share),
    )


def _most_credible(judged: list[_Judged], limits: Limits) -> _Judged:
    """A whole match that is confirmed says most; else the best score under a rule that holds."""
    met = [one for one in judged if one.is_met and not one.is_drifting]
    for one in met:
        if one.segment == "whole" and one.score >= limits.match_threshold:
            return one
    return max(met or judged, key=lambda one: one.score)


def _evidence(judged: _Judged, limits: Limits) -> PairEvidence:
    is_met = judged.is_met and not judged.is_drifting
    score = judged.score if is_met else COMPOSITE.unmet_rule * judged.score
    is_confirmed = is_met and score >= limits.match_threshold
    reason = "tempo_drifts" if judged.is_met else "distances_above_limits"
    if is_met:
        reason = f"{judged.segment}_rule_met" if is_confirmed else "score_below_threshold"
    return PairEvidence(
        verdict="confirmed" if is_confirmed else "rejected",
        reason=reason,
        segment=judged.segment,
        chroma_distance=judged.block.chroma_distance,
        mfcc_distance=judged.block.mfcc_distance,
        overlap_s=judged.block.overlap_s,
        reference_start_s=judged.block.reference_frame * HOP_S,
        candidate_start_s=judged.block.candidate_frame * HOP_S,
        peak_agreement=judged.agreement,
        score=score,
        speed=1.0,
        semitones=0.0,
    )


def _cleanest_first(references: Sequence[Heard]) -> list[int]:
    def rank(index: int) -> tuple[float, int]:
        heard = references[index]
        return (-cleanliness(heard) if isinstance(heard, Sound) else float("inf"), index)

    return sorted(range(len(references)), key=rank)


def _group_verdict(pairs: list[GroupPair]) -> GroupVerdict:
    """The most credible pair decides; a pair that could not be checked counts only alone."""
    if not pairs:
        return GroupVerdict(
            verdict="not_comparable", reason="nothing_to_compare", best=None, pairs=()
        )
    checked = [pair for pair in pairs if pair.evidence.verdict != "not_comparable"]
    best = max(checked or pairs, key=_credibility)
    return GroupVerdict(
        verdict=best.evidence.verdict, reason=best.evidence.reason, best=best, pairs=tuple(pairs)
    )


def _credibility(pair: GroupPair) -> tuple[bool, float]:
    return (pair.evidence.verdict == "confirmed", pair.evidence.score or 0.0)
