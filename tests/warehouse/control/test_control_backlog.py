"""Captures that were left for later, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, captures, open_control
from warehouse.control.captures import BacklogItem

pytestmark = pytest.mark.full

START = datetime(2026, 11, 1, tzinfo=UTC)
SURFACE = "chart_songs"


class Times:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def control(control_url: str, times: Times) -> Iterator[ControlStore]:
    store = open_control(control_url, world="sandbox", clock=times)
    yield store
    store.close()


@on_both
def test_backlog_items_are_claimed_once_oldest_first(control: ControlStore, times: Times) -> None:
    captures.add_to_backlog(control, SURFACE, {"2": {"day": "2021-01-02"}})
    times.now += timedelta(seconds=1)
    captures.add_to_backlog(control, SURFACE, {"1": {"day": "2021-01-01"}, "2": {"day": "other"}})
    captures.add_to_backlog(control, "other", {"3": {}})
    assert captures.claim_backlog(control, SURFACE, limit=1, hold_s=60) == [
        BacklogItem("2", {"day": "2021-01-02"}, 1)
    ]
    assert [
        wanted.entity_id for wanted in captures.claim_backlog(control, SURFACE, limit=9, hold_s=60)
    ] == ["1"]
    assert captures.claim_backlog(control, SURFACE, limit=9, hold_s=60) == []


def test_backlog_item_of_a_dead_process_is_due_again(control: ControlStore, times: Times) -> None:
    captures.add_to_backlog(control, SURFACE, {"1": {}})
    captures.claim_backlog(control, SURFACE, limit=9, hold_s=60)
    assert captures.backlog_due_at(control, SURFACE) == times.now + timedelta(seconds=60)
    times.now += timedelta(seconds=60)
    assert captures.claim_backlog(control, SURFACE, limit=9, hold_s=60) == [BacklogItem("1", {}, 2)]


def test_backlog_items_can_be_postponed_and_removed(control: ControlStore) -> None:
    captures.add_to_backlog(control, SURFACE, {"1": {}, "2": {}})
    captures.claim_backlog(control, SURFACE, limit=9, hold_s=60)
    captures.postpone_backlog(control, SURFACE, ["1"], wait_s=0)
    captures.remove_from_backlog(control, SURFACE, ["2"])
    assert captures.claim_backlog(control, SURFACE, limit=9, hold_s=60) == [BacklogItem("1", {}, 2)]
    captures.remove_from_backlog(control, SURFACE, ["1"])
    assert captures.backlog_due_at(control, SURFACE) is None
    captures.add_to_backlog(control, SURFACE, {})
