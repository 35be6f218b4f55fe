"""Which tracks are due, in which order, and what a day's budget allows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalog.rules import (
    RETRY_AFTER,
    DaySpending,
    count_states,
    day_number,
    due_tracks,
    ended_spending,
    next_submissions,
    state_of,
)
from warehouse.records.catalogs import CatalogSettings, CatalogTrack, ImportedTrack

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
WEEK = CatalogSettings(fresh_days=7)


def track(
    position: int,
    *,
    priority: int = 0,
    read: float | None = None,
    failed: float | None = None,
    job_id: str | None = None,
) -> CatalogTrack:
    """A track that was read, or has failed, so many days ago."""
    key = f"music:{position}"
    return CatalogTrack(
        given=ImportedTrack(key=key, input=key, priority=priority),
        position=position,
        result_at=None if read is None else NOW - timedelta(days=read),
        failed_at=None if failed is None else NOW - timedelta(days=failed),
        job_id=job_id,
    )


def order(*tracks: CatalogTrack) -> list[int]:
    return [one.position for one in due_tracks(tracks, WEEK, NOW)]


def test_priority_comes_first_then_unread_tracks_then_the_oldest_result() -> None:
    tracks = (
        track(0, read=8), track(1, read=20), track(2), track(3, priority=1, read=9), track(4),
        track(5, priority=-1),
    )  # fmt: skip
    assert order(*tracks) == [3, 2, 4, 1, 0, 5]


def test_a_fresh_track_and_one_under_way_are_not_due() -> None:
    assert order(track(0, read=6.9), track(1, job_id="a"), track(2, read=7)) == [2]


def test_a_failed_track_is_tried_again_after_a_day_and_after_those_never_tried() -> None:
    assert order(track(0, failed=0.9), track(1, failed=RETRY_AFTER.days), track(2)) == [2, 1]


def test_states_add_up_to_the_tracks() -> None:
    tracks = [
        track(0),
        track(1, read=1),
        track(2, read=9),
        track(3, failed=0),
        track(4, job_id="a"),
    ]
    assert count_states(tracks, WEEK, NOW) == {
        "running": 1, "failed": 1, "fresh": 1, "stale": 1, "never_read": 1,
    }  # fmt: skip


def test_no_more_jobs_are_under_way_than_allowed() -> None:
    due = [track(number) for number in range(9)]
    plan = next_submissions(due, WEEK, running=3, at_once=5, spent=DaySpending())
    assert ([one.position for one in plan.tracks], plan.stop) == ([0, 1], None)
    full = next_submissions(due, WEEK, running=5, at_once=5, spent=DaySpending())
    assert (full.tracks, full.stop) == ((), None)


def test_a_spent_budget_is_the_reason_to_stop() -> None:
    due = [track(number) for number in range(9)]
    tracks = replace(WEEK, tracks_per_day=4)
    some = next_submissions(due, tracks, running=0, at_once=5, spent=DaySpending(tracks=3))
    assert (len(some.tracks), some.stop) == (1, None)
    none = next_submissions(due, tracks, running=0, at_once=5, spent=DaySpending(tracks=4))
    assert (none.tracks, none.stop) == ((), "track_budget")
    requests = replace(WEEK, requests_per_day=100)
    spent = DaySpending(requests=100)
    assert (
        next_submissions(due, requests, running=0, at_once=5, spent=spent).stop == "request_budget"
    )


def test_catalog_plan_stops_with_nothing_due_before_the_budget() -> None:
    settings = replace(WEEK, tracks_per_day=1)
    plan = next_submissions([], settings, running=0, at_once=5, spent=DaySpending(tracks=1))
    assert plan.stop == "nothing_due"


def test_only_scans_submitted_today_count() -> None:
    today = replace(track(0), charged_day=day_number(NOW), charged_scans=2, charged_requests=30)
    before = replace(today, charged_day=day_number(NOW) - 1)
    assert ended_spending([today, before, track(2)], NOW) == DaySpending(tracks=2, requests=30)


AGES = st.none() | st.floats(min_value=0, max_value=30)
TRACKS = st.lists(
    st.builds(
        track, st.integers(0, 1000), priority=st.integers(-3, 3), read=AGES, failed=AGES,
        job_id=st.none() | st.just("job"),
    ),
    unique_by=lambda one: one.position,
)  # fmt: skip


@given(TRACKS)
def test_the_plan_depends_on_the_tracks_alone_not_on_their_order(
    tracks: list[CatalogTrack],
) -> None:
    assert due_tracks(tracks, WEEK, NOW) == due_tracks(tracks[::-1], WEEK, NOW)


@given(TRACKS)
def test_every_track_is_due_or_has_a_reason_not_to_be(tracks: list[CatalogTrack]) -> None:
    due = {one.position for one in due_tracks(tracks, WEEK, NOW)}
    for one in tracks:
        state = state_of(one, WEEK, NOW)
        waits = (
            state == "failed" and one.failed_at is not None and NOW - one.failed_at < RETRY_AFTER
        )
        assert (one.position in due) == (state not in {"running", "fresh"} and not waits)


@given(
    TRACKS, st.integers(0, 9), st.integers(1, 9), st.none() | st.integers(1, 9), st.integers(0, 9)
)
def test_a_plan_respects_both_limits_and_starves_nobody(
    tracks: list[CatalogTrack], running: int, at_once: int, budget: int | None, spent: int
) -> None:
    settings = replace(WEEK, tracks_per_day=budget)
    due = due_tracks(tracks, settings, NOW)
    plan = next_submissions(
        due, settings, running=running, at_once=at_once, spent=DaySpending(tracks=spent)
    )
    assert running + len(plan.tracks) <= max(running, at_once)
    assert budget is None or len(plan.tracks) + spent <= max(budget, spent)
    assert list(plan.tracks) == due[: len(plan.tracks)]
    assert plan.tracks or plan.stop is not None or running >= at_once
