"""Chart issues that are left for later: what is read, given up, and tried again."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import Any, cast

import pytest

from api.services.reads.chart_backlog import (
    MAX_ATTEMPTS,
    POLL_INTERVAL_S,
    RETRY_DELAY_S,
    SURFACE,
    ChartBacklog,
    open_chart_history,
)
from warehouse.control.backlog import BacklogItem
from warehouse.records.charts import SONG_LIMIT, ChartIssue, ChartPage
from warehouse.records.errors import ForbiddenError, WarehouseUnavailableError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE_S = 240.0


class Shelf:
    """A store of issues in memory, and the chart; `errors` come one by one when it is asked."""

    def __init__(self, tries: Mapping[str, int], *, known: str = "") -> None:
        days = {"1": "2022-03-05", "2": None}
        self.left = {
            name: BacklogItem(name, {"chart_date": days.get(name)}, count)
            for name, count in tries.items()
        }
        self.known = known
        self.errors: list[Exception] = []
        self.refusals: list[Exception] = []
        self.asked: list[tuple[str | None, date | None]] = []
        self.postponed: dict[str, float] = {}
        self.has_rested = threading.Event()
        self.opened = 0

    def add_to_backlog(self, surface: str, wanted: Mapping[str, Mapping[str, object]]) -> None:
        assert surface == SURFACE
        self.left |= {name: BacklogItem(name, dict(about), 1) for name, about in wanted.items()}

    def claim_backlog(self, surface: str, *, limit: int, hold_s: float) -> list[BacklogItem]:
        assert (surface, hold_s > 0) == (SURFACE, True)
        if self.errors:
            raise self.errors.pop(0)
        taken = [item for name, item in self.left.items() if name not in self.postponed]
        return taken[:limit]

    def remove_from_backlog(self, surface: str, entity_ids: list[str]) -> None:
        assert surface == SURFACE
        for name in entity_ids:
            del self.left[name]

    def postpone_backlog(self, surface: str, entity_ids: list[str], *, wait_s: float) -> None:
        assert surface == SURFACE
        self.postponed |= dict.fromkeys(entity_ids, wait_s)

    def next_backlog_due_at(self, surface: str) -> datetime | None:
        assert surface == SURFACE
        return None

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

    def backlog(self) -> ChartBacklog:
        return ChartBacklog(
            store=cast("Any", self),
            open_chart=cast("Any", self.open_chart),
            is_known=lambda name: name == self.known,
        )


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the backlog rests each time; the first rests take no time, the last no end."""
    rested: list[float] = []

    async def rest(backlog: ChartBacklog, seconds: float) -> None:
        rested.append(seconds)
        shelf = cast("Shelf", backlog.store)
        if not shelf.errors and seconds == POLL_INTERVAL_S:
            shelf.has_rested.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(ChartBacklog, "_rest", rest)
    return rested


def work(shelf: Shelf) -> None:
    with shelf.backlog():
        assert shelf.has_rested.wait(PATIENCE_S)


def test_issues_are_read_with_their_day_and_known_ones_are_not(rests: list[float]) -> None:
    shelf = Shelf({"1": 1, "2": 1, "3": 1}, known="3")
    work(shelf)
    assert shelf.asked == [("1", date(2022, 3, 5)), ("2", None)]
    assert (shelf.left, shelf.postponed, shelf.opened) == ({}, {}, 1)
    assert rests == [POLL_INTERVAL_S]


@pytest.mark.usefixtures("rests")
def test_an_issue_that_ended_too_many_processes_is_given_up_unread() -> None:
    shelf = Shelf({"1": MAX_ATTEMPTS + 1})
    work(shelf)
    assert (shelf.asked, shelf.left) == ([], {})


@pytest.mark.usefixtures("rests")
def test_a_refused_issue_is_tried_again_later_and_given_up_in_the_end() -> None:
    shelf = Shelf({"1": MAX_ATTEMPTS - 1, "2": MAX_ATTEMPTS})
    shelf.refusals = [ForbiddenError("no", surface=SURFACE) for _ in range(2)]
    work(shelf)
    assert shelf.postponed == {"1": RETRY_DELAY_S * (MAX_ATTEMPTS - 1)}
    assert shelf.left.keys() == {"1"}


def test_a_store_that_is_away_is_asked_again_after_a_pause(rests: list[float]) -> None:
    shelf = Shelf({"1": 1})
    shelf.errors = [WarehouseUnavailableError("the control store is away")]
    work(shelf)
    assert rests == [RETRY_DELAY_S, POLL_INTERVAL_S]
    assert shelf.left == {}


def test_a_fault_of_our_own_ends_no_backlog(rests: list[float]) -> None:
    shelf = Shelf({"1": 1})
    shelf.errors = [ZeroDivisionError("a fault"), WarehouseUnavailableError("away")]
    work(shelf)
    assert rests == [POLL_INTERVAL_S, RETRY_DELAY_S, POLL_INTERVAL_S]
    assert shelf.left == {}


def test_a_fault_while_reading_puts_all_issues_back_at_once(rests: list[float]) -> None:
    shelf = Shelf({"1": 1, "2": 1})
    shelf.refusals = [WarehouseUnavailableError("the disk is full")]
    work(shelf)
    assert shelf.postponed == {"1": 0, "2": 0}
    assert shelf.left.keys() == {"1", "2"}
    assert rests == [RETRY_DELAY_S, POLL_INTERVAL_S]


def test_issues_left_before_it_begins_are_queued_with_their_days() -> None:
    shelf = Shelf({})
    issue = ChartIssue(
        volid="7", surface="chart_issues", observed_at=NOW, chart_date=date(2022, 3, 5)
    )
    shelf.backlog().leave([issue])
    assert shelf.left["7"].document == {"chart_date": "2022-03-05"}


def test_without_sources_there_is_no_history() -> None:
    with open_chart_history(None) as history:
        assert history is None
