"""The history of the chart: from the store, from the source, later, and why a node has no songs."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.services.reads.chart import ChartBacklog, ChartHistoryReader, ChartHistoryResult
from api.services.reads.sources import Deadline
from pipelines.charts.rules import history
from pipelines.charts.rules.history import read_span
from tests.deployment import wait_for
from tests.scripted_reads import ReadService, open_reads, until_over, without_end
from warehouse.control import captures
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
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


async def ask(
    read_service: ReadService,
    start: str = MARCH[0],
    end: str = MARCH[1],
    *,
    deadline: Deadline | None = None,
    chart: ChartHistoryReader | None = None,
) -> ChartHistoryResult:
    reading = read_service.chart if chart is None else chart
    return await reading.read(read_span(start, end), deadline=deadline or without_end())


async def ask_until_over(
    read_service: ReadService, start: str, end: str, *, stalled: int
) -> ChartHistoryResult:
    return await until_over(
        read_service.script,
        lambda deadline: ask(read_service, start, end, deadline=deadline),
        stalled=stalled,
    )


def reasons(found: ChartHistoryResult) -> list[Any]:
    return [one["reason"] for one in found.document["snapshots"]]


def latest_known(read_service: ReadService) -> date:
    span = read_span(*MARCH)
    known = read_known_issues(read_service.engine, first=span.start, last=span.end)
    assert known is not None
    return known.latest


def questions(read_service: ReadService) -> list[str]:
    asked = [one[0] for one in read_service.script.asked]
    read_service.script.asked.clear()
    return asked


async def test_an_issue_that_was_read_is_never_read_again(read_service: ReadService) -> None:
    first = await ask(read_service)
    assert sorted(questions(read_service)) == ["fetch_issues", *["fetch_songs"] * 3]
    assert (await ask(read_service)).document == first.document
    assert questions(read_service) == []
    await ask(read_service, end="2022-03-31")
    assert questions(read_service) == ["fetch_songs"]


async def test_songs_read_before_the_release_of_their_issue_are_read_again(
    read_service: ReadService,
) -> None:
    found = await ask(read_service)
    questions(read_service)
    now = datetime.now(UTC)
    snapshot = found.document["snapshots"][-1]
    day, volid = date.fromisoformat(str(snapshot["chart_date"])), snapshot["volid"]
    assert day in read_stored_days(read_service.engine)
    (listed,) = read_service.engine.rows("select * from raw.chart_issues where volid = $v", v=volid)
    again = {name: value for name, value in listed.items() if name != "committed_at"}
    read_service.engine.lake.append(
        "raw.chart_issues", [{**again, "observed_at": now, "scheduled_at": now}]
    )
    read_service.engine.refresh()
    assert day not in read_stored_days(read_service.engine)
    await ask(read_service)
    assert questions(read_service) == ["fetch_songs"]
    assert day in read_stored_days(read_service.engine)
    await ask(read_service)
    assert questions(read_service) == []


async def test_songs_are_those_of_their_issue(read_service: ReadService) -> None:
    found = await ask(read_service)
    for snapshot in found.document["snapshots"]:
        assert snapshot["volid"] is not None
        kept = read_songs_of_issues(read_service.engine, [snapshot["volid"]], limit=20)
        songs = kept[snapshot["volid"]]
        assert str(songs.chart_date) == snapshot["chart_date"]
        assert [song.title for song in songs.songs] == [one["title"] for one in snapshot["songs"]]


async def test_a_request_is_one_commit_per_table(read_service: ReadService) -> None:
    await ask(read_service)
    before = read_service.commits("raw.chart_songs"), read_service.commits("raw.captures")
    await ask(read_service, "2022-04-01", "2022-06-30")
    after = read_service.commits("raw.chart_songs"), read_service.commits("raw.captures")
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1]


async def test_the_list_of_issues_is_read_anew_only_where_a_range_goes_beyond_it(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(read_service)
    monkeypatch.setattr(history, "LISTED_FOR_S", 0.0)
    await ask(read_service)
    questions(read_service)
    await ask(read_service, str(latest_known(read_service)), "2040-01-01")
    assert questions(read_service).count("fetch_issues") == 1


async def test_a_list_that_cannot_be_read_anew_serves_as_it_is_and_says_so(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(read_service)
    monkeypatch.setattr(history, "LISTED_FOR_S", 0.0)
    read_service.script.errors = {"fetch_issues": ForbiddenError("no", surface="chart_issues")}
    latest = latest_known(read_service)
    found = await ask(read_service, str(latest), str(latest + timedelta(days=40)))
    assert found.document["issues_refreshed"] is False
    assert found.document["end_date_cut"] is True
    assert found.retry_after == 60
    with pytest.raises(ForbiddenError):  # whether there is a newer issue is not known
        await ask(read_service, str(latest + timedelta(days=1)), str(latest + timedelta(days=40)))


async def test_an_answer_serves_as_long_as_the_list_behind_it_can(
    read_service: ReadService,
) -> None:
    await ask(read_service)
    (listed,) = read_service.rows("select max(observed_at) as moment from raw.chart_issues")
    latest = latest_known(read_service)
    within = await ask(
        read_service, str(latest - timedelta(days=20)), str(latest - timedelta(days=10))
    )
    assert (within.retry_after, within.until) == (None, None)
    beyond = await ask(read_service, str(latest), str(latest + timedelta(days=40)))
    assert beyond.until is not None
    assert beyond.until <= listed["moment"] + timedelta(seconds=history.LISTED_FOR_S)


async def test_a_start_after_the_latest_issue_is_refused(read_service: ReadService) -> None:
    with pytest.raises(InvalidDateRangeError, match="latest issue"):
        await ask(read_service, "2040-01-01", "2040-02-01")


async def test_a_gap_of_the_chart_is_a_node_without_an_issue(read_service: ReadService) -> None:
    found = await ask(read_service, "2023-01-01", "2023-12-31")
    empty = [one for one in found.document["snapshots"] if one["chart_date"] is None]
    assert empty
    assert {one["reason"] for one in empty} == {"no_issue_within_10_days"}
    assert found.document["collected_count"] == found.document["node_count"] - len(empty)
    assert found.retry_after is None


async def test_a_refused_issue_says_why_and_is_left_alone_for_a_while(
    read_service: ReadService,
) -> None:
    await ask(read_service, end=MARCH[0])
    read_service.script.errors = {"fetch_songs": REFUSED}
    chart = read_service.chart
    found = await ask(read_service, chart=chart)
    assert reasons(found) == [None, "chart_unavailable", "chart_unavailable"]
    assert found.retry_after == 60
    assert read_service.left == []
    questions(read_service)
    assert reasons(await ask(read_service, chart=chart)) == reasons(found)
    assert questions(read_service) == []


async def test_refused_songs_are_an_error_where_nothing_else_is_known(
    read_service: ReadService,
) -> None:
    read_service.script.errors = {"fetch_songs": REFUSED}
    with pytest.raises(ChartUnavailableError):
        await ask(read_service)


async def test_a_list_that_does_not_come_in_time_is_an_error(read_service: ReadService) -> None:
    read_service.script.stalled = {"fetch_issues"}
    with pytest.raises(UnreachableError) as caught:
        await ask_until_over(read_service, *MARCH, stalled=1)
    assert caught.value.reason == "deadline"


async def test_a_store_that_cannot_be_used_fails_the_request(read_service: ReadService) -> None:
    read_service.script.errors = {"fetch_songs": WarehouseUnavailableError("no room")}
    with pytest.raises(WarehouseUnavailableError):
        await ask(read_service)


async def test_chart_history_leaves_issues_past_the_deadline_to_the_backlog(
    read_service: ReadService,
) -> None:
    await ask(read_service, end=MARCH[0])
    read_service.script.stalled = {"fetch_songs"}
    found = await ask_until_over(read_service, *MARCH, stalled=2)
    assert reasons(found) == [None, "not_collected_yet", "not_collected_yet"]
    assert found.retry_after is not None
    assert [str(one.chart_date) for one in read_service.left] == [
        one["chart_date"] for one in found.document["snapshots"][1:]
    ]


async def test_a_refusal_loses_none_of_what_time_does_not_allow(read_service: ReadService) -> None:
    wanted = (await ask(read_service)).document["snapshots"]
    read_service.engine.lake.delete_where("raw.chart_songs", "true")
    read_service.script.errors = {f"fetch_songs {wanted[0]['volid']}": REFUSED}
    read_service.script.stalled = {f"fetch_songs {one['volid']}" for one in wanted[1:]}
    read_service.engine.refresh()
    found = await ask_until_over(read_service, *MARCH, stalled=2)
    assert reasons(found) == ["chart_unavailable", "not_collected_yet", "not_collected_yet"]
    assert found.retry_after is not None
    assert [one.volid for one in read_service.left] == [one["volid"] for one in wanted[1:]]


def chart_backlog(read_service: ReadService) -> ChartBacklog:
    return ChartBacklog(
        store=read_service.control,
        open_chart=read_service.sources.chart,
        is_known=lambda volid: volid in read_songs_of_issues(read_service.engine, [volid], limit=1),
    )


async def left_issues(read_service: ReadService) -> None:
    """Three issues that a request had no time for."""
    await ask(read_service, end=MARCH[0])
    read_service.script.stalled = {"fetch_songs"}
    await ask_until_over(read_service, "2022-03-02", "2022-03-24", stalled=3)
    read_service.script.stalled.clear()
    assert len(read_service.left) == 3


async def test_chart_backlog_is_captured_in_the_background(read_service: ReadService) -> None:
    await left_issues(read_service)
    with chart_backlog(read_service) as later:
        later.leave(read_service.left)
        wait_for(lambda: captures.backlog_due_at(read_service.control, "chart_songs") is None)
    questions(read_service)
    found = await ask(read_service, "2022-03-02", "2022-03-24")
    assert (reasons(found), questions(read_service)) == ([None] * 3, [])


async def test_chart_backlog_survives_a_restart(
    read_service: ReadService,
) -> None:
    await left_issues(read_service)
    chart_backlog(read_service).leave(
        read_service.left
    )  # of a process that ended before it came to it
    with chart_backlog(read_service):
        wait_for(lambda: captures.backlog_due_at(read_service.control, "chart_songs") is None)
    assert reasons(await ask(read_service, "2022-03-02", "2022-03-24")) == [None] * 3


async def test_a_stop_in_the_middle_puts_back_what_is_not_done(read_service: ReadService) -> None:
    await left_issues(read_service)
    read_service.script.stalled = {"fetch_songs"}
    questions(read_service)
    with chart_backlog(read_service) as later:
        later.leave(read_service.left)
        wait_for(lambda: read_service.script.asked)
    wanted = captures.claim_backlog(read_service.control, "chart_songs", limit=9, hold_s=1)
    assert len(wanted) == 3


async def test_chart_backlog_gives_up_an_issue_after_repeated_refusals(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    await left_issues(read_service)
    monkeypatch.setattr("api.services.reads.chart.RETRY_DELAY_S", 0.0)
    read_service.script.errors = {"fetch_songs": REFUSED}
    questions(read_service)
    with chart_backlog(read_service) as later:
        later.leave(read_service.left)
        wait_for(lambda: captures.backlog_due_at(read_service.control, "chart_songs") is None)
    assert len(questions(read_service)) == 9
