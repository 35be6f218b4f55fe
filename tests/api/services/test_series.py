"""Points over time: gaps stay gaps, rounded counts are ranges, a track is the sum of its works."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reads.series import (
    rounded_range,
    to_point,
    total_over_time,
    with_jobs,
)
from warehouse.records.videos import COUNTS

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
def test_range_of_a_rounded_count_contains_the_displayed_value(shown: int) -> None:
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


def test_a_newly_found_video_is_no_growth() -> None:
    hour = timedelta(hours=1)
    points = total_over_time([
        (NOW, "1", counts(300)), (NOW + hour, "1", counts(310)), (NOW + hour, "2", counts(9_000)),
        (NOW + 2 * hour, "2", counts(9_005)), (NOW + 2 * hour, "3", counts(7)),
    ])  # fmt: skip
    assert [point.values["digg_count"] for point in points] == [300, 9_310, 9_322]
    assert [point.growth.values["digg_count"] for point in points] == [0, 10, 15]
    assert [point.growth.followed_count for point in points] == [0, 1, 2]
    assert [point.growth.new_count for point in points] == [1, 1, 1]


def test_growth_is_unknown_until_a_video_was_observed_in_two_hours() -> None:
    points = total_over_time([
        (NOW, "1", counts(5)), (NOW + timedelta(minutes=20), "1", counts(6)),
        (NOW + timedelta(hours=3), "2", counts(7)),
    ])  # fmt: skip
    assert [point.growth.values["digg_count"] for point in points] == [None, None]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 99)), max_size=20)
)
def test_growth_is_the_last_less_the_first_count_of_each_video(
    seen: list[tuple[int, str, int]],
) -> None:
    by_hour = {(hour, video): value for hour, video, value in seen}
    ordered = sorted(by_hour.items())
    points = total_over_time([
        (NOW + timedelta(hours=hour), video, counts(value)) for (hour, video), value in ordered
    ])  # fmt: skip
    runs = [[value for (_, video), value in ordered if video == name] for name in "abc"]
    expected = [run[-1] - run[0] for run in runs if len(run) > 1]
    if points:
        gained = points[-1].growth.values["digg_count"]
        assert gained == (sum(expected) if expected else None)


def test_unknown_count_in_a_series_is_null_not_zero() -> None:
    assert total_over_time([(NOW, "1", counts(None))])[0].values["share_count"] is None


def test_a_point_names_the_jobs_whose_reads_it_is_made_of() -> None:
    hour = timedelta(hours=1)
    times = [NOW, NOW + hour / 4, NOW + hour / 3, NOW + 2 * hour]
    points = total_over_time((at, str(number), counts(1)) for number, at in enumerate(times))
    named = with_jobs(points, zip(times, ["a", "b", "a", None], strict=True))
    assert [point.job_ids for point in named] == [("a", "b"), ()]
    read = to_point(NOW, counts(1), surface="x", is_exact=True, job_id="a")
    assert read.job_ids == ("a",)
