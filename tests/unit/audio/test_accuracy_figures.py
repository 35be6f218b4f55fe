"""The arithmetic of the accuracy bench, and that its split holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.accuracy.card_rows import edit_rows
from tests.bench.accuracy.edits import list_edits
from tests.bench.accuracy.figures import Share, curve
from tests.bench.accuracy.midi import Struck, to_midi
from tests.bench.accuracy.pairs import draw_unrelated, list_pairs
from tests.bench.accuracy.tracks import Sources, list_tracks


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


def test_no_pair_crosses_the_split() -> None:
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


def test_midi_tells_long_pauses() -> None:
    midi = to_midi([Struck(0, 60, 100, 1.0, 2.0)], {0: 5})
    assert midi.startswith(b"MThd")
    assert b"\x00\xc0\x05\x87\x40\x90\x3c\x64\x87\x40\x80\x3c\x00\x00\xff\x2f\x00" in midi
    assert np.frombuffer(midi[18:22], ">u4")[0] == len(midi) - 22


def test_edits_are_summed_by_family_and_listed_by_value() -> None:
    found = {"edits": {"tempo": {"0.7": [3, 4], "1.4": [4, 4]}}}
    ((family, share, by_value),) = edit_rows(found)
    assert family == "tempo"
    assert share.startswith("0.875 [")
    assert by_value == "0.7: 3 of 4, 1.4: 4 of 4"


def test_the_grid_of_edits_covers_the_range_that_is_searched_and_leaves_it() -> None:
    speeds = [steps[0][1] for family, _, steps in list_edits() if family == "speed"]
    assert (min(speeds), max(speeds)) == pytest.approx((0.5, 2.0), abs=0.04)
    beyond = [steps[0][1] for family, _, steps in list_edits() if family.startswith("beyond")]
    assert all(not 0.5 < one < 2 for one in beyond)
