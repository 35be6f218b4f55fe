"""A search over a world finds works by words of caption, title and hashtag, in a stable order."""

import numpy as np
import pytest

from sandbox.world.content.tables import VideoState
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.guest_view import (
    HASHTAG_DEPTH,
    VideoTextIndex,
    hashtag_id,
    hashtags_in,
    normalise_text,
)
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def index() -> VideoTextIndex:
    return VideoTextIndex(SandboxWorld(31, 1.0))


def test_a_title_finds_the_recording_its_covers_its_variants_and_its_namesakes(
    index: VideoTextIndex,
) -> None:
    world = index.world
    track = world.tracks[6]
    found = {str(world.works.aweme_id[row]) for row in index.ranked(_title(world, 6))}
    relations = {
        work.relation
        for work in GroundTruth(world, track.music_id).works()
        if work.aweme_id in found
    }
    assert relations == {"same", "variant", "cover", "other_same_title"}


def test_works_that_no_other_way_leads_to_are_found_by_their_title(index: VideoTextIndex) -> None:
    world = index.world
    hidden, found = set[str](), set[str]()
    for number, track in enumerate(world.tracks):
        truth = GroundTruth(world, track.music_id)
        hidden |= truth.wanted() - truth.reachable()
        rows = index.ranked(_title(world, number))
        found |= {str(world.works.aweme_id[row]) for row in rows}
    assert hidden
    assert hidden & found


def test_the_order_is_by_fit_and_engagement_and_always_the_same(index: VideoTextIndex) -> None:
    title = _title(index.world, 3)
    rows = index.ranked(title)
    again = VideoTextIndex(index.world).ranked(f"  《{title}》 ")
    likes = np.log10(1 + index.world.works.digg_count[list(rows)])
    assert rows == again
    assert likes[:10].mean() > likes[-10:].mean()


def test_guests_are_shown_public_works_only(index: VideoTextIndex) -> None:
    works = index.world.works
    rows = index.ranked("美食")
    assert rows
    assert set(works.state[list(rows)].tolist()) == {int(VideoState.PUBLIC)}


@pytest.mark.parametrize("term", ["", "  ", "!?", "《》", "qqqqqq"])
def test_a_term_that_fits_nothing_finds_nothing(index: VideoTextIndex, term: str) -> None:
    assert index.ranked(term) == ()


def test_a_hashtag_lists_the_works_that_bear_it_most_liked_first(index: VideoTextIndex) -> None:
    works, ch_id = index.world.works, str(hashtag_id("卡点"))
    rows = index.members(ch_id)
    expected = {
        row for row in range(len(works))
        if works.is_listed[row] and "卡点" in hashtags_in(index.captions[row])
    }  # fmt: skip
    assert set(rows.tolist()) == expected
    assert (np.diff(works.digg_count[rows]) <= 0).all()
    assert index.listed(ch_id) == rows[:HASHTAG_DEPTH].tolist()
    assert index.names[ch_id] == "卡点"
    assert "123" not in index.names


def test_letters_are_compared_in_one_case_and_form() -> None:
    assert normalise_text("ＡＢ《C》d-é").split() == ["ab", "c", "d", "é"]


def _title(world: SandboxWorld, track: int) -> str:
    return world.title_of(world.tracks[track].score)
