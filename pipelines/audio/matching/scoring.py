"""Pure rules on the measures of a pair: composite score, weights, literal rules, rejection hints.

The limits come from the specification (`warehouse.records.evidence.MatchThresholds`); the weights
and the limits below were set by measurement on the development part of the benchmark. Numbers in,
numbers out. Not here: measuring, the verdict (`judging.py`).
"""

import math
from dataclasses import dataclass, replace

from pipelines.audio.matching.agreement import CERTAIN, NoteCoherence, ToneAgreement
from pipelines.audio.matching.alignment import Block
from pipelines.audio.matching.delay_path import DelayPath
from pipelines.audio.matching.shared_parts import Residue
from warehouse.records.evidence import (
    MatchThresholds,
    PairEvidence,
    RejectionLabel,
    Segment,
    meets_rule,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Weights of the composite score; `chroma`, `mfcc` and `peaks` add up to 1."""

    chroma: float = 0.1
    mfcc: float = 0.2
    peaks: float = 0.7
    peak_scale: float = 0.10
    without_phase: float = 0.10
    against_phase: float = 0.05
    stretched_without_phase: float = 0.25
    unmet_rule: float = 0.3
    variant_penalty: float = 0.04


COMPOSITE = Composite()

NOT_ENOUGH = "score_below_threshold"
"""The reason of a pair without objections."""

# Phases
_CHANCE_CERTAINTY = 3.25
_JUDGING_POTENTIAL = 3.0
_SURE_POTENTIAL = 10.0
_PLAYED_AGAIN, _HARDLY_AGAIN = 0.5, 0.75
_NOT_SURELY_ONE, _SURELY_ONE = 0.86, 0.91
_MOST_AFTER_ROOM = 0.75
_LEAST_DEVIATIONS = 5.0
_AT_SPEED_IN_ROOM, _SURELY_AT_SPEED = 0.45, 0.85
_HIDDEN, _HARDLY_HIDDEN = 0.5, 0.3
_ONE_CHANGE, _TWO_CHANGES = 0.9e-3, 1.3e-3
_PLAYED_EVENLY, _STRETCHED_SLIGHTLY = 3e-3, 4e-3
_PATH_OF_OTHERS, _PATH_OF_ONE = 3.6, 3.8
_MOST_CLOCK_RATIO = 0.0015

# Tones
_OF_TIMBRE, _OTHERS_PLAY, _SAME_PLAY = 1.5, 0.2, 0.35
_OTHER_TONES, _SAME_TONES = 0.5, 0.8
_ONE_SONG, _TWO_SONGS = 0.45, 0.6
_FEW_FOREIGN, _MANY_FOREIGN = 0.45, 0.55
_TWO_BY_TONES, _TWO_BY_LEVELS = -7.5, -9.9
_TWO_EXCERPTS = -6.4
_TWO_SENTENCES = -8.0
_SPEECH_HELD = 0.05
_BESIDE, _AS_MANY, _MORE_THAN_A_PRELUDE = 0.05, 0.4, 0.1
_SURELY_SHARED = 4.0
_HARDLY_BESIDE, _MUCH_FOREIGN, _MUCH_LOUDER = 0.03, 0.2, 0.008
_ONE_SIDED = 3.0
_STILL_STEADY = 0.7
_LEAST_LOUDER = 0.002  # steep low-passes, which leave low tones alone: 0.0002 in 19 of 20
_LEAST_UNDER_VOICE = 0.0007

# Which of two hypotheses explains more
_CLEARLY_MORE = 1.5
_CLEARLY_ABOVE = 0.1

# Rejection hints
_COVER_CHROMA_DISTANCE = 0.5
_COVER_TIMBRE_GAP = 0.15
_COVER_PEAK_AGREEMENT = 0.06
_SCORE_BELOW_THRESHOLD = 0.2
_CHROMA_DISTANCE_ABOVE_LIMIT = 0.02


def composite_score(chroma: float, mfcc: float, agreement: float) -> float:
    """Return S = 0.1 c + 0.2 m + 0.7 (1 - exp(-p / 0.10)) in 0..1, scaled to 1 for identity."""
    saturated = -math.expm1(-_unit(agreement) / COMPOSITE.peak_scale)
    full = -math.expm1(-1 / COMPOSITE.peak_scale)
    return (
        COMPOSITE.chroma * _unit(chroma)
        + COMPOSITE.mfcc * _unit(mfcc)
        + COMPOSITE.peaks * saturated / full
    )


def phase_weight(sureness: float, *, least: float) -> float:
    """Return the weight of peak agreement, `least` to 1, by how surely phases agree.

    Covers agree without phase. In unchanged sounds such agreement counts little, but not nothing,
    because strong noise destroys the phases of a recording. Where notes that repeat contradict it,
    even full agreement scores below 0.65.
    """
    return least + (1 - least) * sureness


def weighted_agreement(share: float, sureness: float, *, least: float) -> float:
    """Return the agreement of peaks, weighted by how surely their phases agree.

    Where they surely are the recording's, a small share is increased by half, up to 0.3: a voice, a
    noise or reverb has peaks of its own and hides others.
    """
    hidden = min(_HIDDEN * share, max(0.0, _HARDLY_HIDDEN - share))
    return (share + sureness * hidden) * phase_weight(sureness, least=least)


def least_weight_of_edit(*, keeps_phases: bool) -> float:
    """Return the weight of peak agreement without phase if an edit was undone.

    A change of speed keeps the phases, so they must agree as in an unchanged sound; for a slight
    edit, too, or every cover would be a slight variant. Stretching a sound destroys them.
    """
    return COMPOSITE.without_phase if keeps_phases else COMPOSITE.stretched_without_phase


def sureness_of_delay(certainty: float) -> float:
    """Return how sure it is, 0 to 1, that one delay explains all phases (`phase_certainty`)."""
    return _ramp(certainty, _CHANCE_CERTAINTY, CERTAIN)


def sureness_of_notes(coherence: NoteCoherence, share: float) -> float:
    """Return how sure it is, 0 to 1, that each tone has one angle, as a room leaves it.

    Unrelated angles of neighbouring tones mean that the sound is spread over more than the window
    of a peak, so some peaks are lost: if nearly all agree, no room explains such angles.

    Asked of the whole overlap: six seconds have too few different notes. On the development part,
    coherence is 0.92 or more in 121 of 126 simulated rooms (42 real recordings, clocks 0 to 0.05 %
    apart), whose share of agreeing peaks is at most 0.73. It is at most 0.85 in 80 scores by two
    sampled pianos, quantized to sixteenths at one loudness, which repeat the same few samples, and
    0.78 in 167 scores that are played less evenly; but 0.95 in six seconds of them.
    """
    if coherence.potential < _SURE_POTENTIAL or share > _MOST_AFTER_ROOM:
        return 0.0
    return _ramp(coherence.value, _NOT_SURELY_ONE, _SURELY_ONE)


def sureness_of_path(path: DelayPath) -> float:
    """Return how sure it is, 0 to 1, that the phases follow a path of the delay.

    Decided by `DelayPath.evidence`, the best of all local windows and overlaps of a pair. On the
    development part it has, at the 5th and 50th percentile of two pieces of 54 real recordings:
    4.2 and 8.3 under wow of 0.3 %; 3.7 and 8.0 of 0.4 %; 3.9 and 5.2 where each second begins up to
    5 ms early or late; 4.8 and 13 in a drift of 2 %. At most 1.2 in 200 scores of the reported part
    by two sampled pianos or two sound fonts in exact time. Of 192 scores of other seeds that the
    same instruments play again, each note some milliseconds off, 19 of 20 have at most 3.1, and
    seven are accepted with more than 3.6.
    """
    return _ramp(path.evidence, _PATH_OF_OTHERS, _PATH_OF_ONE)


def is_own_speed(path: DelayPath) -> bool:
    """Whether the candidate runs at the reference's speed on average over the block.

    Wow and resynchronisation return to it, and clocks differ by up to 0.1 % (film at another frame
    rate); what runs away further is another speed, hence a variant.
    """
    return abs(path.clock_ratio) <= _MOST_CLOCK_RATIO


def sureness_after_speed(coherence: NoteCoherence, share: float) -> float:
    """Return how sure it is, 0 to 1, that notes at another speed are those of the recording.

    Asked of the whole overlap. Reverb spreads a sound over more than the window of a peak: the more
    peaks are lost, the less the angles of the others repeat. So less coherence is asked for where a
    smaller share of the peaks agrees.

    On the development part it is enough in 90 of 108 real recordings that were slowed with reverb
    and in 215 of 218 at another speed, a quarter of them under a voice. It is at least 0.067 short
    in 144 scores that the same players or other sampled instruments played again and that were then
    sped or slowed. Two sampled pianos in exact time repeat the same few samples: 11 of 72 reach it.
    """
    if coherence.value * coherence.potential < _LEAST_DEVIATIONS:
        return 0.0
    enough = min(_SURELY_AT_SPEED, _AT_SPEED_IN_ROOM + share)
    return _ramp(coherence.value, enough - 0.1, enough)


def sureness_of_stretching(apart: float, *, is_slight: bool) -> float:
    """Return how sure it is, 0 to 1, that tempo and pitch were changed independently.

    Of what seems to be another speed, or of a slight edit (`tempo_apart_from_pitch`). Of 218 real
    recordings at another speed, 19 of 20 have at most 0.5e-3; of nine at a tempo of 1.12 and two
    semitones higher, which nearly is a speed, all have at least 0.98e-3, and eight at least 1.4e-3.

    What seems edited slightly may be the same instruments playing again: more is asked of it. Of 96
    scores that sound fonts play again, eight seem stretched slightly, by 1.0e-3 to 2.8e-3; of 215
    real recordings whose tempo was changed by 0.5 or 1 %, or their pitch by 0.1 semitones, all by
    at least 4.7e-3.
    """
    if is_slight:
        return _ramp(apart, _PLAYED_EVENLY, _STRETCHED_SLIGHTLY)
    return _ramp(apart, _ONE_CHANGE, _TWO_CHANGES)


def sureness_of_instruments(block: Block, tones: ToneAgreement) -> float:
    """Return how sure it is, 0 to 1, that the same instruments play.

    For what was stretched, which has no phases to compare. Other instruments keep the harmony and
    change the timbre, so their MFCC correlate much less than their chroma; a human voice lowers
    both. Most of its peaks are fleeting, so it hardly changes the share of steady peaks that agree.
    That share plus 1.5 times the difference of the correlations is 0.44 or more in 19 of 20 real
    recordings that were pitched or stretched (394), and 0.31 under human voices of 0 and 3 dB
    (150); of 141 scores by other sampled instruments, 19 of 20 have at most 0.24. The same players
    who play again are not told apart.
    """
    timbre = block.mfcc - block.chroma
    return _ramp(tones.steady + _OF_TIMBRE * timbre, _OTHERS_PLAY, _SAME_PLAY)


def trust_in_delay(coherence: NoteCoherence) -> float:
    """Return how far a delay that explains all phases is believed, 0 to 1.

    Notes that are played again by the same instruments, some milliseconds early or late, nearly
    follow one delay, but do not repeat a phase difference: coherence is at most 0.58 in 42 such
    blocks of the development tracks, and 0.77 or more in 192 blocks of the same recording.
    """
    if coherence.potential < _JUDGING_POTENTIAL:
        return 1.0
    return _ramp(coherence.value, _PLAYED_AGAIN, _HARDLY_AGAIN)


def tonal_weight(tones: ToneAgreement) -> float:
    """Return the weight of peak agreement, 0 to 1, by how the tones in it agree.

    0 if only a voice or a crowd over different music agrees, or one part of a song over another. On
    the development part of the benchmark, none of 709 accepted pairs of the same recording has a
    balance below 0.84; two of 34 pairs with a shared voice or crowd lie above 0.7. On 20 tracks of
    other seeds, 362 blocks of the same recording, under voices and in rooms, have a conflict of at
    most 0.41. Of seven mash-ups that were confirmed without it, three have 0.59 to 0.72, and four
    no more than the same recording.

    Of 1,110 accepted pairs of the same recording, unchanged, on the development tracks, five have
    more foreign tones than 0.45, under voices and in rooms; one is lost. Of 23 pairs of other music
    that were accepted without it, seven have 0.55 to 0.98.
    """
    conflict = _ramp(tones.conflict, _ONE_SONG, _TWO_SONGS)
    foreign = _ramp(tones.foreign, _FEW_FOREIGN, _MANY_FOREIGN)
    return _ramp(tones.balance, _OTHER_TONES, _SAME_TONES) * (1 - conflict) * (1 - foreign)


def are_two_songs(residue: Residue, share: float) -> bool:
    """Whether both sounds have so much alone that what they share is a part of two songs.

    By tones or by levels: other instruments have other tones, while drums hardly have any, but are
    louder now and then. The more peaks agree, the less a noise or a room can explain what does not.
    """
    return _differ_in_tones(residue, share) or _differ_in_levels(residue, share)


def _differ_in_tones(residue: Residue, share: float) -> bool:
    """Whether foreign tones make two songs.

    As the logarithms of odds: foreign tones f, louder cells l, a low steadiness s and few held
    tones h although a large share p of the peaks agrees give ln(f + 0.03) + ln(l + 0.005)
    - ln(s + 0.1) - ln(h + 0.02) / 2 + 2 ln(p + 0.02), weights near those of a logistic regression.
    A steadiness above 1 is the sign of other voices over one song, so s^2 is then taken away, too.

    Of the windows in which both have something alone, on the development part, 36 of 529 of the
    same recording are above the limit, most of them with a voice or a crowd in both sounds, and 572
    of 629 that share a voice, a crowd or a melody.
    """
    if hides_tones(residue):
        return False
    odds = (
        _log_odds(residue)
        - math.log(residue.steadiness + 0.1)
        - 0.5 * math.log(residue.held + 0.02)
    )
    other_voices = 2 * math.log(max(1.0, residue.steadiness))
    return odds - other_voices + 2 * math.log(max(0.0, share) + 0.02) > _TWO_BY_TONES


def _differ_in_levels(residue: Residue, share: float) -> bool:
    """Whether each sound has drums or other music over the same tones: two songs with one lead.

    Odds are ln(f + 0.03) / 2 + 1.5 ln(l + 0.005) + ln(m + 0.005) / 2 - 3 ln(s + 0.1)
    + 2 ln(p + 0.02), of foreign tones f, louder cells l of the one and m of the other sound,
    steadiness s and the share p of peaks that agree. Not asked where a voice or a crowd may be all
    that agrees, nor where steady tones are lost without others in their place, as in a noise.

    Of 4,143 windows of one recording on the development part, many with other voices, crowds or
    noises in both sounds, nine are above the limit and not above that of the tones; of 87 windows
    with one sampled lead over different real recordings that tones do not tell, 31.
    """
    if residue.holds_few_tones or residue.steadiness < _STILL_STEADY:
        return False
    if residue.louder < _LEAST_LOUDER:
        return False
    odds = (
        0.5 * math.log(residue.foreign + 0.03)
        + 1.5 * math.log(residue.louder + 0.005)
        + 0.5 * math.log(residue.louder_other + 0.005)
        - 3 * math.log(residue.steadiness + 0.1)
    )
    return odds + 2 * math.log(max(0.0, share) + 0.02) > _TWO_BY_LEVELS


def is_one_recording(certainty: float) -> bool:
    """Whether what two rejected sounds share at one alignment is one recording, by its phases.

    Asked of all that overlaps (`phase_certainty`). It is 4.8 or more where a lead, a voice or a
    crowd of the development part is named as shared (141 pairs), 4.0 to 4.5 in six more, and at
    most 3.1 in 22 of 23 versions that would otherwise be named: their notes are played again.
    """
    return certainty >= _SURELY_SHARED


def share_a_part_throughout(residue: Residue, share_beside: float) -> bool:
    """Whether two rejected sounds share a part all the time, and each has music of its own.

    Asked of all that overlaps; `share_beside` is the share of peaks that agree beside the stretch
    that agrees most. A voice over one of the sounds makes only that one much louder. On the
    development part this names the part in 12 more of 26 rejected pairs that share a lead guitar
    (two are named by that stretch alone), and in 29 more of 204 that share a voice or a crowd; in
    none of 137 rejected copies of one recording, nor of 2,358 other pairs.
    """
    return (
        share_beside >= _HARDLY_BESIDE
        and residue.foreign >= _MUCH_FOREIGN
        and residue.louder >= _MUCH_LOUDER
        and residue.louder_other <= _ONE_SIDED * residue.louder
    )


def are_two_songs_throughout(residue: Residue, share_beside: float, share: float) -> bool:
    """Whether a window that matches is of two songs with one part all the time.

    Then beside it nearly half as many peaks agree as in it, and in all that overlaps, of which the
    residue is, tones are heard that six seconds may not have. Beside the recording itself, other
    music may follow, but then hardly a peak agrees there: at most a fifth as many in 37 medleys of
    the development part. Speech before the song leaves at most 0.09 foreign tones.
    """
    return (
        share_beside >= max(_BESIDE, _AS_MANY * share)
        and residue.foreign >= _MORE_THAN_A_PRELUDE
        and are_two_songs(residue, share)
    )


def hides_tones(residue: Residue) -> bool:
    """Whether tones are missing in one sound although it plays all that the other does.

    A noise hides them, and a room blurs them; music of its own would also be louder somewhere. A
    voice or a crowd that both have leaves it little room.
    """
    least = _LEAST_UNDER_VOICE if residue.holds_few_tones else _LEAST_LOUDER
    return not residue.both_have_tones_alone or residue.louder < least


def share_no_excerpt(residue: Residue) -> bool:
    """Whether a few common seconds are no excerpt, because each sound has something alone in them.

    Odds are ln(f + 0.03) + ln(l + 0.005) - 3 ln(s + 0.1), of foreign tones f, louder cells l and
    steadiness s. A real excerpt has hardly anything alone: of 143 on real recordings of the
    development part, the highest odds are -7.2, and at most 0.03 of the tones are foreign. Where
    hardly a tone is held, as in a sentence that one sound speaks alone and another over music
    (-7.5), the limit is lower; real excerpts without held tones have at most -8.4. Reverb blurs
    tones, but makes nothing louder.
    """
    limit = _TWO_EXCERPTS if residue.held >= _SPEECH_HELD else _TWO_SENTENCES
    return (
        not hides_tones(residue)
        or _log_odds(residue) - 3 * math.log(residue.steadiness + 0.1) > limit
    )


def _log_odds(residue: Residue) -> float:
    """Return ln(f + 0.03) + ln(l + 0.005) of foreign tones f and louder cells l."""
    return math.log(residue.foreign + 0.03) + math.log(residue.louder + 0.005)


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


def add_rejection_hint(evidence: PairEvidence, limits: MatchThresholds) -> PairEvidence:
    """Return the evidence with its `observation` set; only rejected pairs have one.

    A hint is never a match; the accuracy card reports how often hints are right. `likely_cover`:
    the harmony agrees, the timbre much less, and hardly any spectral peak does. `shared_voice`:
    only a voice or a crowd is shared, as in a mash-up. `uncertain`: close to a match. That a
    candidate is reversed follows from its peaks alone (`agreement.is_reversed`).
    """
    if evidence.verdict != "rejected" or evidence.score is None:
        return evidence
    observation: RejectionLabel | None = None
    if evidence.shared_part == "voice":
        observation = "shared_voice"
    elif _looks_like_cover(evidence, limits):
        observation = "likely_cover"
    elif evidence.chroma_distance is not None:
        # An objection reduces the score; one that is only too low is a full one.
        is_full = evidence.reason == NOT_ENOUGH or _meets_rule(evidence, limits)
        full = evidence.score if is_full else evidence.score / COMPOSITE.unmet_rule
        furthest = limits.local_chroma_distance + _CHROMA_DISTANCE_ABOVE_LIMIT
        least = limits.match_threshold - _SCORE_BELOW_THRESHOLD
        if evidence.chroma_distance <= furthest and full >= least:
            observation = "uncertain"
    return replace(evidence, observation=observation)


def _looks_like_cover(evidence: PairEvidence, limits: MatchThresholds) -> bool:
    chroma, mfcc = evidence.chroma_distance, evidence.mfcc_distance
    if chroma is None or mfcc is None or evidence.peak_agreement is None:
        return False
    return (
        _meets_rule(evidence, limits)
        and chroma <= _COVER_CHROMA_DISTANCE
        and mfcc - chroma >= _COVER_TIMBRE_GAP
        and evidence.peak_agreement < _COVER_PEAK_AGREEMENT
    )


def _meets_rule(evidence: PairEvidence, limits: MatchThresholds) -> bool:
    """Whether the rule of the evidence's segment is met; False if it cannot be checked."""
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


def _unit(value: float) -> float:
    """Clip to 0..1."""
    return min(max(value, 0.0), 1.0)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and in proportion between them."""
    return _unit((value - low) / (high - low))
