"""Points over time: gaps stay gaps, rounded counts are ranges, a track is the sum of its works."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reads.series import COUNTS, rounded_range, to_point, total_over_time

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def counts(value: int | None) -> dict[str, int | None]:
    return dict.fromkeys(COUNTS, value)


@pytest.mark.parametrize(
    ("shown", "range_"),
    [(9_999, None), (12_000, (11_500, 13_000)), (10_000, (9_500, 11_000)), (12_345, None)],
)
def test_a_rounded_count_is_a_range(shown: int, range_: tuple[int, int] | None) -> None:
    assert rounded_range(shown) == range_


@given(st.integers(10_000, 99_999_999))
def test_the_range_holds_what_was_shown(shown: int) -> None:
    low, high = rounded_range(shown) or (shown, shown)
    assert low <= shown <= high
    assert high - low <= shown * 0.15


def test_exact_counts_have_no_range() -> None:
    assert to_point(NOW, counts(12_000), surface="x", is_exact=True).ranges == {}
    assert to_point(NOW, counts(12_000), surface="x", is_exact=False).ranges.keys() == set(COUNTS)


def test_a_track_is_the_sum_of_the_newest_counts_of_its_works() -> None:
    hour = timedelta(hours=1)
    points = total_over_time([
        (NOW, "1", counts(10)), (NOW + hour / 4, "2", counts(5)),
        (NOW + 5 * hour, "1", counts(20)), (NOW + 6 * hour, "3", counts(None)),
    ])  # fmt: skip
    assert [point.values["digg_count"] for point in points] == [15, 25, 25]
    assert [point.values["work_count"] for point in points] == [2, 2, 3]
    assert [point.observed_at for point in points] == [
        NOW + hour / 4,
        NOW + 5 * hour,
        NOW + 6 * hour,
    ]


def test_what_nobody_knows_is_not_zero() -> None:
    assert total_over_time([(NOW, "1", counts(None))])[0].values["share_count"] is None
