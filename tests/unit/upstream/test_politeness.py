"""Waiting for a turn: reserved turns, pauses, budgets and the words of Retry-After."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pipelines.domain.errors import BudgetSpentError, RateLimitedError
from pipelines.upstream.politeness import DEFAULT_PAUSE_S, LONGEST_PAUSE_S, Turns, read_retry_after
from pipelines.upstream.profiles import Rate
from warehouse.control.records import Grant

RATE = Rate(per_second=2, burst=5, parallel=4)


class ScriptedBook:
    """A control store whose grants and pauses are written down beforehand."""

    def __init__(
        self, grants: Sequence[Grant] = (), pauses: Sequence[datetime | None] = ()
    ) -> None:
        self.taken: list[tuple[str, float, int, int]] = []
        self.paused: dict[str, datetime] = {}
        self._grants = list(grants)
        self._pauses = list(pauses)

    def take_token(self, host: str, *, rate_per_s: float, burst: int, daily_budget: int) -> Grant:
        self.taken.append((host, rate_per_s, burst, daily_budget))
        return self._grants.pop(0)

    def pause_host(self, host: str, until: datetime) -> None:
        self.paused[host] = until

    def host_paused_until(self, host: str) -> datetime | None:
        return self._pauses.pop(0) if self._pauses else None


def _soon(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_turn_is_taken_at_the_rate_of_the_profile() -> None:
    book = ScriptedBook([Grant(0.0, spent=False)])
    await Turns(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert book.taken == [("a.example", 2.0, 5, 7)]


async def test_reserved_turn_is_waited_for_and_not_taken_twice() -> None:
    book = ScriptedBook([Grant(0.02, spent=False)])
    before = datetime.now(UTC)
    await Turns(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert (len(book.taken), datetime.now(UTC) >= before + timedelta(seconds=0.02)) == (1, True)


async def test_nobody_takes_a_turn_during_a_pause() -> None:
    until = _soon(0.05)
    book = ScriptedBook([Grant(0.0, spent=False)], [until])
    await Turns(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert datetime.now(UTC) >= until


async def test_pause_that_begins_while_waiting_costs_the_turn() -> None:
    granted = [Grant(0.01, spent=False), Grant(0.0, spent=False)]
    book = ScriptedBook(granted, [None, _soon(0.05), None])
    await Turns(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert len(book.taken) == 2


async def test_wait_beyond_our_patience_is_handed_on() -> None:
    book = ScriptedBook([Grant(90.0, spent=False)])
    with pytest.raises(RateLimitedError) as caught:
        await Turns(book, RATE, daily_budget=7, patience_s=1).wait("a.example", surface="x")
    assert caught.value.retry_after == 90


async def test_spent_budget_is_named_with_the_time_until_the_next_day() -> None:
    book = ScriptedBook([Grant(3600.0, spent=True)])
    with pytest.raises(BudgetSpentError) as caught:
        await Turns(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert caught.value.retry_after == 3600


async def test_pause_is_shared_through_the_book() -> None:
    book = ScriptedBook()
    assert await Turns(book, RATE, daily_budget=7).pause("a.example", "20") == 20
    assert book.paused["a.example"] > _soon(19)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20.0),
        (" 3 ", 3.0),
        ("0", 0.0),
        ("999999999999", LONGEST_PAUSE_S),
        (None, DEFAULT_PAUSE_S),
        ("", DEFAULT_PAUSE_S),
        ("soon", DEFAULT_PAUSE_S),
        ("-5", DEFAULT_PAUSE_S),
        ("Wed, 01 Jan 2020 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(header: str | None, seconds: float) -> None:
    assert read_retry_after(header) == seconds


def test_retry_after_may_be_a_date() -> None:
    header = format_datetime(_soon(60), usegmt=True)
    assert 55 < read_retry_after(header) <= 60
