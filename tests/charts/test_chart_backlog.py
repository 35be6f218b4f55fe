"""Chart issues that are left for later: what is read, given up, and tried again."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import select

from api.services.reads.chart import (
    MAX_ATTEMPTS,
    POLL_INTERVAL_S,
    RETRY_DELAY_S,
    SURFACE,
    ChartBacklog,
    open_chart_history,
)
from warehouse.control import ControlStore, captures, open_control
from warehouse.control.captures import BacklogItem
from warehouse.control.schema import BACKLOG
from warehouse.records.charts import SONG_LIMIT, ChartIssue, ChartPage
from warehouse.records.errors import ForbiddenError, WarehouseUnavailableError

OBSERVED_AT = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
"""Later than any clock shows, so that the next issue is never due sooner than a rest is long."""
CLAIM = captures.claim_backlog
PATIENCE_S = 240.0


class Shelf:
    """A store of issues, and the chart; `errors` come one by one when an issue is claimed."""

    def __init__(self, control: ControlStore) -> None:
        self.control = control
        self.known = ""
        self.errors: list[Exception] = []
        self.refusals: list[Exception] = []
        self.asked: list[tuple[str | None, date | None]] = []
        self.rests: list[float] = []
        self.has_rested = threading.Event()
        self.opened = 0

    def leave(self, tries: Mapping[str, int]) -> None:
        """Leave issues that so many tries will have been made of, the next one included."""
        days = {"1": "2022-03-05"}
        for count in range(max(tries.values()), 0, -1):
            new = {name: {"chart_date": days.get(name)} for name in tries if tries[name] == count}
            captures.add_to_backlog(self.control, SURFACE, new)
            if count > 1:
                CLAIM(self.control, SURFACE, limit=9, hold_s=0)

    def left(self) -> dict[str, float]:
        """Return after how many seconds each issue is due that is left."""
        with self.control.read() as connection:
            rows = connection.execute(select(BACKLOG.c.entity_id, BACKLOG.c.due_at)).all()
        return {row.entity_id: row.due_at - NOW for row in rows}

    def claim(self, control: ControlStore, surface: str, **given: Any) -> list[BacklogItem]:
        if self.errors:
            raise self.errors.pop(0)
        return CLAIM(control, surface, **given)

    @asynccontextmanager
    async def open_chart(self) -> AsyncIterator["Shelf"]:
        self.opened += 1
        yield self

    async def songs(
        self, volid: str | None, *, chart_date: date | None = None, limit: int = 20
    ) -> ChartPage:
        assert limit == SONG_LIMIT
        self.asked.append((volid, chart_date))
        if self.refusals:
            raise self.refusals.pop(0)
        return cast("ChartPage", None)

    async def rest(self, seconds: float) -> None:
        """Take no time the first times, and for ever once there is nothing to do."""
        self.rests.append(seconds)
        if not self.errors and seconds == POLL_INTERVAL_S:
            self.has_rested.set()
            await asyncio.Event().wait()

    def backlog(self) -> ChartBacklog:
        return ChartBacklog(
            store=self.control,
            open_chart=cast("Any", self.open_chart),
            is_known=lambda name: name == self.known,
        )


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=lambda: NOW)) as control:
        shelf = Shelf(control)
        monkeypatch.setattr(captures, "claim", shelf.claim)
        monkeypatch.setattr(ChartBacklog, "_rest", shelf.rest)
        yield shelf


def work(shelf: Shelf) -> None:
    with shelf.backlog():
        assert shelf.has_rested.wait(PATIENCE_S)


def test_issues_are_read_with_their_day_and_known_ones_are_not(shelf: Shelf) -> None:
    shelf.leave({"1": 1, "2": 1, "3": 1})
    shelf.known = "3"
    work(shelf)
    assert shelf.asked == [("1", date(2022, 3, 5)), ("2", None)]
    assert (shelf.left(), shelf.opened) == ({}, 1)
    assert shelf.rests == [POLL_INTERVAL_S]


def test_an_issue_that_ended_too_many_processes_is_given_up_unread(shelf: Shelf) -> None:
    shelf.leave({"1": MAX_ATTEMPTS + 1})
    work(shelf)
    assert (shelf.asked, shelf.left()) == ([], {})


def test_a_refused_issue_is_tried_again_later_and_given_up_in_the_end(shelf: Shelf) -> None:
    shelf.leave({"1": MAX_ATTEMPTS - 1, "2": MAX_ATTEMPTS})
    shelf.refusals = [ForbiddenError("no", surface=SURFACE) for _ in range(2)]
    work(shelf)
    assert shelf.left() == {"1": RETRY_DELAY_S * (MAX_ATTEMPTS - 1)}


def test_a_store_that_is_away_is_asked_again_after_a_pause(shelf: Shelf) -> None:
    shelf.leave({"1": 1})
    shelf.errors = [WarehouseUnavailableError("the control store is away")]
    work(shelf)
    assert (shelf.rests, shelf.left()) == ([RETRY_DELAY_S, POLL_INTERVAL_S], {})


def test_a_fault_of_our_own_ends_no_backlog(shelf: Shelf) -> None:
    shelf.leave({"1": 1})
    shelf.errors = [ZeroDivisionError("a fault"), WarehouseUnavailableError("away")]
    work(shelf)
    assert shelf.rests == [POLL_INTERVAL_S, RETRY_DELAY_S, POLL_INTERVAL_S]
    assert shelf.left() == {}


def test_a_fault_while_reading_puts_all_issues_back_at_once(shelf: Shelf) -> None:
    shelf.leave({"1": 1, "2": 1})
    shelf.refusals = [WarehouseUnavailableError("the disk is full")]
    work(shelf)
    assert [volid for volid, _ in shelf.asked] == ["1", "1", "2"]
    assert (shelf.rests, shelf.left()) == ([RETRY_DELAY_S, POLL_INTERVAL_S], {})


def test_issues_left_before_it_begins_are_queued_with_their_days(shelf: Shelf) -> None:
    issue = ChartIssue(
        volid="7", surface="chart_issues", observed_at=OBSERVED_AT, chart_date=date(2022, 3, 5)
    )
    shelf.backlog().leave([issue])
    (item,) = CLAIM(shelf.control, SURFACE, limit=9, hold_s=60)
    assert item.document == {"chart_date": "2022-03-05"}


def test_chart_history_is_none_without_sources() -> None:
    with open_chart_history(None) as history:
        assert history is None
