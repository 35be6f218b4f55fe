"""The hot score, what counts as viral, and the seven orders of the interface."""

from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.parameters.scan import SortBy
from pipelines.scan.rules.results import is_viral, rank_documents
from warehouse.models import MACROS
from warehouse.records.videos import Statistics, hot_score

COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
COUNTED_ORDERS: dict[SortBy, str] = {
    "digg": "digg_count",
    "comment": "comment_count",
    "collect": "collect_count",
    "share": "share_count",
}


def video(aweme_id: str, *, create_time: int | None = 0, **counts: int | None) -> Any:
    """A video document; a count that is not given is 0."""
    statistics = dict.fromkeys(COUNTS, 0) | counts
    return {"aweme_id": aweme_id, "create_time": create_time, "statistics": statistics}


def order(videos: list[Any], sort_by: SortBy) -> list[str]:
    return [document["aweme_id"] for document in rank_documents(videos, sort_by=sort_by)]


@pytest.mark.parametrize(
    ("likes", "comments", "collects", "shares", "score"),
    [
        (0, 0, 0, 0, 0),
        (1, 0, 0, 0, 1),
        (0, 1, 0, 0, 4),
        (0, 0, 1, 0, 3),
        (0, 0, 0, 1, 8),
        (1000, 100, 10, 1, 1438),
        (10**9, 10**8, 10**7, 10**6, 1_438_000_000),
    ],
)
def test_the_hot_score_weighs_comments_by_4_collects_by_3_and_shares_by_8(
    likes: int, comments: int, collects: int, shares: int, score: int
) -> None:
    counts = Statistics(
        digg_count=likes, comment_count=comments, collect_count=collects, share_count=shares
    )
    assert counts.hot_score == score


@pytest.mark.parametrize("unknown", COUNTS)
def test_a_score_with_one_unknown_count_is_unknown(unknown: str) -> None:
    known = dict.fromkeys(COUNTS, 5)
    assert Statistics(**known).hot_score == 80
    assert Statistics(**(known | {unknown: None})).hot_score is None


@pytest.mark.parametrize(
    ("likes", "viral"), [(0, False), (9_999, False), (10_000, True), (10_001, True), (None, False)]
)
def test_a_video_is_viral_from_the_threshold_on(likes: int | None, viral: bool) -> None:
    assert is_viral(video("1", digg_count=likes), viral_threshold=10_000) is viral


def test_no_likes_reach_a_threshold_of_none_but_unknown_likes_do_not() -> None:
    assert is_viral(video("1", digg_count=0), viral_threshold=0)
    assert not is_viral(video("1", digg_count=None), viral_threshold=0)


@pytest.mark.parametrize(("sort_by", "name"), COUNTED_ORDERS.items())
def test_a_count_orders_its_own_ranking_and_no_other(sort_by: SortBy, name: str) -> None:
    others = {count: 900 for count in COUNTS if count != name}
    videos = [
        video("1", **{name: 10}, **others),
        video("2", **{name: 30}),
        video("3", **{name: 20}, **others),
    ]
    assert order(videos, sort_by) == ["2", "3", "1"]


@pytest.mark.parametrize("name", COUNTS)
def test_the_hot_order_takes_each_count_with_its_own_weight(name: str) -> None:
    weight = {"digg_count": 1, "comment_count": 4, "collect_count": 3, "share_count": 8}[name]
    videos = [
        video("1", digg_count=120 * weight - 1),
        video("2", **{name: 120}),
        video("3", digg_count=120 * weight + 1),
    ]
    assert order(videos, "hot_score") == ["3", "2", "1"]


@pytest.mark.parametrize("name", COUNTS)
def test_a_video_without_a_score_comes_after_all_that_have_one(name: str) -> None:
    videos = [video("1", **dict.fromkeys(COUNTS, 9999) | {name: None}), video("2")]
    assert order(videos, "hot_score") == ["2", "1"]


@pytest.mark.parametrize(
    ("sort_by", "expected"), [("latest", ["2", "3", "1"]), ("oldest", ["1", "3", "2"])]
)
def test_latest_is_newest_first_and_oldest_is_oldest_first(
    sort_by: SortBy, expected: list[str]
) -> None:
    videos = [
        video("1", create_time=1_600_000_000),
        video("2", create_time=1_800_000_000),
        video("3", create_time=1_700_000_000),
    ]
    assert order(videos, sort_by) == expected


def test_without_a_stated_time_the_one_in_the_id_counts() -> None:
    made = {"created_at": "2023-11-14T22:13:20Z"}  # 1_700_000_000
    videos = [
        video("1", create_time=1_699_999_999) | made,
        video("2", create_time=None) | made,
        video("3", create_time=1_700_000_001) | made,
    ]
    assert order(videos, "latest") == ["3", "2", "1"]


@pytest.mark.parametrize("sort_by", ["latest", "oldest"])
def test_a_video_of_unknown_date_comes_last_either_way(sort_by: SortBy) -> None:
    videos = [video("1", create_time=None), video("2", create_time=0), video("3", create_time=9)]
    assert order(videos, sort_by)[-1] == "1"


@pytest.mark.parametrize(("sort_by", "name"), COUNTED_ORDERS.items())
def test_unknown_comes_after_zero_and_zero_after_one(sort_by: SortBy, name: str) -> None:
    videos = [video("1", **{name: None}), video("2", **{name: 0}), video("3", **{name: 1})]
    assert order(videos, sort_by) == ["3", "2", "1"]


@pytest.mark.parametrize("likes", [7, None])
def test_equal_videos_follow_their_ids_as_numbers(likes: int | None) -> None:
    videos = [video(name, digg_count=likes) for name in ("1001", "999", "1000")]
    assert order(videos, "digg") == ["999", "1000", "1001"]


VALUES = st.none() | st.integers(0, 20)
VIDEOS = st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES, VALUES), max_size=12).map(
    lambda rows: [
        video(str(n), **dict(zip(COUNTS, row[:4], strict=True)), create_time=row[4])
        for n, row in enumerate(rows)
    ]
)


@given(VIDEOS)
def test_the_hot_order_is_that_of_the_published_formula(videos: list[Any]) -> None:
    found = rank_documents(videos, sort_by="hot_score")
    counts = [[document["statistics"][name] for name in COUNTS] for document in found]
    known = [row for row in counts if None not in row]
    assert counts[: len(known)] == known
    scores = [
        likes + 4 * comments + 3 * kept + 8 * shares for likes, comments, kept, shares in known
    ]
    assert scores == sorted(scores, reverse=True)


@given(st.tuples(VALUES, VALUES, VALUES, VALUES))
def test_sql_has_the_hot_score_of_the_rule(counts: tuple[int | None, ...]) -> None:
    with duckdb.connect() as connection:
        for macro in MACROS:
            connection.execute(macro)
        found = connection.execute("select hot_score(?, ?, ?, ?)", counts).fetchone()
    assert found == (hot_score(dict(zip(COUNTS, counts, strict=True))),)
