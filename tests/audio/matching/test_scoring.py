"""The numbers between measuring and deciding, against the definition of the measurement."""

import math
from itertools import product

import pytest

from pipelines.audio.matching.agreement import NoteCoherence, ToneAgreement
from pipelines.audio.matching.alignment import Block
from pipelines.audio.matching.delay_path import DelayPath
from pipelines.audio.matching.scoring import (
    block_meets_rule,
    can_be_surpassed,
    composite_score,
    explains_better,
    is_own_speed,
    least_weight_of_edit,
    phase_weight,
    sureness_after_speed,
    sureness_of_delay,
    sureness_of_instruments,
    sureness_of_notes,
    sureness_of_path,
    sureness_of_stretching,
    tonal_weight,
    trust_in_delay,
    weighted_agreement,
)
from warehouse.records.evidence import MatchThresholds, Segment

LIMITS = MatchThresholds()
HOP_S = 1024 / 22_050


def defined_score(chroma: float, mfcc: float, agreement: float) -> float:
    """S = 0.1 c + 0.2 m + 0.7 (1 - exp(-p / 0.10)), each of them cut to 0..1."""
    c, m, p = (min(max(value, 0.0), 1.0) for value in (chroma, mfcc, agreement))
    return 0.1 * c + 0.2 * m + 0.7 * (1 - math.exp(-p / 0.10))


def test_the_composite_score_is_the_defined_one() -> None:
    chromas, mfccs = (-0.5, 0.0, 0.4, 1.0, 1.2), (-0.5, 0.0, 0.3, 1.0, 1.2)
    agreements = (-0.2, 0.0, 0.03, 0.1, 0.25, 1.0, 1.1)
    for measured in product(chromas, mfccs, agreements):
        expected = pytest.approx(defined_score(*measured), abs=1e-4)
        assert composite_score(*measured) == expected, measured


def test_identity_scores_one_and_nothing_in_common_scores_zero() -> None:
    assert composite_score(1.0, 1.0, 1.0) == pytest.approx(1.0, abs=1e-12)
    assert composite_score(0.0, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("certainty", "sureness"),
    # chance gives 2.5, hardly ever more than 3.25, and never 5.25
    [(0.0, 0.0), (2.5, 0.0), (3.25, 0.0), (4.25, 0.5), (5.25, 1.0), (15.0, 1.0)],
)
def test_phases_count_from_what_chance_hardly_reaches_to_what_it_never_does(
    certainty: float, sureness: float
) -> None:
    assert sureness_of_delay(certainty) == pytest.approx(sureness)


def path(
    agreeing: float, tones: float, coherence: float, clock_ratio: float = 0.0, gain: float = 1.0
) -> DelayPath:
    return DelayPath(
        agreeing_tones=agreeing,
        tones=tones,
        coherence=coherence,
        clock_ratio=clock_ratio,
        gain=gain,
    )


@pytest.mark.parametrize(
    ("followed", "sureness"),
    [
        (path(7.0, 8.0, 0.85), 1.0),  # the same recording under wow
        (path(2.8, 4.5, 0.3), 0.0),  # another piano
        (path(5.1, 6.9, 0.75), 0.0),  # the same players again
        (path(4.6, 5.9, 0.67, gain=1.47), 1.0),  # a drift of 3 %, which moves frequencies, too
        (path(5.0, 5.0, 0.74), 0.5),
        (path(7.0, 8.0, -0.1), 0.0),
        (path(0.0, 0.0, 0.0), 0.0),
    ],
)
def test_a_path_needs_many_agreeing_tones_that_repeat_their_phases(
    followed: DelayPath, sureness: float
) -> None:
    assert sureness_of_path(followed) == pytest.approx(sureness)


def test_a_recording_runs_at_its_own_speed_up_to_a_sixth_of_a_percent() -> None:
    assert is_own_speed(path(7.0, 8.0, 0.9, 0.0014))
    assert is_own_speed(path(7.0, 8.0, 0.9, -0.0014))
    assert not is_own_speed(path(7.0, 8.0, 0.9, 0.0016))
    assert not is_own_speed(path(7.0, 8.0, 0.9, -0.0016))


@pytest.mark.parametrize("least", [0.0, 0.1, 0.5, 1.0])
def test_phase_weight_without_phase_is_the_minimum(least: float) -> None:
    assert phase_weight(0.0, least=least) == least
    assert phase_weight(1.0, least=least) == 1.0


@pytest.mark.parametrize(
    ("coherence", "by_notes", "trust"),
    # played again at most 0.58, by another sound font 0.85; recordings from 0.77, in rooms 0.92 on
    [(-0.1, 0.0, 0.0), (0.5, 0.0, 0.0), (0.6, 0.0, 0.4), (0.77, 0.0, 1.0), (0.86, 0.0, 1.0),
     (0.89, 0.6, 1.0), (0.91, 1.0, 1.0), (1.0, 1.0, 1.0)],
)  # fmt: skip
def test_notes_that_repeat_their_phases_are_sure_where_only_recordings_lie(
    coherence: float, by_notes: float, trust: float
) -> None:
    notes = NoteCoherence(value=coherence, potential=12.0)
    assert sureness_of_notes(notes, share=0.5) == pytest.approx(by_notes)
    assert trust_in_delay(notes) == pytest.approx(trust)


def test_few_repeated_notes_neither_confirm_nor_contradict_a_match() -> None:
    few = NoteCoherence(value=1.0, potential=9.9)
    assert sureness_of_notes(few, share=0.5) == 0.0
    assert trust_in_delay(NoteCoherence(value=0.0, potential=2.9)) == 1.0


def test_notes_can_prove_a_recording_from_ten_deviations_of_chance_on() -> None:
    assert sureness_of_notes(NoteCoherence(value=1.0, potential=10.0), share=0.5) == 1.0


def test_notes_can_contradict_a_delay_from_three_deviations_of_chance_on() -> None:
    assert trust_in_delay(NoteCoherence(value=0.0, potential=3.0)) == 0.0


def test_a_room_may_leave_three_quarters_of_the_peaks_in_place() -> None:
    assert sureness_of_notes(NoteCoherence(value=1.0, potential=20.0), share=0.75) == 1.0


def test_a_room_that_turns_phases_cannot_leave_all_peaks_in_place() -> None:
    assert sureness_of_notes(NoteCoherence(value=1.0, potential=20.0), share=0.8) == 0.0


@pytest.mark.parametrize(
    ("balance", "weight"),
    [(0.0, 0.0), (0.4, 0.0), (0.5, 0.0), (0.65, 0.5), (0.7, 2 / 3), (0.8, 1.0), (1.3, 1.0)],
)
def test_tones_weigh_fully_where_recordings_lie_and_nothing_where_voices_do(
    balance: float, weight: float
) -> None:
    assert tonal_weight(ToneAgreement(balance=balance, conflict=0.0, foreign=0.0)) == pytest.approx(
        weight
    )


@pytest.mark.parametrize(
    ("conflict", "weight"), [(0.0, 1.0), (0.45, 1.0), (0.5, 2 / 3), (0.6, 0.0), (0.73, 0.0)]
)
def test_tones_that_agree_in_one_band_alone_weigh_less_and_then_nothing(
    conflict: float, weight: float
) -> None:
    tones = ToneAgreement(balance=1.3, conflict=conflict, foreign=0.0)
    assert tonal_weight(tones) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("foreign", "weight"), [(0.0, 1.0), (0.45, 1.0), (0.5, 0.5), (0.55, 0.0), (1.02, 0.0)]
)
def test_tones_that_each_sound_has_alone_weigh_against_one_recording(
    foreign: float, weight: float
) -> None:
    tones = ToneAgreement(balance=1.3, conflict=0.0, foreign=foreign)
    assert tonal_weight(tones) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("steady", "chroma", "mfcc", "sureness"),
    [
        (0.30, 0.80, 0.54, 0),  # other instruments: the same harmony, another timbre
        (0.50, 0.80, 0.65, 0.5),
        (0.70, 0.86, 0.84, 1),  # the recording
        (0.70, 0.72, 0.50, 1),  # under a voice that is hardly in the chroma
        (0.15, 0.40, 0.54, 1),  # under a voice that hides its tones
    ],
)
def test_steady_tones_and_timbre_make_a_stretched_sound_sure(
    steady: float, chroma: float, mfcc: float, sureness: float
) -> None:
    tones = ToneAgreement(balance=1.0, conflict=0.0, foreign=0.0, steady=steady)
    block = Block(chroma=chroma, mfcc=mfcc, frames=129, reference_frame=0, candidate_frame=0)
    assert sureness_of_instruments(block, tones) == pytest.approx(sureness)


@pytest.mark.parametrize(
    ("value", "share", "sureness"),
    [
        (0.75, 0.7, 0),
        (0.8, 0.7, 0.5),
        (0.92, 0.7, 1),
        (0.55, 0.2, 0),
        (0.6, 0.2, 0.5),
        (0.7, 0.2, 1),
    ],
)
def test_notes_at_another_speed_make_it_sure_and_fewer_need_to_repeat_in_reverb(
    value: float, share: float, sureness: float
) -> None:
    notes = NoteCoherence(value=value, potential=20)
    assert sureness_after_speed(notes, share) == pytest.approx(sureness)


def test_notes_that_chance_explains_make_nothing_sure() -> None:
    assert sureness_after_speed(NoteCoherence(value=0.9, potential=5.5), 0.2) == 0.0
    assert sureness_after_speed(NoteCoherence(value=0.9, potential=5.6), 0.2) == 1.0


def test_peaks_are_hidden_only_where_the_others_are_sure() -> None:
    assert weighted_agreement(0.12, 0.0, least=0.1) == pytest.approx(0.012)
    assert weighted_agreement(0.12, 1.0, least=0.1) == pytest.approx(0.18)
    assert weighted_agreement(0.25, 1.0, least=0.1) == pytest.approx(0.3)
    assert weighted_agreement(0.7, 1.0, least=0.1) == pytest.approx(0.7)
    assert weighted_agreement(0.7, 0.0, least=0.1) == pytest.approx(0.07)


@pytest.mark.parametrize(
    ("apart", "sureness"), [(0.0, 0), (0.5e-3, 0), (0.98e-3, 0.2), (1.4e-3, 1), (3e-3, 1)]
)
def test_tempo_and_pitch_that_do_not_fit_one_speed_were_changed_independently(
    apart: float, sureness: float
) -> None:
    assert sureness_of_stretching(apart, is_slight=False) == pytest.approx(sureness)


@pytest.mark.parametrize(
    ("apart", "sureness"), [(1.4e-3, 0), (2.8e-3, 0), (3.5e-3, 0.5), (5e-3, 1)]
)
def test_a_slight_stretch_is_asked_to_be_surer(apart: float, sureness: float) -> None:
    assert sureness_of_stretching(apart, is_slight=True) == pytest.approx(sureness)


def test_a_stretch_needs_phases_less_than_what_keeps_them() -> None:
    assert least_weight_of_edit(keeps_phases=True) < least_weight_of_edit(keeps_phases=False)


def test_each_objection_of_the_tones_takes_its_part() -> None:
    tones = ToneAgreement(balance=0.65, conflict=0.525, foreign=0.5)
    assert tonal_weight(tones) == pytest.approx(0.125)


def test_nearly_every_measured_recording_keeps_its_full_weight() -> None:
    lowest_of_709_accepted_pairs, highest_of_362_blocks = 0.84, 0.41
    highest_of_1105_of_1110 = 0.45
    tones = ToneAgreement(
        balance=lowest_of_709_accepted_pairs,
        conflict=highest_of_362_blocks,
        foreign=highest_of_1105_of_1110,
    )
    assert tonal_weight(tones) == 1.0


@pytest.mark.parametrize(
    ("agreement", "other", "is_better"),
    [
        (0.11, 0.0, True), (0.09, 0.0, False), (0.1, 0.0, False), (0.25, 0.1, True),
        (0.19, 0.1, False), (0.61, 0.4, True), (0.59, 0.4, False), (0.75, 0.5, False),
        (0.0, -0.3, True), (-0.21, -0.3, False), (0.2, 0.2, False),
    ],
)  # fmt: skip
def test_an_explanation_is_better_by_half_again_and_by_a_tenth(
    agreement: float, other: float, is_better: bool
) -> None:
    assert explains_better(agreement, other) is is_better


@pytest.mark.parametrize(("agreement", "can_be"), [(0.0, True), (0.66, True), (0.67, False)])
def test_two_thirds_of_all_peaks_cannot_be_surpassed(agreement: float, can_be: bool) -> None:
    assert can_be_surpassed(agreement) is can_be


def block(chroma_distance: float, mfcc_distance: float, overlap_s: float) -> Block:
    return Block(
        reference_frame=0,
        candidate_frame=0,
        frames=math.ceil(overlap_s / HOP_S),
        chroma=1 - chroma_distance,
        mfcc=1 - mfcc_distance,
    )


@pytest.mark.parametrize(
    ("segment", "chroma", "mfcc", "overlap_s"),
    [("whole", 0.25, 0.48, 8.0), ("local", 0.65, 0.90, 5.5)],
)
def test_a_block_meets_the_rule_of_its_segment_up_to_each_limit(
    segment: Segment, chroma: float, mfcc: float, overlap_s: float
) -> None:
    assert block_meets_rule(segment, block(chroma, mfcc, overlap_s), LIMITS)
    assert not block_meets_rule(segment, block(chroma + 0.01, mfcc, overlap_s), LIMITS)
    assert not block_meets_rule(segment, block(chroma, mfcc + 0.01, overlap_s), LIMITS)
    assert not block_meets_rule(segment, block(chroma, mfcc, overlap_s - 0.1), LIMITS)
