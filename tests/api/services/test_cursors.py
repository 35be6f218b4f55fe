"""Cursors: what a number means, and that a walk moves on by it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.queries.lists import (
    MOMENTS_FROM,
    OFFSETS,
    PLATFORM_CURSORS_FROM,
    PagePosition,
    parse_cursor,
    parse_page_cursor,
)

SEQUENCES = st.integers(1, 2**32)
OFFSETS_SHOWN = st.integers(0, OFFSETS - 1)


@given(SEQUENCES, OFFSETS_SHOWN)
def test_a_cursor_says_where_it_came_from(sequence: int, offset: int) -> None:
    assert parse_cursor(sequence * OFFSETS + offset) == PagePosition(sequence, offset)


@given(OFFSETS_SHOWN)
def test_a_small_number_is_an_offset_into_the_newest_state(offset: int) -> None:
    assert parse_cursor(offset) == PagePosition(None, offset)


@given(SEQUENCES, st.lists(st.integers(1, 20), max_size=30))
def test_a_walk_begins_anywhere_and_stays_with_its_capture(sequence: int, pages: list[int]) -> None:
    place = PagePosition(None, 0)
    for count in pages:
        place = parse_cursor(place.after(count, as_of=sequence))
        assert place.sequence == sequence
    assert place.offset == sum(pages)


def test_a_walk_never_runs_into_the_next_capture() -> None:
    place = PagePosition(7, OFFSETS - 2)
    assert parse_cursor(place.after(20, as_of=7)) == PagePosition(7, OFFSETS - 1)


@pytest.mark.parametrize("cursor", [0, 20, OFFSETS - 1, PLATFORM_CURSORS_FROM, 1_738_195_776_404])
def test_cursors_of_the_platform_are_not_taken_for_our_own(cursor: int) -> None:
    assert parse_page_cursor(cursor) is None


@pytest.mark.parametrize("cursor", [OFFSETS, 3 * OFFSETS + 7, PLATFORM_CURSORS_FROM - 1])
def test_a_place_within_a_captured_page_is_ours(cursor: int) -> None:
    assert parse_page_cursor(cursor) == parse_cursor(cursor)


def test_negative_cursor_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        parse_cursor(-1)


@pytest.mark.parametrize(
    ("cursor", "place"),
    [
        (0, PagePosition(None, 0)),
        (1_048_575, PagePosition(None, 1_048_575)),
        (1_048_576, PagePosition(1, 0)),
        (3 * 1_048_576 + 7, PagePosition(3, 7)),
    ],
)
def test_a_cursor_is_the_sequence_times_2_to_the_20_plus_an_offset(
    cursor: int, place: PagePosition
) -> None:
    assert parse_cursor(cursor) == place


def test_the_next_page_begins_behind_the_members_shown() -> None:
    assert PagePosition(None, 30).after(10, as_of=5) == 5 * 1_048_576 + 40


@pytest.mark.parametrize(("cursor", "ours"), [(549_755_813_887, True), (549_755_813_888, False)])
def test_a_cursor_of_posts_from_the_middle_of_1987_on_is_the_platforms(
    cursor: int, ours: bool
) -> None:
    assert (parse_page_cursor(cursor) is not None) is ours


MOMENTS = st.floats(1_577_836_800, 1_767_225_600).map(lambda s: datetime.fromtimestamp(s, UTC))


@given(MOMENTS, st.lists(st.integers(1, 20), min_size=1, max_size=30))
def test_a_sorted_walk_stays_with_its_moment(at: datetime, pages: list[int]) -> None:
    place = PagePosition(None, 0)
    for count in pages:
        cursor = place.after(count, as_of=7, at=place.at or at)
        assert MOMENTS_FROM <= cursor < 2**53
        place = parse_cursor(cursor)
        assert place.sequence is None
        assert place.at is not None
        assert timedelta(0) <= place.at - at < timedelta(milliseconds=16)
    assert place.offset == sum(pages)


@given(MOMENTS, st.integers(1, 10**6), st.integers(1, 20))
def test_a_sorted_page_is_told_by_its_moment_and_number(
    at: datetime, sequence: int, count: int
) -> None:
    cursor = PagePosition(sequence, 0).after_in_page(count, sequence=sequence, at=at)
    assert MOMENTS_FROM <= cursor < 2**53
    place = parse_page_cursor(cursor)
    assert place is not None
    assert (place.sequence, place.offset) == (sequence % 1024, count)
    assert place.at is not None
    assert timedelta(0) <= place.at - at < timedelta(milliseconds=16)


def test_cursor_of_a_future_time_is_refused() -> None:
    for parse in (parse_cursor, parse_page_cursor):
        with pytest.raises(ValueError, match="so late"):
            parse(2**53 - 1)
