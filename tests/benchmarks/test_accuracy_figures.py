"""The arithmetic of the accuracy bench, and that its split holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.accuracy.figures import Share, curve
from benchmarks.accuracy.full_range.curves import range_curves
from benchmarks.accuracy.full_range.measuring import summed
from benchmarks.accuracy.full_range.pairs import STRANGER, RangePair
from benchmarks.accuracy.full_range.pairs import list_pairs as list_range_pairs
from benchmarks.accuracy.full_range.plan import BEYOND, CASES, PITCH, SPEED, TEMPO, edited_tracks
from benchmarks.accuracy.full_range.plan import plan as range_plan
from benchmarks.accuracy.full_range.rows import family_rows
from benchmarks.accuracy.pairs import draw_unrelated, list_pairs
from benchmarks.accuracy.sounds.midi import Struck, to_midi
from benchmarks.accuracy.sounds.tracks import Sources, list_tracks


def test_wilson_interval_is_that_of_the_textbook() -> None:
    assert Share(hits=8, total=10).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)


@given(st.integers(1, 500), st.floats(0, 1))
def test_interval_holds_the_share(total: int, part: float) -> None:
    share = Share(hits=round(part * total), total=total)
    low, high = share.interval
    assert low - 1e-12 <= share.value <= high + 1e-12


def test_area_is_one_when_every_same_pair_scores_higher() -> None:
    assert curve([0.9, 0.8, 0.2], [True, True, False]).area() == 1.0
    assert curve([0.5, 0.5], [True, False]).area() == 0.5


def test_equal_scores_are_accepted_together() -> None:
    drawn = curve([0.9, 0.7, 0.7, 0.1], [True, True, False, False])
    assert drawn.recall_at(0.99) == Share(hits=1, total=2)
    assert drawn.precision(0.7) == Share(hits=2, total=3)


def test_accuracy_pairs_do_not_cross_the_split() -> None:
    tracks = list_tracks(Sources())
    parts = {track.name: track.part for track in tracks}
    for part in ("choosing", "reported"):
        pairs = list_pairs([track for track in tracks if track.part == part])
        assert len(pairs) > 800
        assert {parts[name] for pair in pairs for name in pair.tracks} == {part}


def test_unrelated_pairs_are_of_two_tracks_and_never_twice() -> None:
    drawn = draw_unrelated(list_tracks(Sources()), 5000)
    assert len(set(drawn)) == 5000
    assert all(one.split("/")[0] != two.split("/")[0] for one, two in drawn)


def test_unrelated_pairs_are_never_both_under_a_crowd_or_both_under_a_voice() -> None:
    drawn = draw_unrelated(list_tracks(Sources()), 5000)
    for sound in ("crowd", "voice"):
        under = [tuple(sound in file for file in pair) for pair in drawn]
        assert (True, False) in under
        assert (True, True) not in under


def test_midi_tells_long_pauses() -> None:
    midi = to_midi([Struck(0, 60, 100, 1.0, 2.0)], {0: 5})
    assert midi.startswith(b"MThd")
    assert b"\x00\xc0\x05\x87\x40\x90\x3c\x64\x87\x40\x80\x3c\x00\x00\xff\x2f\x00" in midi
    assert np.frombuffer(midi[18:22], ">u4")[0] == len(midi) - 22


def test_edits_are_summed_by_family_and_listed_by_value() -> None:
    pairs = [_pair("tempo", "0.7", 0.7), _pair("tempo", "0.7", 0.7), _pair("tempo", "1.4", 1.4)]
    measured = {"families": summed(pairs, [True, False, True])}
    ((family, share, by_value, real, _),) = family_rows(measured, {})
    assert family == "tempo"
    assert share.startswith("0.667 [")
    assert by_value == "0.7: 1 of 2, 1.4: 1 of 1"
    assert real == "not measured"


def _pair(family: str, label: str, value: float) -> RangePair:
    return RangePair(
        reference="a", candidate="b", family=family, label=label, value=value, tempo=value,
        truth="variant",
    )  # fmt: skip


def test_the_cases_cover_the_range_that_is_searched_and_leave_it() -> None:
    for family in (SPEED, TEMPO):
        factors = [case.value for case in CASES if case.family == family and case.value]
        assert (min(factors), max(factors)) == pytest.approx((0.5, 2.0), abs=0.03)
    semitones = [case.value for case in CASES if case.family == PITCH and case.value]
    assert (min(semitones), max(semitones)) == (-9, 12)
    assert all(not 0.5 < case.tempo < 2 for case in CASES if case.family == BEYOND)


def test_each_edited_clip_has_a_name_of_its_own_and_meets_a_stranger() -> None:
    tracks = edited_tracks(Sources())
    clips = [clip.file for track in tracks for clip in range_plan(track)]
    assert len(set(clips)) == len(clips)
    strange = [pair for pair in list_range_pairs(tracks, []) if pair.family == STRANGER]
    assert len(strange) > 700
    assert all(pair.reference.split("/")[0] != pair.candidate.split("/")[0] for pair in strange)


def test_no_edited_track_is_one_that_constants_were_chosen_on() -> None:
    known = {(track.seed, track.kind) for track in list_tracks(Sources())}
    assert not known & {(track.seed, track.kind) for track in edited_tracks(Sources())}


def test_curves_have_a_line_for_each_tool_and_none_across_the_unchanged() -> None:
    pairs = [_pair("speed", f"{value:g}", value) for value in (0.5, 0.8, 1.2, 2.0)]
    families = summed(pairs, [True, True, False, True])
    others = {"chromaprint": {"families": families}}
    picture = range_curves({"families": families, "others": others})
    assert picture.count("<polyline") == 4
