"""The history of the chart: from the store, from the source, later, and why a node has no songs."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.services.reads.chart import ChartHistoryReader, ChartHistoryResult
from api.services.reads.chart_backlog import ChartBacklog
from api.services.reads.deadline import Deadline
from pipelines.charts.rules import history
from pipelines.charts.rules.history import read_span
from tests.reads import Desk, open_reads, until_over, without_end
from tests.stage import wait_for
from warehouse.control.captures import backlog
from warehouse.queries.charts import read_known_issues, read_songs_of_issues, read_stored_days
from warehouse.records.errors import (
    ChartUnavailableError,
    ForbiddenError,
    InvalidDateRangeError,
    UnreachableError,
    WarehouseUnavailableError,
)

pytestmark = pytest.mark.full

REFUSED = ChartUnavailableError("no chart", surface="chart_songs")
MARCH = ("2022-03-01", "2022-03-21")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_reads(tmp_path) as desk:
        yield desk


async def ask(
    desk: Desk,
    start: str = MARCH[0],
    end: str = MARCH[1],
    *,
    deadline: Deadline | None = None,
    chart: ChartHistoryReader | None = None,
) -> ChartHistoryResult:
    reading = desk.chart if chart is None else chart
    return await reading.read(read_span(start, end), deadline=deadline or without_end())


async def ask_until_over(desk: Desk, start: str, end: str, *, stalled: int) -> ChartHistoryResult:
    return await until_over(
        desk.script,
        lambda deadline: ask(desk, start, end, deadline=deadline),
        stalled=stalled,
    )


def reasons(found: ChartHistoryResult) -> list[Any]:
    return [one["reason"] for one in found.document["snapshots"]]


def latest_known(desk: Desk) -> date:
    span = read_span(*MARCH)
    known = read_known_issues(desk.engine, first=span.start, last=span.end)
    assert known is not None
    return known.latest


def questions(desk: Desk) -> list[str]:
    asked = [one[0] for one in desk.script.asked]
    desk.script.asked.clear()
    return asked


async def test_an_issue_that_was_read_is_never_read_again(desk: Desk) -> None:
    first = await ask(desk)
    assert sorted(questions(desk)) == ["fetch_issues", *["fetch_songs"] * 3]
    assert (await ask(desk)).document == first.document
    assert questions(desk) == []
    await ask(desk, end="2022-03-31")
    assert questions(desk) == ["fetch_songs"]


async def test_songs_read_before_the_release_of_their_issue_are_read_again(desk: Desk) -> None:
    found = await ask(desk)
    questions(desk)
    now = datetime.now(UTC)
    snapshot = found.document["snapshots"][-1]
    day, volid = date.fromisoformat(str(snapshot["chart_date"])), snapshot["volid"]
    assert day in read_stored_days(desk.engine)
    (listed,) = desk.engine.rows("select * from raw.chart_issues where volid = $v", v=volid)
    again = {name: value for name, value in listed.items() if name != "committed_at"}
    desk.engine.lake.append(
        "raw.chart_issues", [{**again, "observed_at": now, "scheduled_at": now}]
    )
    desk.engine.refresh()
    assert day not in read_stored_days(desk.engine)
    await ask(desk)
    assert questions(desk) == ["fetch_songs"]
    assert day in read_stored_days(desk.engine)
    await ask(desk)
    assert questions(desk) == []


async def test_songs_are_those_of_their_issue(desk: Desk) -> None:
    found = await ask(desk)
    for snapshot in found.document["snapshots"]:
        assert snapshot["volid"] is not None
        kept = read_songs_of_issues(desk.engine, [snapshot["volid"]], limit=20)
        songs = kept[snapshot["volid"]]
        assert str(songs.chart_date) == snapshot["chart_date"]
        assert [song.title for song in songs.songs] == [one["title"] for one in snapshot["songs"]]


async def test_a_request_is_one_commit_per_table(desk: Desk) -> None:
    await ask(desk)
    before = desk.commits("raw.chart_songs"), desk.commits("raw.captures")
    await ask(desk, "2022-04-01", "2022-06-30")
    after = desk.commits("raw.chart_songs"), desk.commits("raw.captures")
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1]


async def test_the_list_of_issues_is_read_anew_only_where_a_range_goes_beyond_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(desk)
    monkeypatch.setattr(history, "LISTED_FOR_S", 0.0)
    await ask(desk)
    questions(desk)
    await ask(desk, str(latest_known(desk)), "2040-01-01")
    assert questions(desk).count("fetch_issues") == 1


async def test_a_list_that_cannot_be_read_anew_serves_as_it_is_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(desk)
    monkeypatch.setattr(history, "LISTED_FOR_S", 0.0)
    desk.script.errors = {"fetch_issues": ForbiddenError("no", surface="chart_issues")}
    latest = latest_known(desk)
    found = await ask(desk, str(latest), str(latest + timedelta(days=40)))
    assert found.document["issues_refreshed"] is False
    assert found.document["end_date_cut"] is True
    assert found.retry_after == 60
    with pytest.raises(ForbiddenError):  # whether there is a newer issue is not known
        await ask(desk, str(latest + timedelta(days=1)), str(latest + timedelta(days=40)))


async def test_an_answer_serves_as_long_as_the_list_behind_it_can(desk: Desk) -> None:
    await ask(desk)
    (listed,) = desk.rows("select max(observed_at) as moment from raw.chart_issues")
    latest = latest_known(desk)
    within = await ask(desk, str(latest - timedelta(days=20)), str(latest - timedelta(days=10)))
    assert (within.retry_after, within.until) == (None, None)
    beyond = await ask(desk, str(latest), str(latest + timedelta(days=40)))
    assert beyond.until is not None
    assert beyond.until <= listed["moment"] + timedelta(seconds=history.LISTED_FOR_S)


async def test_a_start_after_the_latest_issue_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidDateRangeError, match="latest issue"):
        await ask(desk, "2040-01-01", "2040-02-01")


async def test_a_gap_of_the_chart_is_a_node_without_an_issue(desk: Desk) -> None:
    found = await ask(desk, "2023-01-01", "2023-12-31")
    empty = [one for one in found.document["snapshots"] if one["chart_date"] is None]
    assert empty
    assert {one["reason"] for one in empty} == {"no_issue_within_10_days"}
    assert found.document["collected_count"] == found.document["node_count"] - len(empty)
    assert found.retry_after is None


async def test_a_refused_issue_says_why_and_is_left_alone_for_a_while(desk: Desk) -> None:
    await ask(desk, end=MARCH[0])
    desk.script.errors = {"fetch_songs": REFUSED}
    chart = desk.chart
    found = await ask(desk, chart=chart)
    assert reasons(found) == [None, "chart_unavailable", "chart_unavailable"]
    assert found.retry_after == 60
    assert desk.left == []
    questions(desk)
    assert reasons(await ask(desk, chart=chart)) == reasons(found)
    assert questions(desk) == []


async def test_refused_songs_are_an_error_where_nothing_else_is_known(desk: Desk) -> None:
    desk.script.errors = {"fetch_songs": REFUSED}
    with pytest.raises(ChartUnavailableError):
        await ask(desk)


async def test_a_list_that_does_not_come_in_time_is_an_error(desk: Desk) -> None:
    desk.script.stalled = {"fetch_issues"}
    with pytest.raises(UnreachableError) as caught:
        await ask_until_over(desk, *MARCH, stalled=1)
    assert caught.value.reason == "deadline"


async def test_a_store_that_cannot_be_used_fails_the_request(desk: Desk) -> None:
    desk.script.errors = {"fetch_songs": WarehouseUnavailableError("no room")}
    with pytest.raises(WarehouseUnavailableError):
        await ask(desk)


async def test_what_time_does_not_allow_is_left_for_later(desk: Desk) -> None:
    await ask(desk, end=MARCH[0])
    desk.script.stalled = {"fetch_songs"}
    found = await ask_until_over(desk, *MARCH, stalled=2)
    assert reasons(found) == [None, "not_collected_yet", "not_collected_yet"]
    assert found.retry_after is not None
    assert [str(one.chart_date) for one in desk.left] == [
        one["chart_date"] for one in found.document["snapshots"][1:]
    ]


async def test_a_refusal_loses_none_of_what_time_does_not_allow(desk: Desk) -> None:
    wanted = (await ask(desk)).document["snapshots"]
    desk.engine.lake.erase("raw.chart_songs", "true")
    desk.script.errors = {f"fetch_songs {wanted[0]['volid']}": REFUSED}
    desk.script.stalled = {f"fetch_songs {one['volid']}" for one in wanted[1:]}
    desk.engine.refresh()
    found = await ask_until_over(desk, *MARCH, stalled=2)
    assert reasons(found) == ["chart_unavailable", "not_collected_yet", "not_collected_yet"]
    assert found.retry_after is not None
    assert [one.volid for one in desk.left] == [one["volid"] for one in wanted[1:]]


def chart_backlog(desk: Desk) -> ChartBacklog:
    return ChartBacklog(
        store=desk.control,
        open_chart=desk.sources.chart,
        is_known=lambda volid: volid in read_songs_of_issues(desk.engine, [volid], limit=1),
    )


async def left_issues(desk: Desk) -> None:
    """Three issues that a request had no time for."""
    await ask(desk, end=MARCH[0])
    desk.script.stalled = {"fetch_songs"}
    await ask_until_over(desk, "2022-03-02", "2022-03-24", stalled=3)
    desk.script.stalled.clear()
    assert len(desk.left) == 3


async def test_what_is_left_is_captured_in_the_background(desk: Desk) -> None:
    await left_issues(desk)
    with chart_backlog(desk) as later:
        later.leave(desk.left)
        wait_for(lambda: backlog.next_due_at(desk.control, "chart_songs") is None)
    questions(desk)
    found = await ask(desk, "2022-03-02", "2022-03-24")
    assert (reasons(found), questions(desk)) == ([None] * 3, [])


async def test_what_was_left_before_a_restart_is_captured_after_it(desk: Desk) -> None:
    await left_issues(desk)
    chart_backlog(desk).leave(desk.left)  # of a process that ended before it came to it
    with chart_backlog(desk):
        wait_for(lambda: backlog.next_due_at(desk.control, "chart_songs") is None)
    assert reasons(await ask(desk, "2022-03-02", "2022-03-24")) == [None] * 3


async def test_a_stop_in_the_middle_puts_back_what_is_not_done(desk: Desk) -> None:
    await left_issues(desk)
    desk.script.stalled = {"fetch_songs"}
    questions(desk)
    with chart_backlog(desk) as later:
        later.leave(desk.left)
        wait_for(lambda: desk.script.asked)
    wanted = backlog.claim(desk.control, "chart_songs", limit=9, hold_s=1)
    assert len(wanted) == 3


async def test_what_is_refused_again_and_again_is_given_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await left_issues(desk)
    monkeypatch.setattr("api.services.reads.chart_backlog.RETRY_DELAY_S", 0.0)
    desk.script.errors = {"fetch_songs": REFUSED}
    questions(desk)
    with chart_backlog(desk) as later:
        later.leave(desk.left)
        wait_for(lambda: backlog.next_due_at(desk.control, "chart_songs") is None)
    assert len(questions(desk)) == 9
