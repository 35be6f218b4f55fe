"""The rules of the chart history: nodes, the issue of each, what is said of a song."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.services.reads.documents import (
    INCOMPLETE,
    NO_ISSUE,
    to_snapshot_document,
    to_song_document,
)
from pipelines.charts.rules.history import (
    FIRST_DAY,
    HistoryNode,
    Span,
    choose_issues,
    cut_span,
    next_issue_by,
    read_span,
    song_key,
    songs_of,
)
from warehouse.records.charts import ChartIssue, ChartSong
from warehouse.records.errors import InvalidDateRangeError

NOW = datetime(2026, 1, 31, tzinfo=UTC)
SONG = ChartSong(rank=3, title="Paper Boats", artist="Ming", song_hash="AB12", previous_rank=7)


def issue(day: date | None, volid: str = "1") -> ChartIssue:
    return ChartIssue(
        volid=volid, surface="chart_issues", observed_at=NOW, name="1期", chart_date=day
    )


def days(start: str, end: str) -> Span:
    return read_span(start, end)


def test_nodes_are_every_tenth_day_from_the_first_on() -> None:
    assert days("2021-01-01", "2021-01-25").nodes == (
        date(2021, 1, 1), date(2021, 1, 11), date(2021, 1, 21),
    )  # fmt: skip
    assert days("2021-01-01", "2021-01-01").nodes == (date(2021, 1, 1),)
    assert len(days("2024-01-01", "2024-12-31").nodes) == 37


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2020-12-31", "2021-02-01"),
        ("2021-02-02", "2021-02-01"),
        ("2021-02-30", "2021-03-01"),
        ("20210101", "2021-02-01"),
        ("2021-W01-1", "2021-02-01"),
        ("2021-1-1", "2021-02-01"),
        ("", "2021-02-01"),
        ("2021-01-01", "2021-02-01T00:00:00"),
        ("２021-01-01", "2021-02-01"),
        (" 2021-01-01", "2021-02-01"),
        ("\ud800021-01-01", "2021-02-01"),
    ],
)
def test_invalid_chart_date_range_is_refused(start: str, end: str) -> None:
    with pytest.raises(InvalidDateRangeError) as caught:
        read_span(start, end)
    caught.value.detail.encode()


def test_the_end_is_cut_to_the_latest_issue_and_says_so() -> None:
    cut = cut_span(days("2021-01-01", "2030-01-01"), latest=date(2021, 1, 15))
    assert (cut.end, cut.requested_end, cut.is_cut) == (date(2021, 1, 15), date(2030, 1, 1), True)
    assert not cut_span(days("2021-01-01", "2021-01-15"), latest=date(2021, 1, 15)).is_cut


def test_a_start_after_the_latest_issue_is_refused() -> None:
    with pytest.raises(InvalidDateRangeError, match="latest issue"):
        cut_span(days("2021-02-01", "2021-03-01"), latest=date(2021, 1, 31))


def test_the_newest_issue_on_or_before_a_node_is_its_issue() -> None:
    issues = [issue(date(2021, 1, 3), "9"), issue(date(2021, 1, 1), "8"), issue(None, "7")]
    nodes = choose_issues(days("2021-01-01", "2021-01-13"), issues)
    assert [node.issue and node.issue.volid for node in nodes] == ["8", "9"]


@pytest.mark.parametrize(("age", "fits"), [(0, True), (10, True), (11, False), (-1, False)])
def test_an_issue_may_be_ten_days_older_than_its_node(age: int, fits: bool) -> None:
    span = days("2022-01-01", "2022-01-01")
    [node] = choose_issues(span, [issue(span.start - timedelta(days=age))])
    assert (node.issue is not None) is fits


def test_of_two_issues_of_a_day_the_later_number_counts() -> None:
    day = date(2022, 1, 1)
    span = Span(start=day, end=day, requested_end=day)
    [node] = choose_issues(span, [issue(day, "999"), issue(day, "1000"), issue(day, "998")])
    assert node.issue is not None
    assert node.issue.volid == "1000"


@given(
    st.sets(st.integers(0, 400)),
    st.integers(0, 300),
    st.integers(0, 100),
)
def test_every_node_has_the_nearest_issue_or_none(
    offsets: set[int], start: int, length: int
) -> None:
    first = FIRST_DAY + timedelta(days=start)
    span = Span(start=first, end=first + timedelta(days=length), requested_end=first)
    issues = [issue(FIRST_DAY + timedelta(days=n), str(n)) for n in offsets]
    for node in choose_issues(span, issues):
        near = [
            one.chart_date for one in issues
            if one.chart_date and 0 <= (node.target - one.chart_date).days <= 10
        ]  # fmt: skip
        assert (node.issue.chart_date if node.issue else None) == max(near, default=None)


def test_songs_of_another_issue_are_no_songs_of_this_one() -> None:
    this = issue(date(2022, 1, 1), "5")
    songs = [replace(SONG, rank=rank) for rank in (2, 1, 21)]
    same: dict[str, Any] = {"volid": "5", "chart_date": date(2022, 1, 1)}
    found = songs_of(this, songs, **same)
    assert found is not None
    assert [song.rank for song in found] == [1, 2]
    assert songs_of(this, songs, volid=None, chart_date=None) == found
    assert songs_of(this, songs, **(same | {"volid": "6"})) is None
    assert songs_of(this, songs, **(same | {"chart_date": date(2022, 1, 2)})) is None
    assert songs_of(this, [], **same) is None


def test_a_node_without_an_issue_is_kept_and_says_why() -> None:
    assert to_snapshot_document(HistoryNode(target=date(2022, 1, 11)), ()) == {
        "target_date": "2022-01-11", "chart_date": None, "volid": None, "issue_name": None,
        "day_offset": None, "reason": NO_ISSUE, "songs": [],
    }  # fmt: skip


def test_a_node_says_how_far_its_issue_is_and_what_is_missing_of_it() -> None:
    node = HistoryNode(target=date(2022, 1, 11), issue=issue(date(2022, 1, 9)))
    whole = [replace(SONG, rank=rank) for rank in range(1, 21)]
    document = to_snapshot_document(node, whole)
    assert (document["day_offset"], document["reason"], len(document["songs"])) == (2, None, 20)
    assert to_snapshot_document(node, whole[:19])["reason"] == INCOMPLETE
    assert to_snapshot_document(node, (), reason="not_collected_yet")["chart_date"] == "2022-01-09"


def test_a_song_that_climbed_has_a_positive_change() -> None:
    document = to_song_document(SONG)
    assert (document["previous_rank"], document["rank_change"], document["is_new"]) == (7, 4, False)


@pytest.mark.parametrize(
    ("said", "is_new"),
    [
        ({"is_first": True, "previous_rank": None}, True),
        ({"is_first": False, "previous_rank": None}, False),
        ({"is_first": None, "rank_count": 1, "previous_rank": None}, True),
        ({"is_first": None, "rank_count": 2, "previous_rank": None}, False),
        ({"is_first": None, "previous_rank": None}, None),
        ({"is_first": None, "previous_rank": 1}, False),
    ],
)
def test_a_song_is_new_only_where_the_source_says_so(
    said: dict[str, Any], is_new: bool | None
) -> None:
    document = to_song_document(replace(SONG, **said))
    assert document["is_new"] is is_new
    assert (document["rank_change"] is None) is (said["previous_rank"] is None)


def test_a_song_has_one_key_in_all_issues() -> None:
    assert song_key(SONG) == song_key(replace(SONG, rank=9, song_hash="ab12")) == "hash:ab12"
    bare = replace(SONG, song_hash=None)
    assert song_key(bare) == song_key(replace(bare, title="ＰＡＰＥＲ boats", rank=1))
    assert song_key(bare) != song_key(replace(bare, artist=None))


@pytest.mark.parametrize(
    ("latest", "now", "due"),
    [
        (date(2026, 9, 16), "2026-09-17T01:59+00:00", "2026-09-17T02:00+00:00"),
        (date(2026, 9, 16), "2026-09-16T16:00+00:00", "2026-09-17T02:00+00:00"),
        (date(2026, 9, 16), "2026-09-17T02:00+00:00", None),
        (date(2026, 9, 17), "2026-09-17T01:00+00:00", None),
        (date(2026, 9, 15), "2026-09-17T01:00+00:00", None),
        (date(2026, 9, 16), "2026-09-16T15:59+00:00", None),
    ],
)
def test_the_issue_of_today_is_awaited_until_ten_in_shanghai(
    latest: date, now: str, due: str | None
) -> None:
    expected = None if due is None else datetime.fromisoformat(due)
    assert next_issue_by(latest, now=datetime.fromisoformat(now)) == expected


def test_an_issue_that_is_listed_before_its_release_is_awaited_until_then() -> None:
    today, now = date(2026, 9, 17), datetime.fromisoformat("2026-09-17T01:00+00:00")
    due = datetime.fromisoformat("2026-09-17T01:40+00:00")
    assert next_issue_by(today, now=now, scheduled_at=due) == due
    assert next_issue_by(today, now=due, scheduled_at=due) is None
