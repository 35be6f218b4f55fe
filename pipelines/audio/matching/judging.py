"""Judge one pair of sounds: unchanged, a few common seconds, and with a hypothesized edit undone.

Each public function chooses blocks of both sounds, judges them and returns the evidence of the most
credible one. Not here: choosing pairs, groups of pairs (`verify.py`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipelines.audio.features.sound_features import FINE_HOP_S, HOP_S, Features, Peaks
from pipelines.audio.matching import scoring, search
from pipelines.audio.matching.agreement import (
    NO_NOTES,
    CommonStretch,
    NoteCoherence,
    PeakMatch,
    common_stretches,
    drifting_share,
    is_partly_common,
    match_peaks,
    note_coherence,
    overlap_coherence,
    phase_certainty,
    tempo_apart_from_pitch,
    tone_agreement,
)
from pipelines.audio.matching.alignment import Block, align, block_at, overlap
from pipelines.audio.matching.delay_path import DelayPath, follow_delay, with_drift_undone
from pipelines.audio.matching.hypotheses import Hypothesis, undo, within_band
from pipelines.audio.matching.shared_parts import (
    Residue,
    common_piece,
    end_sound,
    measure_residue,
)
from warehouse.records.evidence import (
    EDIT_OVERLAP_S,
    EXCERPT_OVERLAP_S,
    MatchThresholds,
    PairEvidence,
    Segment,
    SharedPart,
    meets_limit,
    variant_kind,
)

TONES_DIFFER = "tones_differ"
_TEMPO_DRIFTS = "tempo_drifts"
_RULE_NOT_MET = "distances_above_limits"
_TOO_SHORT = "common_part_too_short"
_LEAST_MEASURED_S = 1.8  # two seconds whose first and last peaks lie inside them
SURE_EXCESS = 8.0  # of votes of peaks; unrelated sounds reach about 4
_BESIDE_FRAMES = round(1.0 / FINE_HOP_S)
_FEWEST_BESIDE = 60  # peaks, of which unrelated music has a few in common
_LEAST_SHARE = 0.03  # below this, a hypothesis cannot be distinguished from chance
LEAST_EDIT_S = 0.8 * EDIT_OVERLAP_S  # what four seconds are at another speed


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedBlock:
    """One block with its measures.

    `objection` is the reason it does not count, if any, and `shared_part` what is common although
    the sounds are two songs. `speed` is that of the candidate on average, if its delay says so.
    """

    segment: Segment
    block: Block
    agreement: float
    score: float
    objection: str | None
    shared_part: SharedPart | None = None
    speed: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEdits:
    """The evidence of the likeliest edit, None if none is likely.

    `has_tried_both` says whether tempo and pitch changed independently were searched.
    """

    evidence: PairEvidence | None
    has_tried_both: bool


def judge_unchanged(
    reference: Features, candidate: Features, limits: MatchThresholds
) -> PairEvidence:
    """Apply both rules to the unchanged sounds."""

    def judge(segment: Segment, block: Block) -> _JudgedBlock:
        is_met = scoring.block_meets_rule(segment, block, limits)
        return _judge_unchanged_block(reference, candidate, limits, segment, block, is_met=is_met)

    best = _most_credible(reference, candidate, limits, judge, least_s=limits.local_overlap_s)
    if best is None:
        return PairEvidence(verdict="not_comparable", reason="overlap_too_short")
    is_confirmed = _is_match(best, limits)
    return replace(
        _evidence(best),
        verdict="confirmed" if is_confirmed else "rejected",
        reason=_reason(best, is_confirmed, f"{best.segment}_rule_met"),
    )


def judge_windows(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    stretches: Sequence[CommonStretch],
) -> PairEvidence | None:
    """Apply the local rule to windows of stretches that peaks found; None if none is accepted.

    Under a loud voice, chroma and MFCC may choose another window, or another alignment. If none is
    confirmed, one along which the speed drifts away makes a variant.
    """
    size, drifting = round(limits.local_window_s / HOP_S), None
    for stretch in stretches:
        first, last, lag = _overlap(reference, candidate, stretch)
        if last - first < size:
            continue
        # Windows at the start, the middle and the end of the stretch, moved into the overlap.
        latest = last - size
        start, end = stretch.first_frame // 2, stretch.last_frame // 2 - size
        places = {min(max(place, first), latest) for place in (start, (start + end) // 2, end)}
        for place in sorted(places):
            block = block_at(reference.centred, candidate.centred, place + lag, place, size)
            if not scoring.block_meets_rule("local", block, limits):
                continue
            judged = _judge_unchanged_block(
                reference, candidate, limits, "local", block, is_met=True
            )
            if _is_match(judged, limits):
                return replace(_evidence(judged), verdict="confirmed", reason="local_rule_met")
            if judged.speed != 1.0 and drifting is None:
                drifting = _drifting_variant(judged, limits)
    return drifting


def _drifting_variant(judged: _JudgedBlock, limits: MatchThresholds) -> PairEvidence | None:
    """Return the evidence of a variant with the speed that the clocks have over this block."""
    score = max(0.0, judged.score - scoring.COMPOSITE.variant_penalty)
    variant = replace(judged, score=score, objection=None)
    if not _is_match(variant, limits):
        return None
    return replace(
        _evidence(variant),
        verdict="variant",
        reason="speed_variant",
        speed=round(judged.speed, 4),
        semitones=round(12 * math.log2(judged.speed), 3),
    )


def judge_excerpt(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    stretches: Sequence[CommonStretch],
) -> PairEvidence | None:
    """Judge common stretches of 2 to 5.5 s of the unchanged sounds; None if there is none.

    Too short for the rules of a confirmation, such a stretch makes a variant. Its distances must
    meet the limits of the local rule, and the sounds around it must not have foreign tones, which
    so few seconds may not have enough of.
    """
    least = round(EXCERPT_OVERLAP_S / HOP_S)
    most = math.ceil(limits.local_overlap_s / HOP_S) - 1
    judged = []
    for stretch in stretches:
        first, last, lag = _overlap(reference, candidate, stretch)
        first, last = max(first, stretch.first_frame // 2), min(last, stretch.last_frame // 2)
        if last - first > most:
            # Shortened around its middle: the rules of a confirmation judge longer overlaps.
            first = (first + last - most) // 2
            last = first + most
        if last - first < least:
            continue
        block = block_at(reference.centred, candidate.centred, first + lag, first, last - first)
        is_met = _has_local_distances(block, limits)
        foreign = _foreign_around(reference, candidate, limits, block) if is_met else 0.0
        excerpt = _judge_unchanged_block(
            reference, candidate, limits, "local", block, is_met=is_met, foreign=foreign
        )
        if _is_match(excerpt, limits):
            excerpt = _with_excerpt_objection(reference, candidate, excerpt)
        judged.append(excerpt)
    best = max(judged, key=_credibility, default=None)
    if best is None:
        return None
    is_variant = _is_match(best, limits)
    kind = "looped_excerpt" if _is_looped(best.block, stretches) else "excerpt"
    return replace(
        _evidence(best),
        verdict="variant" if is_variant else "rejected",
        reason=_reason(best, is_variant, f"{kind}_variant"),
    )


def _with_excerpt_objection(
    reference: Features, candidate: Features, judged: _JudgedBlock
) -> _JudgedBlock:
    """Object to a common stretch that is no excerpt of the music."""
    block = judged.block
    match = _match(reference.peaks, candidate.peaks, block)
    first, last = block.fine_range
    piece = common_piece(
        reference.peaks, candidate.peaks, lag=match.lag, first_frame=first, last_frame=last
    )
    if piece is None:
        return judged
    shared = end_sound(reference.peaks, candidate.peaks, piece)
    if shared is not None:
        return replace(judged, objection=shared, shared_part=shared)
    if piece.seconds_within(reference.frames, candidate.frames) < _LEAST_MEASURED_S:
        return replace(judged, objection=_TOO_SHORT)
    residue = measure_residue(
        reference, candidate, lag=match.lag, first_frame=first, last_frame=last
    )
    if scoring.share_no_excerpt(residue):
        return replace(judged, objection=TONES_DIFFER, shared_part=residue.part)
    return judged


def _overlap(
    reference: Features, candidate: Features, stretch: CommonStretch
) -> tuple[int, int, int]:
    """Return the first frame of the overlap in the candidate, the one after its last, the lag."""
    lag = round(stretch.lag / 2)
    return *overlap(reference.frames, candidate.frames, lag), lag


def _foreign_around(
    reference: Features, candidate: Features, limits: MatchThresholds, block: Block
) -> float:
    """Return the share of foreign tones in a local window around the block, at its alignment.

    Only where peaks agree: beside an excerpt, both sounds may have any other music.
    """
    lag = block.lag
    first, last = overlap(reference.frames, candidate.frames, lag)
    size = min(round(limits.local_window_s / HOP_S), last - first)
    middle = block.candidate_frame + block.frames // 2
    start = min(max(middle - size // 2, first), last - size)
    around = _match_frames(reference.peaks, candidate.peaks, lag, start, start + size)
    return tone_agreement(around).foreign


def _is_looped(block: Block, stretches: Sequence[CommonStretch]) -> bool:
    """Whether the block's part of the reference occurs in the candidate again, elsewhere.

    A weak stretch does not count: chance finds one in nearly any pair.
    """
    for stretch in stretches:
        if stretch.is_weak:
            continue
        first, last, lag = stretch.first_frame // 2, stretch.last_frame // 2, round(stretch.lag / 2)
        inside = _common(first + lag, last + lag, block.reference_frame, block.frames)
        again = _common(first, last, block.candidate_frame, block.frames)
        if inside >= block.frames / 2 and again < block.frames / 4:
            return True
    return False


def _common(first: int, last: int, start: int, count: int) -> int:
    """Return how many frames of first..last are among `count` frames from `start` on."""
    return min(last, start + count) - max(first, start)


def judge_edits(reference: Features, candidate: Features, limits: MatchThresholds) -> JudgedEdits:
    """Apply both rules with the likeliest hypothesis undone.

    Tempo and pitch changed independently count if they match; of the many pairs of both, one always
    fits a little, and would hide the measures of the single change.
    """
    single = search.best_hypothesis(reference, candidate, least_s=LEAST_EDIT_S)
    joint = search.best_joint_hypothesis(reference, candidate, single)
    evidence = _judge_hypothesis(reference, candidate, limits, joint)
    if evidence is None or evidence.verdict != "variant":
        evidence = _judge_hypothesis(reference, candidate, limits, single)
    return JudgedEdits(evidence=evidence, has_tried_both=not search.explains_enough(single))


def _judge_hypothesis(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    scored: search.ScoredHypothesis | None,
) -> PairEvidence | None:
    if scored is None or scored.share < _LEAST_SHARE:
        return None
    hypothesis = scored.hypothesis
    edit = _UndoneEdit.of(reference, candidate, scored)
    undone, is_speed = edit.candidate, hypothesis.family == "speed"

    def judge(segment: Segment, block: Block) -> _JudgedBlock:
        match = _match(edit.peaks, undone.peaks, block, of_sparser=True)
        if not _meets_edit_rule(segment, block, hypothesis.tempo, limits):
            judged = _judge_block(segment, block, edit.least * match.share, _RULE_NOT_MET)
        else:
            agreement = edit.agreement(segment, block, match, limits)
            judged = _judge_by_tones(segment, block, match, agreement, limits)
        judged = replace(judged, score=max(0.0, judged.score - scoring.COMPOSITE.variant_penalty))
        # A shorter excerpt or an end sound agrees for a while at many a slightly other tempo. So
        # does a drifting recording, but only until its changes of speed are undone.
        is_short = _is_match(judged, limits) and is_partly_common(match)
        if is_short and not (is_speed and not is_partly_common(with_drift_undone(match))):
            return replace(judged, objection=_TOO_SHORT)
        if not hypothesis.is_slight:
            return judged
        return _with_shared_part(reference, undone, match, judged, limits)

    best = _most_credible(reference, undone, limits, judge, least_s=LEAST_EDIT_S)
    if best is None:
        return None
    is_variant = _is_match(best, limits)
    evidence = replace(
        _evidence(best),
        verdict="variant" if is_variant else "rejected",
        candidate_start_s=float(best.block.candidate_frame * HOP_S / hypothesis.tempo),
        speed=round(float(hypothesis.tempo), 4),
        semitones=round(float(hypothesis.semitones), 3),
    )
    reason = _reason(best, is_variant, f"{variant_kind(evidence)}_variant")
    return replace(evidence, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _UndoneEdit:
    """Both sounds with a hypothesized edit of the candidate undone.

    Attributes:
        hypothesis: The edit.
        peaks: Peaks of the reference that the candidate may have, too.
        candidate: Features of the candidate, undone.
        notes: How well notes repeat over all that overlaps; not measured for a slight edit, nor
            where sounds were stretched, which destroys the phases.
        stretching: How sure it is that tempo and pitch were changed independently, 0 to 1.
    """

    hypothesis: Hypothesis
    peaks: Peaks
    candidate: Features
    notes: NoteCoherence
    stretching: float

    @classmethod
    def of(
        cls, reference: Features, candidate: Features, scored: search.ScoredHypothesis
    ) -> "_UndoneEdit":
        hypothesis = scored.hypothesis
        undone = undo(candidate, hypothesis)
        peaks = within_band(reference.peaks, hypothesis.common_band_hz)
        notes, stretching = NO_NOTES, 1.0
        if hypothesis.family == "speed" or hypothesis.is_slight:
            match = _match_overlap(peaks, undone.peaks, scored.lag)
            apart = hypothesis.tempo_apart_from_pitch + tempo_apart_from_pitch(match)
            stretching = scoring.sureness_of_stretching(abs(apart), is_slight=hypothesis.is_slight)
            if not hypothesis.is_slight:
                notes = overlap_coherence(match, undone.peaks)
        return cls(
            hypothesis=hypothesis,
            peaks=peaks,
            candidate=undone,
            notes=notes,
            stretching=stretching,
        )

    @property
    def least(self) -> float:
        """Weight of peak agreement where nothing else speaks for the recording."""
        is_speed = self.hypothesis.family == "speed"
        return scoring.least_weight_of_edit(keeps_phases=is_speed or self.hypothesis.is_slight)

    def agreement(
        self, segment: Segment, block: Block, match: PeakMatch, limits: MatchThresholds
    ) -> float:
        """Return the agreement of the peaks, weighted by phases or by the instruments."""
        agreement = 0.0
        if self.hypothesis.family == "speed":
            sureness = max(
                scoring.sureness_after_speed(self.notes, match.share),
                _phase_sureness(segment, match, note_coherence(match)),
            )
            agreement = scoring.weighted_agreement(match.share, sureness, least=self.least)
            if _depends_on_phases(segment, block, match, agreement, limits):
                path = _likeliest_path(match, self.candidate.peaks)
                agreement = max(agreement, _agreement_along(path, match, least=self.least))
        same = self.stretching * scoring.sureness_of_instruments(block, tone_agreement(match))
        return max(agreement, match.share * scoring.phase_weight(same, least=self.least))


def _meets_edit_rule(segment: Segment, block: Block, tempo: float, limits: MatchThresholds) -> bool:
    """Whether the block meets the rule of its segment; a local one may be as short as 4 s."""
    longer_s = block.overlap_s / min(1.0, tempo)
    if segment == "local" and meets_limit("overlap_s", longer_s, EDIT_OVERLAP_S):
        return _has_local_distances(block, limits)
    return scoring.block_meets_rule(segment, block, limits)


def _has_local_distances(block: Block, limits: MatchThresholds) -> bool:
    return meets_limit(
        "chroma_distance", block.chroma_distance, limits.local_chroma_distance
    ) and meets_limit("mfcc_distance", block.mfcc_distance, limits.local_mfcc_distance)


def _most_credible(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    judge: Callable[[Segment, Block], _JudgedBlock],
    *,
    least_s: float,
) -> _JudgedBlock | None:
    """Judge the aligned blocks: prefer a sufficient whole match, else the best score under a rule
    that is met.

    Sounds that are shorter than the local window, but at least `least_s`, are compared as a whole.
    """
    alignment = align(
        reference.centred,
        candidate.centred,
        window_s=limits.local_window_s,
        least_window_s=min(least_s, limits.local_overlap_s),
        least_overlap_s=limits.whole_overlap_s,
    )
    judged = []
    if alignment.whole is not None:
        whole = judge("whole", alignment.whole)
        if _is_match(whole, limits):
            return whole
        judged.append(whole)
    if alignment.local is not None:
        judged.append(judge("local", alignment.local))
    return max(judged, key=_credibility, default=None)


def _credibility(judged: _JudgedBlock) -> tuple[bool, bool, float]:
    """Sort key: no objection first, then any other objection than distances above the limits."""
    return (judged.objection is None, judged.objection != _RULE_NOT_MET, judged.score)


def _judge_unchanged_block(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    segment: Segment,
    block: Block,
    *,
    is_met: bool,
    foreign: float = 0.0,
) -> _JudgedBlock:
    """Judge a block of unchanged sounds.

    Args:
        reference: Features of the reference.
        candidate: Features of the candidate.
        limits: Limits of the matcher.
        segment: The rule that judges the block.
        block: The block.
        is_met: Whether its distances meet the rule.
        foreign: Least share of foreign tones.
    """
    match = _match(reference.peaks, candidate.peaks, block)
    if not is_met:
        # The peaks of a constant tone agree with any other occurrence of that tone, so they count
        # only with harmonic correlation.
        share = match.share if block.chroma > 0 else 0.0
        return _judge_block(segment, block, share, _RULE_NOT_MET)

    agreement, speed = _unchanged_agreement(segment, block, match, candidate.peaks, limits)
    judged = _judge_by_tones(segment, block, match, agreement, limits, foreign=foreign)
    if speed != 1.0 and _is_match(judged, limits):
        return replace(judged, objection=_TEMPO_DRIFTS, speed=speed)

    # Another tempo crosses the right lag briefly: following the drift then finds more peaks.
    if scoring.can_be_surpassed(match.share) and scoring.explains_better(
        drifting_share(match), match.share
    ):
        return replace(judged, objection=_TEMPO_DRIFTS)
    is_long = segment == "local" and block.overlap_s >= limits.local_overlap_s
    if is_long and _is_match(judged, limits) and is_partly_common(match):
        return replace(judged, objection=_TOO_SHORT)
    return _with_shared_part(reference, candidate, match, judged, limits)


def _unchanged_agreement(
    segment: Segment, block: Block, match: PeakMatch, candidate: Peaks, limits: MatchThresholds
) -> tuple[float, float]:
    """Return the agreement of the peaks, weighted by phases, and the candidate's speed.

    Three explanations of the phases are tried, the cheapest first: one delay, notes as a room
    leaves them, and a path of the delay.
    """
    # Agreement counts least where the notes contradict it.
    coherence = note_coherence(match)
    against, without = scoring.COMPOSITE.against_phase, scoring.COMPOSITE.without_phase
    least = against + (without - against) * scoring.trust_in_delay(coherence)
    sureness = _phase_sureness(segment, match, coherence)
    agreement, speed = scoring.weighted_agreement(match.share, sureness, least=least), 1.0
    if _depends_on_phases(segment, block, match, agreement, limits):
        notes = overlap_coherence(match, candidate)
        sureness = scoring.sureness_of_notes(notes, match.share)
        by_notes = scoring.weighted_agreement(match.share, sureness, least=least)
        agreement = max(agreement, by_notes)
    if _depends_on_phases(segment, block, match, agreement, limits):
        path = _likeliest_path(match, candidate)
        agreement = max(agreement, _agreement_along(path, match, least=least))
        speed = 1.0 if scoring.is_own_speed(path) else 1 + path.clock_ratio
    return agreement, speed


def _judge_by_tones(
    segment: Segment,
    block: Block,
    match: PeakMatch,
    agreement: float,
    limits: MatchThresholds,
    *,
    foreign: float = 0.0,
) -> _JudgedBlock:
    """Weight the agreement by steady tones: a shared voice, crowd or part is not shared music."""
    tones = tone_agreement(match)
    weight = scoring.tonal_weight(replace(tones, foreign=max(tones.foreign, foreign)))
    judged = _judge_block(segment, block, weight * agreement, None)
    is_other_music = weight == 0.0 and _is_match(
        _judge_block(segment, block, agreement, None), limits
    )
    return replace(judged, objection=TONES_DIFFER) if is_other_music else judged


def _with_shared_part(
    reference: Features,
    candidate: Features,
    match: PeakMatch,
    judged: _JudgedBlock,
    limits: MatchThresholds,
) -> _JudgedBlock:
    """Object where the sounds are two songs that share a part, and name it.

    Tones that differ are no objection where one sound hardly has any alone, or hides those of the
    other. An excerpt is too short to tell.
    """
    block = judged.block
    has_other_tones = judged.objection == TONES_DIFFER
    if block.overlap_s < limits.local_overlap_s:
        return judged
    if not has_other_tones and not _is_match(judged, limits):
        return judged
    first, last = block.fine_range
    residue = measure_residue(
        reference, candidate, lag=match.lag, first_frame=first, last_frame=last
    )
    is_part = scoring.are_two_songs(residue, match.share)
    if not is_part and _is_match(judged, limits):
        throughout = _measure_throughout(reference, candidate, match.lag, first, last)
        if throughout is not None:
            residue = throughout[0]
            is_part = scoring.are_two_songs_throughout(*throughout, match.share)
    if is_part:
        return replace(judged, objection=TONES_DIFFER, shared_part=residue.part)
    is_hidden = has_other_tones and scoring.hides_tones(residue)
    return replace(judged, objection=None) if is_hidden else judged


def shared_part(reference: Features, candidate: Features) -> SharedPart | None:
    """Return what two rejected sounds share at the likeliest alignment of their peaks, if a part.

    Unrelated sounds have no such alignment, and notes that others play have other phases.
    """
    stretches = common_stretches(reference.peaks, candidate.peaks)
    if not stretches:
        return None
    stretch = stretches[0]
    first, last = stretch.first_frame, stretch.last_frame
    match = match_peaks(
        reference.peaks, candidate.peaks, lag=stretch.lag, first_frame=first, last_frame=last
    )
    whole = _match_overlap(reference.peaks, candidate.peaks, match.lag)
    if not scoring.is_one_recording(phase_certainty(whole)):
        return None
    if stretch.excess >= SURE_EXCESS:
        residue = measure_residue(
            reference, candidate, lag=match.lag, first_frame=first, last_frame=last
        )
        if scoring.are_two_songs(residue, match.share):
            return residue.part
        piece = common_piece(
            reference.peaks, candidate.peaks, lag=match.lag, first_frame=first, last_frame=last
        )
        end = None if piece is None else end_sound(reference.peaks, candidate.peaks, piece)
        if end is not None:
            return end
    throughout = _measure_throughout(reference, candidate, match.lag, first, last)
    if throughout is None or not scoring.share_a_part_throughout(*throughout):
        return None
    return throughout[0].part


def _measure_throughout(
    reference: Features, candidate: Features, lag: int, first: int, last: int
) -> tuple[Residue, float] | None:
    """Return what each sound has alone in all that overlaps, and the share of peaks that agree
    beside the candidate's fine frames first..last.

    A lead is heard now and then, so it may take all that overlaps to tell that each sound has other
    music. None where beside those frames the lag is another one, as where the speed drifts, or
    where nothing is left there.
    """
    begin, end = max(0, -lag), min(2 * candidate.frames, 2 * reference.frames - lag)
    frames = candidate.peaks.frames
    is_beside = (frames < first - _BESIDE_FRAMES) | (frames >= last + _BESIDE_FRAMES)
    is_beside &= (frames >= begin) & (frames < end)
    if np.count_nonzero(is_beside) < _FEWEST_BESIDE:
        return None
    beside = match_peaks(
        reference.peaks,
        candidate.peaks.at(is_beside),
        lag=lag,
        first_frame=begin,
        last_frame=end,
    )
    if abs(beside.lag - lag) > 1:
        return None
    residue = measure_residue(reference, candidate, lag=lag, first_frame=begin, last_frame=end)
    return residue, beside.share


def _match(
    reference: Peaks, candidate: Peaks, block: Block, *, of_sparser: bool = False
) -> PeakMatch:
    first, last = block.candidate_frame, block.candidate_frame + block.frames
    return _match_frames(reference, candidate, block.lag, first, last, of_sparser=of_sparser)


def _match_overlap(reference: Peaks, candidate: Peaks, lag: int) -> PeakMatch:
    """Match all peaks that overlap if the candidate begins `lag` fine frames later."""
    last = int(reference.frames.max(initial=0)) + 1 - lag
    return match_peaks(reference, candidate, lag=lag, first_frame=-lag, last_frame=last)


def _match_frames(
    reference: Peaks,
    candidate: Peaks,
    lag: int,
    first: int,
    last: int,
    *,
    of_sparser: bool = False,
) -> PeakMatch:
    """Match the peaks of the candidate's frames first..last to those `lag` frames later."""
    # Two fine frames are one frame.
    return match_peaks(
        reference,
        candidate,
        lag=2 * lag,
        first_frame=2 * first,
        last_frame=2 * last,
        of_sparser=of_sparser,
    )


def _phase_sureness(segment: Segment, match: PeakMatch, coherence: NoteCoherence) -> float:
    """Return how surely phases agree as those of one recording, 0 to 1: by notes, or by a delay."""
    by_notes = scoring.sureness_of_notes(coherence, match.share) if segment == "whole" else 0.0
    trust = scoring.trust_in_delay(coherence)
    # The search for a delay costs most, so it is left out where notes alone decide.
    if by_notes == 1.0 or trust == 0.0:
        return by_notes
    return max(by_notes, trust * scoring.sureness_of_delay(phase_certainty(match)))


def _depends_on_phases(
    segment: Segment, block: Block, match: PeakMatch, agreement: float, limits: MatchThresholds
) -> bool:
    """Whether the block matches if its phases agree, and not with the agreement that it has so far.

    Looking further at the phases costs as much as the rest of the comparison, so it is left to
    local windows, and to pairs whose peaks agree enough.
    """
    if segment != "local" or block.overlap_s < limits.local_overlap_s:
        return False
    is_match, can_match = (
        _is_match(_judge_block(segment, block, reached, None), limits)
        for reached in (agreement, scoring.weighted_agreement(match.share, 1.0, least=1.0))
    )
    return can_match and not is_match


def _likeliest_path(match: PeakMatch, candidate: Peaks) -> DelayPath:
    """Return the path of the delay in a window, or of the whole overlap at its alignment.

    Over twenty seconds, chance and players explain less, but a drift leaves the alignment.
    """
    path = follow_delay(match)
    if scoring.sureness_of_path(path) == 1.0:
        return path
    whole_path = follow_delay(replace(match, candidate=candidate))
    return max(path, whole_path, key=lambda likely: likely.evidence)


def _agreement_along(path: DelayPath, match: PeakMatch, *, least: float) -> float:
    """Return the agreement of peaks along a path of the delay, weighted by how sure the path is."""
    sureness = scoring.sureness_of_path(path)
    return scoring.weighted_agreement(min(1.0, match.share * path.gain), sureness, least=least)


def _judge_block(
    segment: Segment, block: Block, agreement: float, objection: str | None
) -> _JudgedBlock:
    return _JudgedBlock(
        segment=segment,
        block=block,
        agreement=agreement,
        score=scoring.composite_score(block.chroma, block.mfcc, agreement),
        objection=objection,
    )


def _is_match(judged: _JudgedBlock, limits: MatchThresholds) -> bool:
    return judged.objection is None and judged.score >= limits.match_threshold


def _reason(judged: _JudgedBlock, is_enough: bool, accepted: str) -> str:
    return accepted if is_enough else judged.objection or scoring.NOT_ENOUGH


def _evidence(judged: _JudgedBlock) -> PairEvidence:
    """Convert to rejected evidence; the score is reduced if there is an objection.

    So the score never contradicts the verdict, which the caller replaces if the block is a match.
    Values become plain floats because JSON encoders reject NumPy floats.
    """
    factor = 1.0 if judged.objection is None else scoring.COMPOSITE.unmet_rule
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
        score=float(factor * judged.score),
        speed=1.0,
        semitones=0.0,
        shared_part=judged.shared_part,
    )
