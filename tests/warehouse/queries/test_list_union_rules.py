"""The union of a list's captures: as of which capture it is shown, and in which order."""

from datetime import UTC, datetime, timedelta

import pytest

from warehouse.queries.lists import (
    ListCapture,
    captures_until,
    sort_members,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LONG_AGO_S = 3600.0


def capture(
    sequence: int, *, outcome: str = "ok", cursor_in: int = 0, age_s: float = LONG_AGO_S
) -> ListCapture:
    moment = NOW - timedelta(seconds=age_s)
    return ListCapture(
        sequence=sequence,
        outcome=outcome,
        cursor_in=cursor_in,
        has_more=True,
        data_provider="public-graph",
        observed_at=moment,
        committed_at=moment,
    )


def shown(captures: list[ListCapture], *, sequence: int | None = None) -> list[int]:
    """The sequences of the captures that a union is made of."""
    return [page.sequence for page in captures_until(captures, sequence=sequence, now=NOW)]


def test_the_newest_union_is_made_of_all_captures_oldest_first() -> None:
    assert shown([capture(3), capture(1), capture(2)]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("sequence", "expected"), [(1, [1]), (2, []), (3, [1, 3]), (4, [1, 3, 4]), (5, [])]
)
def test_a_union_as_of_a_capture_ends_with_it_and_needs_it_to_have_shown_something(
    sequence: int, expected: list[int]
) -> None:
    captures = [capture(1), capture(2, outcome="upstream_empty"), capture(3), capture(4)]
    assert shown(captures, sequence=sequence) == expected


def test_list_union_without_items_is_empty() -> None:
    assert shown([]) == []
    assert shown([capture(1, outcome="upstream_empty")]) == []


@pytest.mark.parametrize(
    ("age_s", "expected"), [(0, [1]), (29.9, [1]), (30, [1, 3]), (31, [1, 3]), (LONG_AGO_S, [1, 3])]
)
def test_a_number_missing_for_less_than_30_seconds_may_still_be_filled(
    age_s: float, expected: list[int]
) -> None:
    assert shown([capture(1), capture(3, age_s=age_s)]) == expected


def test_the_first_of_several_young_holes_ends_the_union() -> None:
    captures = [capture(1), capture(2), capture(4, age_s=5), capture(6, age_s=1)]
    assert shown(captures) == [1, 2]


def test_list_union_continues_past_an_old_gap() -> None:
    captures = [capture(1), capture(3), capture(4, age_s=5), capture(6, age_s=5)]
    assert shown(captures) == [1, 3, 4]


def test_numbers_without_a_hole_hold_nobody_up_however_young() -> None:
    assert shown([capture(1, age_s=2), capture(2, age_s=1), capture(3, age_s=0)]) == [1, 2, 3]


def test_list_union_shows_captures_after_deleted_ones() -> None:
    assert shown([capture(8, age_s=1), capture(9, age_s=0)]) == [8, 9]


def test_a_refused_capture_fills_its_number() -> None:
    captures = [capture(1), capture(2, outcome="upstream_empty", age_s=1), capture(3, age_s=0)]
    assert shown(captures) == [1, 3]


IN_PUBLIC_ORDER = ["first", "second", "also old", "old", "ancient"]


def test_without_values_the_public_order_stays() -> None:
    assert sort_members(IN_PUBLIC_ORDER, {}) == IN_PUBLIC_ORDER


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"old": 0, "ancient": 7, "second": 1, "also old": None},
            ["ancient", "second", "old", "first", "also old"],
        ),
        (
            {"old": 900, "ancient": 800, "second": 0, "also old": None},
            ["old", "ancient", "second", "first", "also old"],
        ),
    ],
)
def test_the_other_orders_go_from_most_to_least_with_the_unknown_last(
    values: dict[str, int | None], expected: list[str]
) -> None:
    assert sort_members(IN_PUBLIC_ORDER, values) == expected


def test_videos_without_a_sort_value_come_last() -> None:
    assert sort_members(IN_PUBLIC_ORDER, {"first": 0, "second": 1})[:2] == ["second", "first"]


def test_videos_with_equal_values_keep_the_public_order() -> None:
    values: dict[str, int | None] = dict.fromkeys(IN_PUBLIC_ORDER, 3)
    assert sort_members(IN_PUBLIC_ORDER, values) == IN_PUBLIC_ORDER
