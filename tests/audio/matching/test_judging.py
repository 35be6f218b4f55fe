"""One pair judged: which numbers lead to which verdict, on sounds made for one question each."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.judging import judge_edits, judge_unchanged
from tests.audio.made_sounds import (
    FRAMES,
    HOP_S,
    MadePeaks,
    Matrix,
    blended,
    faster,
    fleeting,
    held,
    melody,
    sound,
    timbre,
)
from warehouse.records.evidence import MatchThresholds, PairEvidence

LIMITS = MatchThresholds()
ANY_TIMBRE = MatchThresholds(whole_mfcc_distance=2.0, local_mfcc_distance=2.0)
CHROMA, MEL_DB, PEAKS = melody(1), timbre(1), fleeting(1)
SONG = sound(CHROMA, MEL_DB, PEAKS)
type Tones = NDArray[np.int64]
FOUR_BINS = 2 ** (4 / 36)  # a speed that turns chroma by whole bins


def defined_score(evidence: PairEvidence) -> float:
    """S of the definition, from the numbers that the evidence tells."""
    assert evidence.chroma_distance is not None
    assert evidence.mfcc_distance is not None
    assert evidence.peak_agreement is not None
    chroma, mfcc, agreement = (
        min(max(value, 0.0), 1.0)
        for value in (
            1 - evidence.chroma_distance,
            1 - evidence.mfcc_distance,
            evidence.peak_agreement,
        )
    )
    return 0.1 * chroma + 0.2 * mfcc + 0.7 * (1 - math.exp(-agreement / 0.10))


def outcome(evidence: PairEvidence | None) -> tuple[str, str]:
    assert evidence is not None
    return evidence.verdict, evidence.reason


def then(first: Matrix, second: Matrix, frame: int = 140) -> Matrix:
    """The first up to a frame, the second from there."""
    return np.concatenate([first[:frame], second[frame:]])


def test_the_same_sound_is_confirmed_whole_with_score_one() -> None:
    evidence = judge_unchanged(SONG, SONG, LIMITS)
    assert outcome(evidence) == ("confirmed", "whole_rule_met")
    assert evidence.segment == "whole"
    assert (evidence.speed, evidence.semitones) == (1.0, 0.0)
    assert (evidence.reference_start_s, evidence.candidate_start_s) == (0.0, 0.0)
    assert evidence.overlap_s == pytest.approx(FRAMES * HOP_S)
    assert evidence.peak_agreement == pytest.approx(1.0)
    assert evidence.score == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("skipped", "added"), [(40, 0), (0, 40)])
def test_the_evidence_says_where_in_each_sound_the_agreement_begins(
    skipped: int, added: int
) -> None:
    late = moved(PEAKS.part(2 * skipped, math.inf), added - skipped)
    candidate = sound(
        np.concatenate([melody(5)[:added], CHROMA[skipped:]]),
        np.concatenate([timbre(5)[:added], MEL_DB[skipped:]]),
        late,
    )
    evidence = judge_unchanged(SONG, candidate, MatchThresholds(whole_chroma_distance=-1.0))
    assert outcome(evidence) == ("confirmed", "local_rule_met")
    assert evidence.overlap_s == pytest.approx(6.0, abs=HOP_S)
    assert evidence.candidate_start_s is not None
    assert evidence.reference_start_s is not None
    offset = evidence.candidate_start_s - evidence.reference_start_s
    assert offset == pytest.approx((added - skipped) * HOP_S)
    assert evidence.peak_agreement == pytest.approx(1.0)


def moved(peaks: MadePeaks, frames: int) -> MadePeaks:
    """Later by so many frames."""
    return MadePeaks(peaks.frames + 2 * frames, peaks.hertz, peaks.phases)


def test_peaks_count_from_where_the_compared_stretch_begins() -> None:
    begin, foreign_until, end = 80, 200, 2 * FRAMES  # fine frames of the candidate
    late = moved(PEAKS, 40).part(foreign_until, end)
    candidate = sound(
        np.concatenate([melody(5)[:40], CHROMA[:-40]]),
        np.concatenate([timbre(5)[:40], MEL_DB[:-40]]),
        fleeting(8).part(0, foreign_until) + late,
    )
    evidence = judge_unchanged(SONG, candidate, LIMITS)
    assert outcome(evidence) == ("confirmed", "whole_rule_met")
    expected = (end - foreign_until) / (end - begin)
    assert evidence.peak_agreement == pytest.approx(expected, abs=0.05)


def test_peaks_count_up_to_where_the_compared_stretch_ends() -> None:
    candidate = sound(
        np.concatenate([CHROMA[40:], melody(5)[:40]]),
        np.concatenate([MEL_DB[40:], timbre(5)[:40]]),
        moved(PEAKS, -40).part(0, 360) + fleeting(8, 2000).part(362, 2 * FRAMES),
    )
    evidence = judge_unchanged(SONG, candidate, LIMITS)
    assert outcome(evidence) == ("confirmed", "whole_rule_met")
    assert evidence.peak_agreement == pytest.approx(1.0)


def test_other_music_is_rejected_and_its_score_cut_to_three_tenths() -> None:
    evidence = judge_unchanged(SONG, sound(melody(2), timbre(2), fleeting(2)), LIMITS)
    assert outcome(evidence) == ("rejected", "distances_above_limits")
    assert evidence.score == pytest.approx(0.3 * defined_score(evidence), abs=1e-4)


def test_peaks_alone_confirm_nothing() -> None:
    limits = MatchThresholds(whole_chroma_distance=-1.0, local_chroma_distance=-1.0)
    evidence = judge_unchanged(SONG, SONG, limits)
    assert outcome(evidence) == ("rejected", "distances_above_limits")
    assert evidence.score == pytest.approx(0.3, abs=1e-4)
    assert evidence.peak_agreement == pytest.approx(1.0)


def test_a_harmony_that_never_moves_agrees_with_nothing() -> None:
    drone = sound(np.full_like(CHROMA, 0.5), MEL_DB, PEAKS)
    evidence = judge_unchanged(drone, drone, LIMITS)
    assert outcome(evidence) == ("rejected", "distances_above_limits")
    assert evidence.peak_agreement == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_sampled_notes_that_repeat_one_phase_each_count_as_often_as_there_are_tones(
    seed: int,
) -> None:
    numbers = np.random.default_rng(100 + seed)
    tone = numbers.integers(0, 60, len(PEAKS.frames))
    played = replace(PEAKS, hertz=numbers.uniform(300, 4000, 60)[tone])
    other_samples = replace(played, phases=played.phases + numbers.uniform(0, 256, 60)[tone])
    reference = sound(CHROMA, MEL_DB, played)
    rendered = judge_unchanged(reference, sound(CHROMA, MEL_DB, other_samples), LIMITS)
    again = judge_unchanged(reference, reference, LIMITS)
    assert rendered.peak_agreement is not None
    assert again.peak_agreement is not None
    assert rendered.peak_agreement < 0.3
    assert again.peak_agreement > 0.9


def notes(seed: int, *, tones: int = 60) -> tuple[MadePeaks, Tones]:
    """Short notes of few tones, and the tone of each."""
    numbers = np.random.default_rng(100 + seed)
    tone = numbers.integers(0, tones, len(PEAKS.frames))
    return replace(PEAKS, hertz=numbers.uniform(300, 4000, tones)[tone]), tone


@pytest.mark.parametrize("seed", range(4))
def test_a_room_that_turns_each_tone_by_its_own_angle_leaves_a_recording_sure(seed: int) -> None:
    played, tone = notes(seed)
    angles = np.random.default_rng(200 + seed).uniform(0, 256, 60)
    echoed = replace(played, phases=played.phases + angles[tone])
    heard = MadePeaks(echoed.frames[:300], echoed.hertz[:300], echoed.phases[:300])
    in_room = sound(CHROMA, MEL_DB, heard + fleeting(7, 200))
    evidence = judge_unchanged(sound(CHROMA, MEL_DB, played), in_room, LIMITS)
    assert evidence.verdict == "confirmed"
    assert evidence.peak_agreement is not None
    assert evidence.peak_agreement > 5 * 0.6 * 0.10  # of the share, five times what covers keep


@pytest.mark.parametrize("seed", range(4))
def test_notes_played_again_some_milliseconds_off_count_a_twentieth(seed: int) -> None:
    played, _ = notes(seed)
    late_s = np.random.default_rng(300 + seed).normal(0, 0.004, 2 * FRAMES)
    turns = played.hertz * late_s[played.frames.astype(int)]
    again = sound(CHROMA, MEL_DB, replace(played, phases=played.phases + 256 * turns))
    evidence = judge_unchanged(sound(CHROMA, MEL_DB, played), again, LIMITS)
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.peak_agreement == pytest.approx(0.05, abs=1e-3)


def test_notes_without_the_phases_of_a_recording_count_a_twentieth() -> None:
    cover = sound(CHROMA, MEL_DB, PEAKS.without_phase())
    evidence = judge_unchanged(SONG, cover, LIMITS)
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.peak_agreement == pytest.approx(0.05, abs=1e-3)
    assert evidence.score == pytest.approx(defined_score(evidence), abs=1e-4)
    assert evidence.score == pytest.approx(0.575, abs=1e-3)


def test_phases_that_no_note_repeats_contradict_nothing_so_notes_count_a_tenth() -> None:
    hertz = np.random.default_rng(5).permutation(np.arange(300.0, 4000.0, 8.0))
    once = MadePeaks(PEAKS.frames[: len(hertz)], hertz, PEAKS.phases[: len(hertz)])
    cover = sound(CHROMA, MEL_DB, once.without_phase())
    evidence = judge_unchanged(sound(CHROMA, MEL_DB, once), cover, LIMITS)
    assert evidence.peak_agreement == pytest.approx(0.10, abs=1e-3)


def test_a_score_of_exactly_the_threshold_is_enough() -> None:
    cover = sound(CHROMA, MEL_DB, PEAKS.without_phase())
    score = judge_unchanged(SONG, cover, LIMITS).score
    assert score is not None
    assert (
        judge_unchanged(SONG, cover, MatchThresholds(match_threshold=score)).verdict == "confirmed"
    )
    above = MatchThresholds(match_threshold=score + 1e-6)
    assert judge_unchanged(SONG, cover, above).verdict == "rejected"


@pytest.mark.parametrize(("frames", "verdict"), [(118, "not_comparable"), (119, "confirmed")])
def test_less_than_five_and_a_half_seconds_cannot_be_compared(frames: int, verdict: str) -> None:
    short = sound(CHROMA[:frames], MEL_DB[:frames], PEAKS.part(0, 2 * frames))
    evidence = judge_unchanged(SONG, short, LIMITS)
    assert evidence.verdict == verdict
    assert (evidence.reason == "overlap_too_short") == (verdict == "not_comparable")


def half_shared(share_of_other: float) -> Features:
    """The song for 6.5 s, then mixed with another; its notes, not its phases, and then others."""
    return sound(
        then(CHROMA, blended(CHROMA, melody(2), share_of_other)),
        MEL_DB,
        (PEAKS.part(0, 280) + fleeting(2).part(280, 2 * FRAMES)).without_phase(),
    )


def test_a_whole_match_that_is_enough_says_most_although_a_part_scores_higher() -> None:
    evidence = judge_unchanged(SONG, half_shared(0.3), MatchThresholds(match_threshold=0.45))
    assert outcome(evidence) == ("confirmed", "whole_rule_met")
    assert evidence.peak_agreement == pytest.approx(0.032, abs=0.003)


def test_a_part_confirms_where_the_whole_is_not_enough() -> None:
    evidence = judge_unchanged(SONG, half_shared(0.3), MatchThresholds(match_threshold=0.55))
    assert outcome(evidence) == ("confirmed", "local_rule_met")
    assert evidence.score == pytest.approx(0.575, abs=1e-3)


def test_rejected_pair_reports_the_segment_with_the_better_score() -> None:
    evidence = judge_unchanged(SONG, half_shared(0.3), MatchThresholds(match_threshold=0.9))
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.segment == "local"
    assert evidence.score == pytest.approx(0.575, abs=1e-3)


def test_a_rule_that_holds_says_more_than_a_higher_score_without_one() -> None:
    limits = MatchThresholds(local_chroma_distance=-1.0, match_threshold=0.9)
    evidence = judge_unchanged(SONG, half_shared(0.3), limits)
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.segment == "whole"


def drifting(share: float) -> Features:
    """The song's harmony; `share` of the peaks run 4 % fast, the others are its own or foreign."""
    count = round(share * len(PEAKS.frames))
    fast = PEAKS.played(1.04)
    first = MadePeaks(fast.frames[:count], fast.hertz[:count], fast.phases[:count])
    return sound(CHROMA, MEL_DB, first + fleeting(7, len(PEAKS.frames) - count))


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 1.0])
def test_peaks_that_run_at_another_tempo_are_not_what_was_heard(share: float) -> None:
    evidence = judge_unchanged(SONG, drifting(share), LIMITS)
    assert outcome(evidence) == ("rejected", "tempo_drifts")
    assert evidence.score == pytest.approx(0.3 * defined_score(evidence), abs=1e-4)


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_a_drift_of_a_few_peaks_may_be_chance(share: float) -> None:
    assert outcome(judge_unchanged(SONG, drifting(share), LIMITS)) == (
        "rejected",
        "score_below_threshold",
    )


def few(peaks: MadePeaks, share: float) -> MadePeaks:
    """The first ones of them."""
    count = round(share * len(peaks.frames))
    return MadePeaks(peaks.frames[:count], peaks.hertz[:count], peaks.phases[:count])


HIGH_THRESHOLD = MatchThresholds(match_threshold=0.99)


def test_a_rule_without_objection_says_more_than_a_higher_score_with_one() -> None:
    fast = PEAKS.played(1.04).part(0, 280)
    own = PEAKS.part(0, 280)
    later = MadePeaks(own.frames[160:224], own.hertz[160:224], own.phases[160:224])
    drifts_at_first = few(fast, 0.5) + later + fleeting(7, 100).part(0, 280)
    candidate = sound(
        then(CHROMA, blended(CHROMA, melody(2), 0.35)),
        then(MEL_DB, blended(MEL_DB, timbre(5), 0.35)),
        drifts_at_first + few(PEAKS.part(280, 2 * FRAMES), 0.3) + fleeting(2).part(280, 2 * FRAMES),
    )
    part = judge_unchanged(SONG, candidate, replace(HIGH_THRESHOLD, whole_chroma_distance=-1.0))
    assert outcome(part) == ("rejected", "tempo_drifts")
    evidence = judge_unchanged(SONG, candidate, HIGH_THRESHOLD)
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.segment == "whole"
    assert defined_score(evidence) < defined_score(part)


def test_a_rule_that_holds_but_drifts_says_more_than_a_higher_score_without_a_rule() -> None:
    candidate = sound(
        then(CHROMA, blended(CHROMA, melody(2), 0.2)),
        MEL_DB,
        few(PEAKS.part(0, 280), 0.3)
        + fleeting(7, 300).part(0, 280)
        + PEAKS.played(1.04).part(280, 2 * FRAMES),
    )
    no_part = replace(HIGH_THRESHOLD, local_chroma_distance=-1.0)
    no_rule = replace(no_part, whole_chroma_distance=-1.0)
    unmet = judge_unchanged(SONG, candidate, no_rule)
    assert outcome(unmet) == ("rejected", "distances_above_limits")
    assert unmet.segment == "local"
    evidence = judge_unchanged(SONG, candidate, no_part)
    assert outcome(evidence) == ("rejected", "tempo_drifts")
    assert evidence.segment == "whole"
    assert defined_score(evidence) < defined_score(unmet)


def shared_voice(common_tones: int, *, own_db: float = 20.0) -> tuple[Features, Features]:
    """Two sounds under one voice that hold six tones each, some of them the same.

    Each is `own_db` louder than the other in as many bands as it has tones of its own.
    """
    voice, common, own = fleeting(3), held(1, common_tones), 6 - common_tones
    first, second = (
        sound(CHROMA, louder(bands, own_db), voice + common + held(seed, own))
        for seed, bands in ((5, slice(0, own)), (4, slice(own, 2 * own)))
    )
    return first, second


def louder(bands: slice, by_db: float) -> Matrix:
    """The timbre with so much more in some bands, a tenth of the time."""
    mel_db = MEL_DB.copy()
    mel_db[::10, bands] += by_db
    return mel_db


@pytest.mark.parametrize("common_tones", [0, 1])
def test_a_voice_over_other_tones_is_no_shared_music(common_tones: int) -> None:
    evidence = judge_unchanged(*shared_voice(common_tones), LIMITS)
    assert outcome(evidence) == ("rejected", "tones_differ")
    assert evidence.peak_agreement == 0.0
    assert evidence.score == pytest.approx(0.3 * defined_score(evidence), abs=1e-4)


def test_tones_that_differ_are_no_reason_where_the_peaks_were_not_enough_anyway() -> None:
    evidence = judge_unchanged(*shared_voice(0), MatchThresholds(match_threshold=1.01))
    assert outcome(evidence) == ("rejected", "score_below_threshold")


@pytest.mark.parametrize("common_tones", [4, 6])
def test_tones_in_common_under_one_voice_are_shared_music(common_tones: int) -> None:
    evidence = judge_unchanged(*shared_voice(common_tones, own_db=0.0), LIMITS)
    assert evidence.verdict == "confirmed"
    assert evidence.peak_agreement is not None
    assert evidence.peak_agreement > 0.8


def test_sounds_that_share_half_of_their_tones_and_have_as_many_alone_are_two_songs() -> None:
    evidence = judge_unchanged(*shared_voice(3), LIMITS)
    assert outcome(evidence) == ("rejected", "tones_differ")


def played(tempo: float, peaks: MadePeaks | None = None) -> Features:
    """The song at another tempo, its pitch kept."""
    return sound(faster(CHROMA, tempo), faster(MEL_DB, tempo), peaks or PEAKS.played(tempo))


@pytest.mark.parametrize("tempo", [0.9, 1.1])
def test_fleeting_peaks_of_a_stretched_sound_count_a_quarter(
    tempo: float,
) -> None:
    evidence = judge_edits(SONG, played(tempo), LIMITS).evidence
    assert evidence is not None
    assert outcome(evidence) == ("variant", "tempo_variant")
    assert evidence.speed == pytest.approx(tempo, abs=0.006)
    assert evidence.semitones == 0.0
    assert evidence.peak_agreement == pytest.approx(0.25, abs=0.01)
    assert evidence.score == pytest.approx(defined_score(evidence) - 0.04, abs=1e-3)


def test_where_a_variant_begins_is_told_in_the_candidates_own_time() -> None:
    tempo, silent = 1.1, 44
    late = moved(PEAKS.played(tempo), silent)
    candidate = sound(
        np.concatenate([melody(5)[:silent], faster(CHROMA, tempo)]),
        np.concatenate([timbre(5)[:silent], faster(MEL_DB, tempo)]),
        late,
    )
    evidence = judge_edits(SONG, candidate, MatchThresholds(whole_chroma_distance=-1.0)).evidence
    assert evidence is not None
    assert outcome(evidence) == ("variant", "tempo_variant")
    assert evidence.reference_start_s is not None
    expected = silent * HOP_S + evidence.reference_start_s / tempo
    assert evidence.candidate_start_s == pytest.approx(expected, abs=0.1)


def test_a_variant_below_the_threshold_is_rejected() -> None:
    evidence = judge_edits(SONG, played(1.1), MatchThresholds(match_threshold=0.97)).evidence
    assert evidence is not None
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.speed == pytest.approx(1.1, abs=0.006)


def test_a_variant_without_a_rule_that_holds_is_rejected_with_its_score_cut() -> None:
    limits = MatchThresholds(whole_chroma_distance=-1.0, local_chroma_distance=-1.0)
    evidence = judge_edits(SONG, played(1.1), limits).evidence
    assert evidence is not None
    assert outcome(evidence) == ("rejected", "distances_above_limits")
    assert evidence.score == pytest.approx(0.3 * (defined_score(evidence) - 0.04), abs=1e-3)


def decimals(value: float | None) -> int:
    """How many a number is written with."""
    return len(str(value).partition(".")[2])


def sped(*, keeps_phases: bool) -> Features:
    """Like a tape that runs 8 % fast: pitch and all. The timbre is not made to follow."""
    peaks = PEAKS.played(FOUR_BINS, pitch=FOUR_BINS)
    return sound(
        np.roll(faster(CHROMA, FOUR_BINS), 4, axis=1),
        faster(MEL_DB, FOUR_BINS),
        peaks if keeps_phases else peaks.without_phase(),
    )


def test_a_change_of_speed_alone_keeps_the_phases_that_make_it_sure() -> None:
    evidence = judge_edits(SONG, sped(keeps_phases=True), ANY_TIMBRE).evidence
    assert evidence is not None
    assert outcome(evidence) == ("variant", "speed_variant")
    assert evidence.speed == pytest.approx(FOUR_BINS, rel=0.002)
    assert evidence.semitones == pytest.approx(4 / 3, abs=0.03)
    assert decimals(evidence.semitones) == 3
    assert evidence.peak_agreement == pytest.approx(1.0, abs=0.01)


def test_what_is_played_again_at_another_speed_is_rejected() -> None:
    evidence = judge_edits(SONG, sped(keeps_phases=False), ANY_TIMBRE).evidence
    assert evidence is not None
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence.speed == pytest.approx(FOUR_BINS, rel=0.002)
    assert evidence.peak_agreement == pytest.approx(0.1, abs=0.01)


def test_another_pitch_at_the_same_tempo_is_a_pitch_variant() -> None:
    pitched = sound(np.roll(CHROMA, 6, axis=1), MEL_DB, PEAKS.played(1.0, pitch=2 ** (2 / 12)))
    evidence = judge_edits(SONG, pitched, ANY_TIMBRE).evidence
    assert evidence is not None
    assert outcome(evidence) == ("variant", "pitch_variant")
    assert evidence.speed == 1.0
    assert evidence.semitones == pytest.approx(2.0, abs=0.05)
    assert evidence.peak_agreement == pytest.approx(0.25, abs=0.01)


def test_tones_of_an_instrument_tuned_a_twentieth_of_a_semitone_higher_count_a_tenth() -> None:
    played, _ = notes(1, tones=20)
    tuned = played.played(1.0, pitch=2 ** (0.05 / 12)).without_phase()
    song = sound(CHROMA, MEL_DB, played)
    evidence = judge_edits(song, sound(CHROMA, MEL_DB, tuned), LIMITS).evidence
    assert evidence is not None
    assert evidence.semitones == pytest.approx(0.05, abs=0.03)
    assert evidence.peak_agreement == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("keeps_phases", "agreement"), [(True, 1.0), (False, 0.1)])
def test_slight_speed_variant_compares_phases_unchanged(
    keeps_phases: bool, agreement: float
) -> None:
    peaks = PEAKS.played(1.005, pitch=1.005)
    candidate = played(1.005, peaks if keeps_phases else peaks.without_phase())
    evidence = judge_edits(SONG, candidate, LIMITS).evidence
    assert evidence is not None
    assert evidence.reason == "speed_variant"
    assert evidence.peak_agreement == pytest.approx(agreement, abs=0.01)


def test_other_music_has_no_likely_variant() -> None:
    assert judge_edits(SONG, sound(melody(2), timbre(2), fleeting(2)), LIMITS).evidence is None


def test_a_harmony_whose_peaks_agree_by_chance_alone_has_no_likely_variant() -> None:
    assert judge_edits(SONG, played(1.1, fleeting(2, 0)), LIMITS).evidence is None


def test_one_peak_in_ten_is_enough_to_be_judged() -> None:
    few = PEAKS.played(1.1)
    count = round(0.1 * len(few.frames))
    mostly_other = MadePeaks(few.frames[:count], few.hertz[:count], few.phases[:count])
    candidate = played(1.1, mostly_other + fleeting(7, len(few.frames) - count, frames=195))
    evidence = judge_edits(SONG, candidate, LIMITS).evidence
    assert evidence is not None
    assert outcome(evidence) == ("rejected", "score_below_threshold")
