"""Lead and lag: the bounds hold whatever was observed when, and say so when they are too wide."""

from datetime import UTC, date, datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelines.charts.rules.platform_comparison import (
    LEAST_DAYS,
    WIDEST_DAYS,
    ChartEntry,
    VideoLikes,
    estimate_lead,
    find_entry,
    find_rise,
    to_video_likes,
)

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
ENTRY = ChartEntry(day=date(2026, 3, 21), after=date(2026, 3, 20))


def at(day: float) -> datetime:
    return FIRST + timedelta(days=day)


def work(*seen: tuple[float, int], published: float | None = 0) -> VideoLikes:
    return VideoLikes(
        published_at=None if published is None else at(published),
        observations=tuple((at(day), likes) for day, likes in seen),
    )


@pytest.mark.parametrize(
    ("stated", "published"),
    [
        (None, None),
        (1_764_000_000, datetime(2025, 11, 24, 16, tzinfo=UTC)),
        (1_764_000_000_000, None),
    ],
)
def test_a_time_that_no_calendar_has_is_an_unknown_time(
    stated: int | None, published: datetime | None
) -> None:
    row = {"aweme_id": "1", "create_time": stated, "observed_at": FIRST, "digg_count": 3}
    assert to_video_likes([row]) == [VideoLikes(published_at=published, observations=((FIRST, 3),))]


def test_half_of_the_likes_lies_between_the_looks_around_it() -> None:
    rise = find_rise([work((2, 10), (4, 40), (6, 90), (8, 100))])
    assert (rise.digg_count, rise.after, rise.before) == (100, at(4), at(6))


def test_growth_before_the_first_look_may_be_as_old_as_the_work() -> None:
    rise = find_rise([work((30, 90), (31, 100), published=0)])
    assert (rise.after, rise.before) == (at(0), at(30))


def test_works_without_a_date_leave_the_beginning_open() -> None:
    assert find_rise([work((30, 90), (31, 100), published=None)]).after is None
    mixed = [work((5, 30), published=None), work((2, 10), (4, 70), published=1)]
    assert find_rise(mixed).after == at(2)


def test_a_count_that_went_down_is_held_at_its_highest() -> None:
    rise = find_rise([work((1, 80), (2, 60), (3, 100))])
    assert (rise.digg_count, rise.before) == (100, at(1))


def test_a_lead_is_the_middle_of_its_bounds_with_what_stands_behind_it() -> None:
    lead, rise = estimate_lead(ENTRY, [work((2, 10), (4, 40), (6, 90), (8, 100))])
    assert rise.before == at(6)
    assert (lead.low_days, lead.high_days, lead.days) == (13.0, 17.0, 15.0)
    assert (lead.direction, lead.reason) == ("platform_first", None)
    assert (lead.work_count, lead.observation_count, lead.observed_day_count) == (1, 4, 4)


def test_a_song_that_rises_after_its_entry_lags() -> None:
    lead, _ = estimate_lead(ENTRY, [work((22, 1), (24, 4), (26, 9), (28, 10), published=21)])
    assert lead.direction == "chart_first"
    assert lead.days is not None
    assert lead.days < 0


@pytest.mark.parametrize(
    ("entry", "works", "reason"),
    [
        (ENTRY, [], "no_observations"),
        (ENTRY, [work()], "no_observations"),
        (ENTRY, [work((1, 0), (2, 0), (3, 0))], "no_likes"),
        (ENTRY, [work((1, 5), (2, 9))], "too_few_observations"),
        (ENTRY, [work((1.0, 5), (1.2, 9), (1.4, 10))], "too_few_observations"),
        (ChartEntry(day=ENTRY.day, after=None), [work((1, 5), (2, 9), (3, 10))], "entry_not_seen"),
        (ENTRY, [work((1, 9), (2, 9), (3, 10), published=None)], "publication_unknown"),
        (ENTRY, [work((90, 9), (91, 9), (92, 10))], "bounds_too_wide"),
        (ChartEntry(day=ENTRY.day, after=date(2026, 1, 1)), [work((1, 5), (2, 9), (3, 10))],
         "bounds_too_wide"),
    ],
)  # fmt: skip
def test_chart_lead_has_a_reason_if_it_cannot_be_estimated(
    entry: ChartEntry, works: list[VideoLikes], reason: str
) -> None:
    lead, _ = estimate_lead(entry, works)
    assert (lead.days, lead.reason) == (None, reason)


def test_chart_lead_with_one_bound_can_have_a_direction() -> None:
    lead, _ = estimate_lead(ENTRY, [work((1, 9), (2, 9), (3, 10), published=None)])
    assert (lead.low_days, lead.high_days, lead.direction) == (18.0, None, "platform_first")


def test_chart_lead_with_bounds_around_zero_is_undecided() -> None:
    lead, _ = estimate_lead(ENTRY, [work((18, 1), (19, 2), (22, 9), (25, 10), published=17)])
    assert (lead.direction, lead.reason) == ("undecided", None)


def test_an_entry_is_known_as_closely_as_the_issues_around_it() -> None:
    days = [date(2026, 3, day) for day in (1, 2, 9, 10, 11)]
    assert find_entry(days[3:], days) == ChartEntry(day=days[3], after=days[2])
    assert find_entry(days[2:], days[::-1]) == ChartEntry(day=days[2], after=days[1])
    assert find_entry(days, days) == ChartEntry(day=days[0], after=None)


curves = st.lists(
    st.tuples(st.integers(0, 400), st.integers(1, 50)), min_size=1, max_size=12,
    unique_by=lambda step: step[0],
).map(sorted)  # fmt: skip
"""The truth of a work: on which tenths of a day it grew, and by how much."""
looks = st.lists(st.integers(0, 450), min_size=1, max_size=8, unique=True).map(sorted)


def seen_of(curve: list[tuple[int, int]], moments: list[int]) -> VideoLikes:
    """What looks at some moments show of a work that was published with its first growth."""
    seen = [(moment, sum(by for day, by in curve if day <= moment)) for moment in moments]
    return VideoLikes(
        published_at=at(curve[0][0] / 10),
        observations=tuple((at(moment / 10), likes) for moment, likes in seen if likes),
    )


@given(st.lists(st.tuples(curves, looks), min_size=1, max_size=4))
def test_the_true_moment_lies_within_the_bounds(
    truth: list[tuple[list[tuple[int, int]], list[int]]],
) -> None:
    """The last look sees all of it: the bounds are about the likes last seen."""
    works = [seen_of(curve, [*moments, 451]) for curve, moments in truth]
    steps = sorted(step for curve, _ in truth for step in curve)
    totals = list(accumulate(by for _, by in steps))
    reached = next(
        day for (day, _), now in zip(steps, totals, strict=True) if now * 2 >= totals[-1]
    )
    rise = find_rise(works)
    assert rise.after is not None
    assert rise.before is not None
    assert rise.after <= at(reached / 10) <= rise.before


@given(curves, looks, st.integers(0, 450))
def test_additional_observation_never_widens_the_bounds_of_a_rise(
    curve: list[tuple[int, int]], moments: list[int], more: int
) -> None:
    assume(more not in moments)
    few = find_rise([seen_of(curve, [*moments, 451])])
    many = find_rise([seen_of(curve, sorted([*moments, more, 451]))])
    assert few.after is not None
    assert few.before is not None
    assert many.after is not None
    assert many.before is not None
    assert few.after <= many.after <= many.before <= few.before


@given(st.lists(st.tuples(curves, looks), min_size=1, max_size=4), st.integers(-300, 300))
def test_the_lead_moves_with_the_clock_and_not_with_the_scale(
    truth: list[tuple[list[tuple[int, int]], list[int]]], days: int
) -> None:
    works = [seen_of(curve, [*moments, 451]) for curve, moments in truth]
    moved = [
        VideoLikes(
            published_at=(one.published_at or FIRST) + timedelta(days=days),
            observations=tuple(
                (moment + timedelta(days=days), 7 * likes) for moment, likes in one.observations
            ),
        )
        for one in works
    ]
    before, _ = estimate_lead(ENTRY, works)
    after, _ = estimate_lead(ENTRY, moved)
    assert after.low_days == pytest.approx((before.low_days or 0) - days)
    assert after.high_days == pytest.approx((before.high_days or 0) - days)
    assert after.reason == before.reason


@given(st.lists(st.tuples(curves, looks), min_size=1, max_size=4))
def test_an_estimate_lies_within_its_bounds_and_is_never_without_its_observations(
    truth: list[tuple[list[tuple[int, int]], list[int]]],
) -> None:
    lead, _ = estimate_lead(ENTRY, [seen_of(curve, [*moments, 451]) for curve, moments in truth])
    assert lead.low_days is not None
    assert lead.high_days is not None
    assert lead.low_days <= lead.high_days
    if lead.days is None:
        assert lead.reason is not None
    else:
        assert lead.low_days <= lead.days <= lead.high_days
        assert lead.high_days - lead.low_days <= WIDEST_DAYS
        assert lead.observed_day_count >= LEAST_DAYS
