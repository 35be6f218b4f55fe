"""Waiting for a turn: reserved turns, pauses, budgets and the words of Retry-After."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest

from pipelines.platform.http.rate_limiter import (
    DEFAULT_PAUSE_S,
    MAX_PAUSE_S,
    HostRateLimiter,
    read_retry_after,
)
from pipelines.platform.profiles import HostRate, PlatformProfile
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.settings import Settings
from tests.fake_clock import START, FakeClock
from warehouse.control.records import TokenGrant
from warehouse.records.errors import BudgetSpentError, RateLimitedError

RATE = HostRate(per_second=2, burst=5, parallel=4)


class ScriptedBook:
    """A control store whose grants and pauses are written down beforehand."""

    def __init__(
        self, grants: Sequence[TokenGrant] = (), pauses: Sequence[datetime | None] = ()
    ) -> None:
        self.taken: list[tuple[str, float, int, int]] = []
        self.paused: dict[str, datetime] = {}
        self._grants = list(grants)
        self._pauses = list(pauses)

    def take_token(
        self, host: str, *, rate_per_s: float, burst: int, daily_budget: int
    ) -> TokenGrant:
        self.taken.append((host, rate_per_s, burst, daily_budget))
        return self._grants.pop(0)

    def pause_host(self, host: str, until: datetime) -> None:
        self.paused[host] = until

    def host_paused_until(self, host: str) -> datetime | None:
        return self._pauses.pop(0) if self._pauses else None


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def _after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


async def test_turn_is_taken_at_the_rate_of_the_profile() -> None:
    book = ScriptedBook([TokenGrant(0.0, spent=False)])
    await HostRateLimiter(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert book.taken == [("a.example", 2.0, 5, 7)]


async def test_reserved_turn_is_waited_for_and_not_taken_twice(clock: FakeClock) -> None:
    book = ScriptedBook([TokenGrant(20.0, spent=False)])
    await HostRateLimiter(book, RATE, daily_budget=7, clock=clock).wait("a.example", surface="x")
    assert (len(book.taken), clock.slept) == (1, [20])


async def test_nobody_takes_a_turn_during_a_pause(clock: FakeClock) -> None:
    book = ScriptedBook([TokenGrant(0.0, spent=False)], [_after(50)])
    await HostRateLimiter(book, RATE, daily_budget=7, clock=clock).wait("a.example", surface="x")
    assert (len(book.taken), clock.slept) == (1, [50, 0])


async def test_pause_that_begins_while_waiting_costs_the_turn(clock: FakeClock) -> None:
    granted = [TokenGrant(10.0, spent=False), TokenGrant(0.0, spent=False)]
    book = ScriptedBook(granted, [None, _after(50), None])
    await HostRateLimiter(book, RATE, daily_budget=7, clock=clock).wait("a.example", surface="x")
    assert (len(book.taken), clock.slept) == (2, [10, 0])


async def test_wait_as_long_as_our_patience_is_waited_for(clock: FakeClock) -> None:
    book = ScriptedBook([TokenGrant(60.0, spent=False)])
    turns = HostRateLimiter(book, RATE, daily_budget=7, max_wait_s=60, clock=clock)
    await turns.wait("a.example", surface="x")
    assert clock.slept == [60]


async def test_wait_beyond_our_patience_is_handed_on(clock: FakeClock) -> None:
    book = ScriptedBook([TokenGrant(60.5, spent=False)])
    with pytest.raises(RateLimitedError) as caught:
        await HostRateLimiter(book, RATE, daily_budget=7, max_wait_s=60, clock=clock).wait(
            "a.example", surface="x"
        )
    assert (caught.value.retry_after, caught.value.reason, clock.slept) == (60.5, "crowded", [])


@pytest.mark.parametrize("for_user", [False, True])
async def test_a_job_waits_as_long_as_a_slow_rate_asks_and_a_user_does_not(
    for_user: bool, profile: PlatformProfile, clock: FakeClock
) -> None:
    slow = HostRate(per_second=0.01, burst=1, parallel=4)
    turns = ProviderDependencies(
        settings=Settings(_env_file=None),
        profile=profile.model_copy(update={"rate": slow}),
        control=ScriptedBook([TokenGrant(700.0, spent=False)]),  # type: ignore[arg-type]  # only turns are taken
        clock=clock,
        for_user=for_user,
    ).turns()
    with pytest.raises(RateLimitedError, match="our own rate limit") if for_user else nullcontext():
        await turns.wait("a.example", surface="x")
    assert clock.slept == ([] if for_user else [700])


async def test_patience_counts_all_waits_of_one_request(clock: FakeClock) -> None:
    """Each wait is short, but together they are longer than whoever asks is patient."""
    granted = [TokenGrant(40.0, spent=False), TokenGrant(30.0, spent=False)]
    book = ScriptedBook(granted, [None, _after(41), None])
    with pytest.raises(RateLimitedError):
        await HostRateLimiter(book, RATE, daily_budget=7, clock=clock).wait(
            "a.example", surface="x"
        )
    assert clock.slept == [40]


async def test_spent_budget_is_named_with_the_time_until_the_next_day() -> None:
    book = ScriptedBook([TokenGrant(3600.0, spent=True)])
    with pytest.raises(BudgetSpentError) as caught:
        await HostRateLimiter(book, RATE, daily_budget=7).wait("a.example", surface="x")
    assert caught.value.retry_after == 3600


async def test_pause_is_shared_through_the_book(clock: FakeClock) -> None:
    book = ScriptedBook()
    assert (
        await HostRateLimiter(book, RATE, daily_budget=7, clock=clock).pause("a.example", "20")
        == 20
    )
    assert book.paused == {"a.example": _after(20)}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20.0),
        (" 3 ", 3.0),
        ("0", 0.0),
        ("999999999999", MAX_PAUSE_S),
        (None, DEFAULT_PAUSE_S),
        ("", DEFAULT_PAUSE_S),
        ("soon", DEFAULT_PAUSE_S),
        ("-5", DEFAULT_PAUSE_S),
        ("Wed, 01 Jan 2020 00:00:00 GMT", 0.0),
        (f"Wed, 01 Jan {10**20} 00:00:00 GMT", DEFAULT_PAUSE_S),
    ],
)
def test_retry_after_is_read_in_all_its_forms(header: str | None, seconds: float) -> None:
    assert read_retry_after(header, now=START) == seconds


def test_retry_after_may_be_a_date() -> None:
    header = format_datetime(_after(60), usegmt=True)
    assert read_retry_after(header, now=START) == 60
