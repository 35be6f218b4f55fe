"""A walk of a list stops for each of its reasons, and says which."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from pipelines.captures.walks import ListWalk, ListWalkState
from warehouse.records.errors import (
    SURFACE_OFF,
    ForbiddenError,
    SubstitutionError,
    UpstreamError,
    VerificationDemandedError,
)
from warehouse.records.videos import Video, VideoPage


def page(*ids: str, cursor: int | None, has_more: bool, foreign: Sequence[str] = ()) -> VideoPage:
    videos, others = (
        tuple(
            Video(aweme_id=name, surface="music_list", observed_at=datetime.now(UTC))
            for name in names
        )
        for names in (ids, foreign)
    )
    return VideoPage(videos=videos, foreign=others, cursor=cursor, has_more=has_more)


async def walked(
    pages: Sequence[VideoPage | UpstreamError], *, limit: int = 100, page_limit: int = 10
) -> tuple[ListWalk, ListWalkState, list[int]]:
    script, cursors = list(pages), list[int]()

    async def fetch(cursor: int) -> VideoPage:
        cursors.append(cursor)
        step = script.pop(0)
        if isinstance(step, UpstreamError):
            raise step
        return step

    steps = ListWalkState(limit=limit, page_limit=page_limit)
    return await steps.walk("music_list", fetch), steps, cursors


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (page("c", cursor=4, has_more=False), "exhausted"),
        (page(cursor=4, has_more=False), "exhausted"),
        (page(cursor=2, has_more=True), "cursor_stalled"),
        (page("c", cursor=2, has_more=True), "cursor_stalled"),
        (page("a", "b", cursor=4, has_more=True), "no_new_items"),
        (VerificationDemandedError("no", surface="music_list"), "upstream_verification"),
        (ForbiddenError("off", surface="music_list", reason=SURFACE_OFF), "surface_off"),
    ],
)
async def test_walk_stops_for_its_reason(last: VideoPage | UpstreamError, reason: str) -> None:
    walk, steps, cursors = await walked([page("a", "b", cursor=2, has_more=True), last])
    assert (walk.coverage.stop_reason, cursors) == (reason, [0, 2])
    assert list(steps.videos)[:2] == ["a", "b"]


async def test_a_list_that_shows_nothing_is_not_known_to_be_complete() -> None:
    walk, steps, _ = await walked([page(cursor=0, has_more=False)])
    assert (walk.coverage.stop_reason, steps.pages, steps.has_more) == ("empty_ambiguous", 1, False)


@pytest.mark.parametrize("count", [1, 3])
async def test_empty_pages_in_the_middle_are_passed_over(count: int) -> None:
    empty = [page(cursor=3 + n, has_more=True) for n in range(count)]
    pages = [page("a", cursor=2, has_more=True), *empty, page("b", cursor=9, has_more=True)]
    walk, steps, cursors = await walked([*pages, *empty, page("c", cursor=30, has_more=False)])
    assert (walk.coverage.stop_reason, list(steps.videos)) == ("exhausted", ["a", "b", "c"])
    assert (steps.pages, len(cursors)) == (3 + 2 * count, 3 + 2 * count)


async def test_a_fourth_empty_page_in_a_row_ends_the_list_as_stalled() -> None:
    empty = [page(cursor=3 + n, has_more=True) for n in range(4)]
    walk, steps, cursors = await walked([page("a", cursor=2, has_more=True), *empty])
    assert (walk.coverage.stop_reason, cursors) == ("cursor_stalled", [0, 2, 3, 4, 5])
    assert (list(steps.videos), steps.cursor, steps.has_more) == (["a"], 6, True)


async def test_the_page_limit_counts_no_empty_pages() -> None:
    empty = page(cursor=2, has_more=True)
    walk, steps, _ = await walked([empty, page("a", cursor=4, has_more=True)], page_limit=1)
    assert (walk.coverage.stop_reason, list(steps.videos), steps.cursor) == ("page_limit", ["a"], 4)


async def test_a_list_of_nothing_but_empty_pages_is_not_known_to_be_complete() -> None:
    walk, _, _ = await walked([page(cursor=2, has_more=True), page(cursor=2, has_more=False)])
    assert walk.coverage.stop_reason == "empty_ambiguous"


async def test_a_list_without_a_further_page_has_ended() -> None:
    steps = ListWalkState(limit=9, page_limit=9, cursor=20)

    async def fetch(_cursor: int) -> VideoPage:
        return page(cursor=20, has_more=False)

    walk = await steps.walk("music_list", fetch)
    assert walk.coverage.stop_reason == "exhausted"


async def test_walk_ends_at_the_candidate_limit() -> None:
    pages = [page(str(n), cursor=n + 1, has_more=True) for n in range(9)]
    walk, steps, _ = await walked(pages, limit=3)
    assert (walk.coverage.stop_reason, len(steps.videos)) == ("candidate_limit", 3)


async def test_walk_ends_at_the_page_limit() -> None:
    pages = [page(str(n), cursor=n + 1, has_more=True) for n in range(9)]
    walk, steps, _ = await walked(pages, page_limit=2)
    assert (walk.coverage.stop_reason, steps.pages, steps.items) == ("page_limit", 2, 2)


async def test_repeated_item_counts_as_an_item_once_new() -> None:
    pages = [page("a", "a", cursor=2, has_more=True), page("a", "b", cursor=4, has_more=False)]
    walk, steps, _ = await walked(pages)
    assert (walk.coverage.stop_reason, steps.items, list(steps.videos)) == (
        "exhausted",
        4,
        ["a", "b"],
    )


async def test_some_foreign_rows_are_set_apart_and_counted() -> None:
    first = page("a", "b", cursor=2, has_more=True, foreign=["x", "y"])
    walk, _, _ = await walked([first, page("c", cursor=4, has_more=False, foreign=["x"])])
    assert (walk.coverage.stop_reason, walk.error) == ("exhausted", None)
    assert [video.aweme_id for video in walk.videos] == ["a", "b", "c"]
    assert [video.aweme_id for video in walk.foreign] == ["x", "y"]
    assert (walk.coverage.items, walk.coverage.new_items, walk.coverage.foreign_rows) == (6, 3, 3)


async def test_a_page_of_mostly_foreign_rows_is_a_substitution_and_later_pages_are_read() -> None:
    first = page("a", cursor=2, has_more=True, foreign=["x", "y"])
    walk, steps, cursors = await walked([first, page("b", cursor=4, has_more=False)])
    assert (walk.coverage.stop_reason, cursors) == ("upstream_substitution", [0, 2])
    assert isinstance(steps.error, SubstitutionError)
    assert list(steps.videos) == ["a", "b"]


async def test_a_page_of_foreign_rows_alone_goes_on_like_any_other() -> None:
    first = page(cursor=2, has_more=True, foreign=["x"])
    walk, steps, cursors = await walked([first, page("a", cursor=4, has_more=False)])
    assert (walk.coverage.stop_reason, cursors, list(steps.videos)) == (
        "upstream_substitution",
        [0, 2],
        ["a"],
    )


async def test_foreign_rows_count_towards_the_limit() -> None:
    walk, _, cursors = await walked(
        [page("a", "b", cursor=2, has_more=True, foreign=["x"])], limit=3
    )
    assert (walk.coverage.stop_reason, cursors) == ("candidate_limit", [0])
