"""The window of creator metrics, and what is averaged over it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.services.reads.documents import TimeWindow, to_metrics_document
from warehouse.records.videos import Account, Statistics, Video

END = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
WINDOW = TimeWindow(days=10, end=END)
ACCOUNT = Account(
    sec_uid="sec", surface="user_info", observed_at=END, nickname="n", follower_count=5
)


def work(
    name: str, *, age_days: float | None, likes: int | None = 1, surface: str = "video_page"
) -> Video:
    at = None if age_days is None else int((END - timedelta(days=age_days)).timestamp())
    return Video(
        aweme_id=name,
        surface=surface,
        observed_at=END,
        create_time=at,
        first_observed_at=END - timedelta(days=1),
        statistics=Statistics(digg_count=likes, comment_count=0, collect_count=0, share_count=0),
    )


def metrics(*works: Video, count: int = 20, is_complete: bool = True) -> Any:
    return to_metrics_document(
        ACCOUNT,
        WINDOW,
        WINDOW.newest(works, count),
        is_complete=is_complete,
        data_provider="mock",
        is_demo=True,
    )


def test_pinned_works_out_of_order_hide_no_newer_one() -> None:
    pinned = work("old", age_days=90, likes=10_000)
    found = metrics(pinned, work("a", age_days=1, likes=10), work("b", age_days=2, likes=30))
    assert (found["analyzed_count"], found["average_digg_count"]) == (2, 20)
    assert found["top_video"]["aweme_id"] == "b"


def test_the_window_is_so_many_days_of_86400_seconds() -> None:
    assert WINDOW.start == END - timedelta(seconds=864_000)
    edges = [work("in", age_days=10), work("out", age_days=10 + 1 / 86_400)]
    assert [video.aweme_id for video in WINDOW.newest(edges, 20)] == ["in"]
    assert not WINDOW.holds(None)
    assert not WINDOW.holds(int(END.timestamp()) + 1)


def test_averages_of_nothing_are_null() -> None:
    found = metrics(work("old", age_days=11))
    assert found["analyzed_count"] == 0
    assert {found[name] for name in ("average_digg_count", "median_digg_count", "top_video")} == {
        None
    }
    assert found["statistics_complete"] is True


def test_the_newest_are_analyzed_and_the_first_look_is_told() -> None:
    found = metrics(*(work(name, age_days=age) for age, name in enumerate("abcd", 1)), count=2)
    assert found["analyzed_count"] == 2
    assert found["top_video"]["aweme_id"] == "a"
    assert found["top_video"]["first_observed_at"] == "2026-11-20T12:00:00Z"


@pytest.mark.parametrize(
    "odd",
    [
        work("x", age_days=1, likes=None),
        work("x", age_days=1, surface="user_posts"),
    ],
)
def test_creator_metrics_with_an_unknown_count_are_incomplete(odd: Video) -> None:
    found = metrics(work("a", age_days=2, likes=3), odd)
    assert found["statistics_complete"] is False
    assert found["median_digg_count"] in {2, 3}


def test_creator_metrics_cut_by_the_deadline_are_incomplete() -> None:
    assert metrics(work("a", age_days=2), is_complete=False)["statistics_complete"] is False


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 10**9)), max_size=40))
def test_averages_lie_between_the_least_and_the_most(found: list[tuple[float, int]]) -> None:
    works = [work(str(n), age_days=age, likes=likes) for n, (age, likes) in enumerate(found)]
    held = WINDOW.newest(works, 20)
    document: Any = to_metrics_document(
        ACCOUNT, WINDOW, held, is_complete=True, data_provider="mock", is_demo=True
    )
    likes = [video.statistics.digg_count or 0 for video in held]
    assert document["analyzed_count"] == len(held) <= 20
    for name in ("average_digg_count", "median_digg_count"):
        assert (document[name] is None) == (not likes)
        assert document[name] is None or min(likes) <= document[name] <= max(likes)
    assert (document["top_video"] or {"statistics": {"digg_count": None}})["statistics"][
        "digg_count"
    ] == max(likes, default=None)
