"""Stretches that peaks found: which windows and which excerpts of them are judged, and how.

Measuring is replaced by a note of what is asked for. At 46.4 ms a frame, a window of 6 s has 129
frames, an excerpt 43 (2 s) to 118 (the last below 5.5 s). Stretches count fine frames, two a frame.
"""

from dataclasses import dataclass, field, replace

import pytest

from pipelines.audio.features.sound_features import Centred, Features
from pipelines.audio.matching.agreement import CommonStretch
from pipelines.audio.matching.alignment import Block
from pipelines.audio.matching.judging import judge_excerpt, judge_windows
from tests.audio.made_sounds import HOP_S, fleeting, melody, sound, timbre
from warehouse.records.evidence import MatchThresholds, PairEvidence

type Asked = tuple[int, int, int]
LIMITS = MatchThresholds()
SILENT_PEAKS = fleeting(1, 0)
SAME, HALF = (1.0, 1.0), (0.5, 0.5)  # correlations that score 0.1 c + 0.2 m: 0.3 and 0.15
EASY = MatchThresholds(match_threshold=0.25)


@dataclass
class Measuring:
    """Notes the blocks that are asked for: first frame in the reference, in the candidate, length.

    Their correlations are what is told here for their first frame in the candidate, else 0.
    """

    correlations: dict[int, tuple[float, float]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def __call__(
        self,
        reference: Centred,
        candidate: Centred,
        reference_frame: int,
        candidate_frame: int,
        frames: int,
    ) -> Block:
        del reference, candidate
        self.asked.append((reference_frame, candidate_frame, frames))
        chroma, mfcc = self.correlations.get(candidate_frame, (0.0, 0.0))
        return Block(
            reference_frame=reference_frame,
            candidate_frame=candidate_frame,
            frames=frames,
            chroma=chroma,
            mfcc=mfcc,
        )


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    """In place of the measuring of blocks."""
    measuring = Measuring()
    monkeypatch.setattr("pipelines.audio.matching.judging.block_at", measuring)
    return measuring


def lasting(frames: int) -> Features:
    """A sound of so many frames, without peaks."""
    return sound(melody(1, frames=frames), timbre(1, frames=frames), SILENT_PEAKS)


SOUND = lasting(400)


def stretch(first: int, last: int, *, lag: int = 0) -> CommonStretch:
    """In fine frames."""
    return CommonStretch(lag=lag, first_frame=first, last_frame=last, excess=50.0)


def outcome(evidence: PairEvidence | None) -> tuple[str, str]:
    assert evidence is not None
    return evidence.verdict, evidence.reason


def windows(
    measuring: Measuring, reference: Features, candidate: Features, *stretches: CommonStretch
) -> list[Asked]:
    """What is looked at if no window meets the rule."""
    assert judge_windows(reference, candidate, LIMITS, stretches) is None
    return measuring.asked


def excerpts(
    measuring: Measuring, reference: Features, candidate: Features, *stretches: CommonStretch
) -> list[Asked]:
    judge_excerpt(reference, candidate, LIMITS, stretches)
    return measuring.asked


def test_windows_lie_at_the_start_the_middle_and_the_end_of_a_stretch(
    measuring: Measuring,
) -> None:
    # frames 50 to 350; the last window begins at 350 - 129 = 221, the middle one at 271 / 2
    asked = windows(measuring, SOUND, SOUND, stretch(101, 701))
    assert asked == [(50, 50, 129), (135, 135, 129), (221, 221, 129)]


@pytest.mark.parametrize("window_s", [3.0, 4.0])
def test_a_window_is_as_long_as_the_limits_say(measuring: Measuring, window_s: float) -> None:
    judge_windows(SOUND, SOUND, MatchThresholds(local_window_s=window_s), [stretch(100, 700)])
    assert {frames for _, _, frames in measuring.asked} == {{3.0: 65, 4.0: 86}[window_s]}


@pytest.mark.parametrize(("lag", "frames"), [(60, 30), (-60, -30), (63, 32), (61, 30)])
def test_a_window_of_the_reference_begins_later_by_the_lag(
    measuring: Measuring, lag: int, frames: int
) -> None:
    asked = windows(measuring, SOUND, SOUND, stretch(200, 600, lag=lag))
    assert [(row - column, column) for row, column, _ in asked] == [
        (frames, place) for place in (100, 135, 171)
    ]


def test_windows_begin_no_earlier_than_the_reference(measuring: Measuring) -> None:
    # the reference begins at frame 40 of the candidate
    asked = windows(measuring, SOUND, SOUND, stretch(0, 600, lag=-80))
    assert asked == [(0, 40, 129), (45, 85, 129), (131, 171, 129)]


def test_windows_end_no_later_than_the_candidate(measuring: Measuring) -> None:
    # 300 frames: the last window begins at 171
    asked = windows(measuring, SOUND, lasting(300), stretch(100, 700))
    assert asked == [(50, 50, 129), (135, 135, 129), (171, 171, 129)]


def test_windows_end_no_later_than_the_reference(measuring: Measuring) -> None:
    # 250 frames of the reference, heard from its frame 30 on: 220 frames of the candidate
    asked = windows(measuring, lasting(250), SOUND, stretch(20, 700, lag=60))
    assert asked == [(40, 10, 129), (121, 91, 129)]


def test_a_stretch_shorter_than_a_window_is_looked_at_from_its_start_and_before(
    measuring: Measuring,
) -> None:
    # frames 150 to 250: windows that begin at 150, end at 250, and one between them
    asked = windows(measuring, SOUND, SOUND, stretch(300, 500))
    assert asked == [(121, 121, 129), (135, 135, 129), (150, 150, 129)]


def test_windows_that_would_begin_before_the_sound_are_one_at_its_start(
    measuring: Measuring,
) -> None:
    asked = windows(measuring, SOUND, SOUND, stretch(0, 200, lag=60))
    assert asked == [(30, 0, 129)]


@pytest.mark.parametrize(("frames", "expected"), [(128, []), (129, [(0, 0, 129)])])
def test_an_overlap_of_exactly_one_window_is_enough(
    measuring: Measuring, frames: int, expected: list[Asked]
) -> None:
    assert windows(measuring, SOUND, lasting(frames), stretch(0, 258)) == expected


@pytest.mark.parametrize(("frames", "expected"), [(168, []), (169, [(0, 40, 129)])])
def test_candidate_before_the_start_of_the_reference_does_not_overlap(
    measuring: Measuring, frames: int, expected: list[Asked]
) -> None:
    assert windows(measuring, SOUND, lasting(frames), stretch(80, 338, lag=-80)) == expected


def test_after_a_stretch_that_is_too_short_the_next_one_is_looked_at(measuring: Measuring) -> None:
    short, long = stretch(0, 100, lag=-600), stretch(0, 258)  # 100 frames in common, and all
    assert windows(measuring, SOUND, SOUND, short, long) == [(0, 0, 129)]


def test_the_first_window_that_confirms_is_told_and_ends_the_search(measuring: Measuring) -> None:
    measuring.correlations = {135: SAME, 221: SAME}
    evidence = judge_windows(SOUND, SOUND, EASY, [stretch(100, 700)])
    assert outcome(evidence) == ("confirmed", "local_rule_met")
    assert evidence is not None
    assert evidence.segment == "local"
    assert evidence.candidate_start_s == pytest.approx(135 * HOP_S)
    assert evidence.overlap_s == pytest.approx(129 * HOP_S)
    assert evidence.score == pytest.approx(0.3)
    assert [place for _, place, _ in measuring.asked] == [50, 135]


def test_a_window_that_meets_the_rule_but_scores_too_low_is_passed_over(
    measuring: Measuring,
) -> None:
    measuring.correlations = {50: HALF, 221: SAME}
    evidence = judge_windows(SOUND, SOUND, EASY, [stretch(100, 700)])
    assert evidence is not None
    assert evidence.candidate_start_s == pytest.approx(221 * HOP_S)


@pytest.mark.parametrize("correlations", [(1.0, 0.0), (0.3, 1.0)], ids=["timbre", "harmony"])
def test_a_window_that_does_not_meet_the_rule_confirms_nothing_whatever_its_score(
    measuring: Measuring, correlations: tuple[float, float]
) -> None:
    measuring.correlations = dict.fromkeys((50, 135, 221), correlations)
    any_score = MatchThresholds(match_threshold=0.0)
    assert judge_windows(SOUND, SOUND, any_score, [stretch(100, 700)]) is None


def test_an_excerpt_is_all_of_a_stretch_below_five_and_a_half_seconds(
    measuring: Measuring,
) -> None:
    asked = excerpts(measuring, SOUND, SOUND, stretch(101, 251, lag=60))
    assert asked == [(80, 50, 75)]


@pytest.mark.parametrize(("last", "expected"), [(184, []), (186, [(50, 50, 43)])])
def test_an_excerpt_has_at_least_two_seconds(
    measuring: Measuring, last: int, expected: list[Asked]
) -> None:
    assert excerpts(measuring, SOUND, SOUND, stretch(100, last)) == expected


@pytest.mark.parametrize(
    ("last", "first_kept"),
    [(168, 50), (169, 50), (170, 51), (251, 91)],
    ids=["just_short_enough", "one_too_many", "two_too_many", "far_too_many"],
)
def test_a_longer_stretch_is_shortened_around_its_middle(
    measuring: Measuring, last: int, first_kept: int
) -> None:
    asked = excerpts(measuring, SOUND, SOUND, stretch(100, 2 * last))
    assert asked == [(first_kept, first_kept, 118)]
    assert 118 * HOP_S < LIMITS.local_overlap_s <= 119 * HOP_S


def test_where_the_rule_asks_for_a_whole_number_of_frames_an_excerpt_has_one_less(
    measuring: Measuring,
) -> None:
    limits = MatchThresholds(local_overlap_s=100 * HOP_S)
    judge_excerpt(SOUND, SOUND, limits, [stretch(100, 400)])
    assert measuring.asked == [(75, 75, 99)]


def test_an_excerpt_begins_no_earlier_than_the_reference(measuring: Measuring) -> None:
    assert excerpts(measuring, SOUND, SOUND, stretch(20, 250, lag=-80)) == [(0, 40, 85)]


def test_an_excerpt_ends_no_later_than_the_candidate(measuring: Measuring) -> None:
    assert excerpts(measuring, SOUND, lasting(110), stretch(40, 300)) == [(20, 20, 90)]


def test_an_excerpt_ends_no_later_than_the_reference(measuring: Measuring) -> None:
    asked = excerpts(measuring, lasting(110), SOUND, stretch(40, 300, lag=40))
    assert asked == [(40, 20, 70)]


def test_each_stretch_gives_an_excerpt_but_those_that_are_too_short(measuring: Measuring) -> None:
    asked = excerpts(
        measuring, SOUND, SOUND, stretch(0, 80), stretch(100, 200), stretch(300, 420, lag=-20)
    )
    assert asked == [(50, 50, 50), (140, 150, 60)]


def test_without_a_stretch_of_two_seconds_there_is_no_excerpt(measuring: Measuring) -> None:
    assert judge_excerpt(SOUND, SOUND, LIMITS, []) is None
    assert judge_excerpt(SOUND, SOUND, LIMITS, [stretch(0, 80)]) is None
    assert measuring.asked == []


def test_an_excerpt_that_scores_enough_is_a_variant(measuring: Measuring) -> None:
    measuring.correlations = {50: SAME}
    evidence = judge_excerpt(SOUND, SOUND, EASY, [stretch(100, 250, lag=60)])
    assert outcome(evidence) == ("variant", "excerpt_variant")
    assert evidence is not None
    assert (evidence.segment, evidence.speed, evidence.semitones) == ("local", 1.0, 0.0)
    assert evidence.reference_start_s == pytest.approx(80 * HOP_S)
    assert evidence.candidate_start_s == pytest.approx(50 * HOP_S)
    assert evidence.overlap_s == pytest.approx(75 * HOP_S)
    assert evidence.score == pytest.approx(0.3)


def test_an_excerpt_that_scores_too_low_is_rejected_for_its_score(measuring: Measuring) -> None:
    measuring.correlations = {50: HALF}
    evidence = judge_excerpt(SOUND, SOUND, EASY, [stretch(100, 250)])
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence is not None
    assert evidence.score == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("chroma", "mfcc", "expected"),
    [
        (0.5, 0.25, ("variant", "excerpt_variant")),
        (0.4375, 1.0, ("rejected", "distances_above_limits")),
        (1.0, 0.1875, ("rejected", "distances_above_limits")),
    ],
    ids=["both_just_enough", "harmony_too_far", "timbre_too_far"],
)
def test_both_distances_of_an_excerpt_must_be_within_the_limits_of_the_local_rule(
    measuring: Measuring, chroma: float, mfcc: float, expected: tuple[str, str]
) -> None:
    limits = MatchThresholds(
        local_chroma_distance=0.5, local_mfcc_distance=0.75, match_threshold=0.05
    )
    measuring.correlations = {50: (chroma, mfcc)}
    evidence = judge_excerpt(SOUND, SOUND, limits, [stretch(100, 250)])
    assert outcome(evidence) == expected
    assert evidence is not None
    share = 1.0 if expected[0] == "variant" else 0.3
    assert evidence.score == pytest.approx(share * (0.1 * chroma + 0.2 * mfcc))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_the_best_excerpt_is_told_and_one_without_the_rule_counts_least(
    measuring: Measuring, order: tuple[int, ...]
) -> None:
    measuring.correlations = {
        10: (0.4, 0.2),  # 0.08
        70: HALF,  # 0.15
        130: (0.3, 1.0),  # 0.23, but too far in harmony
    }
    stretches = [stretch(20, 120), stretch(140, 240), stretch(260, 360)]
    evidence = judge_excerpt(SOUND, SOUND, LIMITS, [stretches[place] for place in order])
    assert outcome(evidence) == ("rejected", "score_below_threshold")
    assert evidence is not None
    assert evidence.candidate_start_s == pytest.approx(70 * HOP_S)


ONCE = stretch(0, 160, lag=400)  # frames 200 to 280 of the reference, 0 to 80 of the candidate


def kind(measuring: Measuring, *others: CommonStretch, once: CommonStretch = ONCE) -> str:
    """Whether a stretch from the start is an excerpt or a looped one, beside others."""
    measuring.correlations = {once.first_frame // 2: SAME}
    evidence = judge_excerpt(SOUND, SOUND, EASY, [once, *others])
    assert evidence is not None
    assert evidence.verdict == "variant"
    assert evidence.candidate_start_s == pytest.approx(once.first_frame // 2 * HOP_S)
    return evidence.reason


def test_an_excerpt_that_occurs_once_is_not_looped(measuring: Measuring) -> None:
    assert kind(measuring) == "excerpt_variant"


@pytest.mark.parametrize("first", [160, 240, 600])
def test_an_excerpt_that_occurs_again_later_is_looped(measuring: Measuring, first: int) -> None:
    again = stretch(first, first + 160, lag=400 - first)
    assert kind(measuring, again) == "looped_excerpt_variant"


def test_a_place_that_chance_finds_again_does_not_make_an_excerpt_a_loop(
    measuring: Measuring,
) -> None:
    again = replace(stretch(160, 320, lag=240), excess=4.0)
    assert kind(measuring, again) == "excerpt_variant"
    assert kind(measuring, replace(again, excess=5.1)) == "looped_excerpt_variant"


def test_an_excerpt_that_occurs_again_earlier_is_looped(measuring: Measuring) -> None:
    late = stretch(400, 560, lag=-300)  # frames 50 to 130 of the reference
    assert kind(measuring, stretch(40, 200, lag=60), once=late) == "looped_excerpt_variant"


def test_another_part_of_the_reference_elsewhere_is_no_loop(measuring: Measuring) -> None:
    before, after = stretch(300, 500, lag=-200), stretch(300, 500, lag=300)
    assert kind(measuring, before, after) == "excerpt_variant"


def test_one_repetition_among_other_stretches_makes_a_loop(measuring: Measuring) -> None:
    elsewhere, again = stretch(300, 500, lag=-200), stretch(500, 660, lag=-100)
    assert kind(measuring, elsewhere, again) == "looped_excerpt_variant"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (480, 700, "looped_excerpt_variant"),
        (481, 700, "looped_excerpt_variant"),
        (482, 700, "excerpt_variant"),
        (300, 480, "looped_excerpt_variant"),
        (300, 479, "excerpt_variant"),
    ],
    ids=["last_half", "from_a_fine_frame_on", "less_than_it", "first_half", "less_than_that"],
)
def test_half_of_an_excerpt_must_occur_again(
    measuring: Measuring, first: int, last: int, expected: str
) -> None:
    # 40 of the frames 200 to 280
    assert kind(measuring, stretch(first, last)) == expected


def test_half_of_an_odd_number_of_frames_is_not_reached_by_the_smaller_half(
    measuring: Measuring,
) -> None:
    odd = stretch(0, 158, lag=400)  # 79 frames: 40 of them are half, 39 are not
    assert kind(measuring, stretch(300, 479), once=odd) == "excerpt_variant"
    assert kind(measuring, stretch(300, 480), once=odd) == "looped_excerpt_variant"


@pytest.mark.parametrize(
    ("first", "expected"),
    [(122, "looped_excerpt_variant"), (120, "excerpt_variant")],
    ids=["less_than_a_quarter", "a_quarter"],
)
def test_looped_excerpt_may_overlap_its_repetition_by_a_quarter(
    measuring: Measuring, first: int, expected: str
) -> None:
    # of 80 frames from 0 on, a repetition from frame 61 shares 19, from frame 60 it shares 20
    assert kind(measuring, stretch(first, first + 160, lag=400 - first)) == expected


def test_the_same_stretch_found_a_frame_off_is_no_loop(measuring: Measuring) -> None:
    assert kind(measuring, stretch(0, 160, lag=402)) == "excerpt_variant"
