"""A world goes on when its clock is moved: the past stays, counts grow, works come and go."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.world.content.tables import SoundTable, VideoState, VideoTable
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.growth import DAY_S, HORIZON_DAYS
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

FIRST = SandboxWorld(7, 0.1, tracks=12)
WEEK = FIRST.at(7 * DAY_S)
END = FIRST.at(HORIZON_DAYS * DAY_S)
moments = st.integers(0, (HORIZON_DAYS + 10) * DAY_S)


def test_world_at_its_first_moment_equals_the_ungrown_world() -> None:
    same = FIRST.at(0)
    for table in ("works", "sounds"):
        for field in fields(getattr(FIRST, table)):
            before, after = (
                getattr(getattr(one, table), field.name) for one in (FIRST, same)
            )  # fmt: skip
            np.testing.assert_array_equal(before, after)
    assert same.account(3) == FIRST.account(3)


@settings(max_examples=8, deadline=None)
@given(passed_s=moments)
def test_rows_keep_their_numbers_and_ids_at_every_moment(passed_s: int) -> None:
    then = FIRST.at(passed_s)
    for table, name in (("works", "aweme_id"), ("works", "sound"), ("sounds", "music_id")):
        now, last = (getattr(getattr(one, table), name) for one in (then, END))
        np.testing.assert_array_equal(now, last[: now.size])
    assert (then.works.sound < len(then.sounds)).all()
    assert (then.works.create_time <= then.now).all()


def test_ids_never_meet_and_works_stay_in_order_of_time() -> None:
    assert np.unique(END.works.aweme_id).size == len(END.works)
    assert np.unique(END.sounds.music_id).size == len(END.sounds)
    assert (np.diff(END.works.create_time) >= 0).all()


@settings(max_examples=8, deadline=None)
@given(early=moments, late=moments)
def test_likes_of_nearly_all_works_only_grow(early: int, late: int) -> None:
    before, after = (FIRST.at(moment).works for moment in sorted((early, late)))
    gained = after.digg_count[: len(before)] - before.digg_count
    assert (gained < 0).mean() < 0.05
    for name in ("digg_count", "comment_count", "collect_count", "share_count"):
        assert (getattr(after, name) >= 0).all()


@pytest.mark.parametrize("table", [VideoTable, SoundTable])
def test_every_column_goes_on(table: type) -> None:
    rows = END.works if table is VideoTable else END.sounds
    assert {getattr(rows, field.name).size for field in fields(table)} == {len(rows)}


def test_tracks_are_used_again_under_ids_that_nobody_has_seen() -> None:
    fresh = set(END.sounds.music_id.tolist()) - set(FIRST.sounds.music_id.tolist())
    assert len(fresh) > 12
    truth = GroundTruth(END, END.tracks[0].music_id)
    wanted = {work.music_id for work in truth.works() if work.is_wanted}
    assert {int(music_id) for music_id in wanted} & fresh


def test_works_vanish_and_some_are_named_in_lists_for_a_while() -> None:
    gone = np.flatnonzero(
        (WEEK.works.state[: len(FIRST.works)] == VideoState.DELETED)
        & (FIRST.works.state == VideoState.PUBLIC)
    )
    assert gone.size > 5
    assert set(WEEK.works.is_listed[gone].tolist()) == {True, False}


def test_account_counts_grow_with_the_clock() -> None:
    before, after = FIRST.account(4), WEEK.account(4)
    assert after.follower_count > before.follower_count
    assert after.total_favorited > before.total_favorited
    assert after.nickname == before.nickname
