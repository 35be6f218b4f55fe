"""Edits that a search found are judged, and rounded when told; so are agreements of half a window.

The search is replaced by what it found, and so is what phases say, where only the choice between
them is asked for.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.agreement import CommonStretch, NoteCoherence, PeakMatch
from pipelines.audio.matching.hypotheses import Hypothesis
from pipelines.audio.matching.judging import (
    judge_edits,
    judge_excerpt,
    judge_unchanged,
)
from pipelines.audio.matching.search import ScoredHypothesis
from tests.audio.made_sounds import (
    FRAMES,
    HOP_S,
    MadePeaks,
    faster,
    fleeting,
    held,
    melody,
    sound,
    timbre,
)
from warehouse.records.evidence import MatchThresholds, PairEvidence

JUDGING = "pipelines.audio.matching.judging"
LIMITS = MatchThresholds()
CHROMA, MEL_DB, PEAKS = melody(1), timbre(1), fleeting(1)
SONG = sound(CHROMA, MEL_DB, PEAKS)
FASTER = sound(faster(CHROMA, 1.1), faster(MEL_DB, 1.1), PEAKS.played(1.1))
WINDOW = 129  # frames of 6 s
LIKELY = 0.5


def outcome(evidence: PairEvidence | None) -> tuple[str, str]:
    assert evidence is not None
    return evidence.verdict, evidence.reason


def tempo(factor: float, *, share: float = LIKELY) -> ScoredHypothesis:
    edit = Hypothesis(family="tempo", tempo=factor, semitones=0.0)
    return ScoredHypothesis(hypothesis=edit, share=share, lag=0)


def both(factor: float, semitones: float, *, share: float = LIKELY) -> ScoredHypothesis:
    """Tempo and pitch, changed independently."""
    edit = Hypothesis(family="pitch_and_speed", tempo=factor, semitones=semitones)
    return ScoredHypothesis(hypothesis=edit, share=share, lag=0)


@dataclass
class Search:
    """What the search for edits is made to find."""

    single: ScoredHypothesis | None = None
    joint: ScoredHypothesis | None = None


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Search:
    """In place of the search."""
    search = Search()
    monkeypatch.setattr(
        "pipelines.audio.matching.search.best_hypothesis", lambda *_, **__: search.single
    )
    monkeypatch.setattr(
        "pipelines.audio.matching.search.best_joint_hypothesis", lambda *_: search.joint
    )
    return search


def test_tempo_and_pitch_changed_independently_are_told_where_they_match(search: Search) -> None:
    search.joint, search.single = both(1.1, 0.02), tempo(1.1)
    assert outcome(judge_edits(SONG, FASTER, LIMITS).evidence) == (
        "variant",
        "pitch_and_speed_variant",
    )
    search.single = None
    assert outcome(judge_edits(SONG, FASTER, LIMITS).evidence) == (
        "variant",
        "pitch_and_speed_variant",
    )


def test_a_search_for_both_that_finds_one_change_alone_names_that_one(search: Search) -> None:
    search.joint = both(1.1, 0.0)
    assert outcome(judge_edits(SONG, FASTER, LIMITS).evidence) == ("variant", "tempo_variant")
    pitched = sound(CHROMA, MEL_DB, PEAKS.played(1.0, pitch=2 ** (0.02 / 12)))
    search.joint = both(1.0, 0.02)
    assert outcome(judge_edits(SONG, pitched, LIMITS).evidence) == ("variant", "pitch_variant")


@pytest.mark.parametrize(("share", "has_tried_both"), [(0.24, True), (0.25, False)])
def test_tempo_and_pitch_are_searched_where_a_single_change_leaves_much_unexplained(
    search: Search, share: float, has_tried_both: bool
) -> None:
    search.single = tempo(1.1, share=share)
    assert judge_edits(SONG, FASTER, LIMITS).has_tried_both == has_tried_both
    search.single = None
    assert judge_edits(SONG, FASTER, LIMITS).has_tried_both


def test_tempo_and_pitch_that_do_not_match_leave_the_single_change(search: Search) -> None:
    search.joint, search.single = both(0.8, 3.0), tempo(1.1)
    evidence = judge_edits(SONG, FASTER, LIMITS).evidence
    assert outcome(evidence) == ("variant", "tempo_variant")
    assert evidence is not None
    assert (evidence.speed, evidence.semitones) == (1.1, 0.0)


def test_rejected_edit_reports_the_measures_of_the_single_change(
    search: Search,
) -> None:
    search.joint, search.single = both(0.8, 3.0), tempo(0.9)
    evidence = judge_edits(SONG, FASTER, LIMITS).evidence
    assert evidence is not None
    assert evidence.verdict == "rejected"
    assert (evidence.speed, evidence.semitones) == (0.9, 0.0)


def test_tempo_and_pitch_that_chance_explains_leave_the_single_change(search: Search) -> None:
    search.joint, search.single = both(1.1, 0.0, share=0.02), tempo(1.1)
    assert outcome(judge_edits(SONG, FASTER, LIMITS).evidence) == ("variant", "tempo_variant")


def test_tempo_and_pitch_that_do_not_match_are_no_evidence_alone(search: Search) -> None:
    search.joint = both(0.8, 3.0)
    assert judge_edits(SONG, FASTER, LIMITS).evidence is None


@pytest.mark.parametrize(("share", "is_judged"), [(0.029, False), (0.031, True)])
def test_an_edit_is_judged_from_three_peaks_in_a_hundred_on(
    search: Search, share: float, is_judged: bool
) -> None:
    search.single = tempo(1.1, share=share)
    assert (judge_edits(SONG, FASTER, LIMITS).evidence is not None) == is_judged


def test_speeds_are_told_with_four_digits_and_pitches_with_three(search: Search) -> None:
    search.single = both(1.098765432, 1.23456789)
    evidence = judge_edits(SONG, FASTER, LIMITS).evidence
    assert evidence is not None
    assert (evidence.speed, evidence.semitones) == (1.0988, 1.235)


@pytest.mark.parametrize(
    ("factor", "others_play", "outcome_of_edit"),
    [
        (0.995, False, ("variant", "tempo_variant")),
        (1.005, False, ("variant", "tempo_variant")),
        (1.005, True, ("rejected", "score_below_threshold")),
        (1.002, False, ("rejected", "score_below_threshold")),
    ],
)
def test_a_slight_stretch_is_a_variant_unless_musicians_may_play_again(
    search: Search, factor: float, others_play: bool, outcome_of_edit: tuple[str, str]
) -> None:
    common = held(4, 4)
    mel_db = 0.3 * MEL_DB + 0.7 * timbre(2) if others_play else MEL_DB
    heard = common.played(factor).without_phase() + fleeting(7, 700)
    stretched = sound(faster(CHROMA, factor), faster(mel_db, factor), heard)
    song = sound(CHROMA, MEL_DB, common + fleeting(8, 700))
    search.single = tempo(factor)
    evidence = judge_edits(song, stretched, LIMITS).evidence
    assert outcome(evidence) == outcome_of_edit


def test_a_score_of_a_variant_is_never_below_zero(search: Search) -> None:
    constant = sound(np.full_like(CHROMA, 0.5), np.full_like(MEL_DB, -20.0), fleeting(1, 0))
    search.single = tempo(1.1)
    evidence = judge_edits(constant, constant, LIMITS).evidence
    assert outcome(evidence) == ("rejected", "distances_above_limits")
    assert evidence is not None
    assert evidence.score == 0.0


def half_common(frames: int) -> tuple[Features, Features]:
    """Two sounds with one harmony and timbre, but the same peaks only in their first half."""
    peaks = PEAKS.part(0, frames) + fleeting(2).part(frames, 2 * frames)
    first, second = (
        sound(CHROMA[:frames], MEL_DB[:frames], peaks)
        for peaks in (PEAKS.part(0, 2 * frames), peaks)
    )
    return first, second


def test_a_window_whose_peaks_agree_in_one_half_only_confirms_nothing() -> None:
    evidence = judge_unchanged(*half_common(WINDOW), LIMITS)
    assert outcome(evidence) == ("rejected", "common_part_too_short")
    assert evidence.segment == "local"
    assert evidence.overlap_s == pytest.approx(WINDOW * HOP_S)
    assert evidence.peak_agreement is not None
    assert evidence.peak_agreement > 0.3
    assert evidence.score is not None
    assert evidence.score < 0.3


def test_nor_does_such_a_window_of_just_the_length_that_the_local_rule_asks_for() -> None:
    limits = MatchThresholds(local_overlap_s=WINDOW * HOP_S)
    evidence = judge_unchanged(*half_common(WINDOW), limits)
    assert outcome(evidence) == ("rejected", "common_part_too_short")


def test_a_common_half_is_no_objection_where_the_score_is_too_low_anyway() -> None:
    evidence = judge_unchanged(*half_common(WINDOW), MatchThresholds(match_threshold=1.01))
    assert outcome(evidence) == ("rejected", "score_below_threshold")


def test_an_excerpt_is_too_short_to_be_asked_for_its_halves() -> None:
    frames = 110  # 5.1 s
    found = CommonStretch(lag=0, first_frame=0, last_frame=2 * frames, excess=50.0)
    evidence = judge_excerpt(*half_common(frames), LIMITS, [found])
    assert outcome(evidence) == ("rejected", "opening_sound")


@dataclass
class Phases:
    """What phases are made to say: of notes, and of one delay, which is noted when it is sought."""

    notes: NoteCoherence = field(default_factory=lambda: NoteCoherence(value=0.0, potential=0.0))
    certainty: float = 0.0
    sought: int = 0

    def certainty_of(self, match: PeakMatch) -> float:
        self.sought += 1
        return self.certainty


@pytest.fixture
def phases(monkeypatch: pytest.MonkeyPatch) -> Phases:
    """In place of what phases say."""
    phases = Phases()
    monkeypatch.setattr(f"{JUDGING}.note_coherence", lambda _: phases.notes)
    monkeypatch.setattr(f"{JUDGING}.phase_certainty", phases.certainty_of)
    return phases


def agreement_of_half() -> float:
    """Peak agreement of two whole sounds, half of whose peaks are the same."""
    half = len(PEAKS.frames) // 2
    own = MadePeaks(PEAKS.frames[:half], PEAKS.hertz[:half], PEAKS.phases[:half])
    candidate = sound(CHROMA, MEL_DB, own + fleeting(7, half))
    evidence = judge_unchanged(SONG, candidate, MatchThresholds(local_chroma_distance=-1.0))
    assert evidence.segment == "whole"
    assert evidence.overlap_s == pytest.approx(FRAMES * HOP_S)
    assert evidence.peak_agreement is not None
    return evidence.peak_agreement


def test_no_delay_is_sought_where_notes_make_a_recording_sure(phases: Phases) -> None:
    phases.notes = NoteCoherence(value=0.92, potential=20.0)
    assert agreement_of_half() == pytest.approx(0.5, abs=0.02)
    assert phases.sought == 0


def test_no_delay_is_sought_where_notes_say_that_it_would_not_be_believed(phases: Phases) -> None:
    phases.notes, phases.certainty = NoteCoherence(value=0.5, potential=20.0), 9.0
    assert agreement_of_half() == pytest.approx(0.05 * 0.5, abs=0.001)
    assert phases.sought == 0


def test_a_delay_counts_as_far_as_notes_let_it_be_believed(phases: Phases) -> None:
    # half believed: from 0.075 on, and half of the way from there to 1
    phases.notes, phases.certainty = NoteCoherence(value=0.625, potential=20.0), 9.0
    assert agreement_of_half() == pytest.approx((0.075 + 0.5 * 0.925) * 0.5, abs=0.02)
    assert phases.sought == 1
