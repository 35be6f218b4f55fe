"""Waiting for a turn: reserved turns, pauses, budgets and the words of Retry-After."""

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from datetime import datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from pipelines.platform.http.host_policy import (
    DEFAULT_PAUSE_S,
    MAX_PAUSE_S,
    HostRateLimiter,
    read_retry_after,
)
from pipelines.platform.profiles import HostRate, PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from tests.fake_clock import START, FakeClock
from warehouse.control import ControlStore, hosts, open_control
from warehouse.records.errors import BudgetSpentError, RateLimitedError

RATE = HostRate(per_second=2, burst=5, parallel=4)


HOST = "a.example"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def control(tmp_path: Path, clock: FakeClock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as store:
        yield store


@pytest.fixture
def limiter(control: ControlStore, clock: FakeClock) -> HostRateLimiter:
    return HostRateLimiter(control, RATE, daily_budget=1000, max_wait_s=60, clock=clock)


def _after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def _reserve(control: ControlStore, wait_s: float, rate: HostRate = RATE) -> None:
    """Let others take turns, until the next one comes after so many seconds."""
    for _ in range(rate.burst - 1 + round(wait_s * rate.per_second)):
        hosts.take_token(
            control, HOST, rate_per_s=rate.per_second, burst=rate.burst, daily_budget=10**6
        )


def _turns_taken(control: ControlStore) -> int:
    return hosts.spent_today(control).get(HOST, 0)


def _during_first_sleep(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock, event: Callable[[], None]
) -> None:
    sleep = clock.sleep

    async def sleep_meanwhile(seconds: float) -> None:
        if not clock.slept:
            event()
        await sleep(seconds)

    monkeypatch.setattr(clock, "sleep", sleep_meanwhile)


@pytest.mark.parametrize(("wait_s", "slept"), [(0, []), (20, [20]), (60, [60])])
async def test_a_turn_is_taken_once_and_waited_for_as_long_as_our_patience(
    wait_s: int,
    slept: list[int],
    limiter: HostRateLimiter,
    control: ControlStore,
    clock: FakeClock,
) -> None:
    _reserve(control, wait_s)
    before = _turns_taken(control)
    await limiter.wait(HOST, surface="x")
    assert (_turns_taken(control) - before, clock.slept) == (1, slept)


async def test_request_waits_until_the_pause_of_its_host_ends(
    limiter: HostRateLimiter, control: ControlStore, clock: FakeClock
) -> None:
    hosts.pause_host(control, HOST, 50)
    await limiter.wait(HOST, surface="x")
    assert (_turns_taken(control), clock.slept) == (1, [50])


async def test_pause_that_begins_while_waiting_costs_the_turn(
    limiter: HostRateLimiter,
    control: ControlStore,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _reserve(control, 10)
    before = _turns_taken(control)
    _during_first_sleep(monkeypatch, clock, lambda: hosts.pause_host(control, HOST, 50))
    await limiter.wait(HOST, surface="x")
    assert (_turns_taken(control) - before, clock.slept) == (2, [10, 40])


async def test_wait_beyond_our_patience_is_handed_on(
    limiter: HostRateLimiter, control: ControlStore, clock: FakeClock
) -> None:
    _reserve(control, 60.5)
    with pytest.raises(RateLimitedError) as caught:
        await limiter.wait(HOST, surface="x")
    assert (caught.value.retry_after, caught.value.reason, clock.slept) == (60.5, "crowded", [])


@pytest.mark.parametrize("for_user", [False, True])
async def test_a_job_waits_as_long_as_a_slow_rate_asks_and_a_user_does_not(
    for_user: bool, profile: PlatformProfile, control: ControlStore, clock: FakeClock
) -> None:
    slow = HostRate(per_second=0.01, burst=1, parallel=4)
    _reserve(control, 700, slow)
    limiter = (
        ProviderDependencies(
            settings=Settings(_env_file=None),
            profile=profile.model_copy(update={"rate": slow}),
            control=control,
            clock=clock,
            for_user=for_user,
        )
        .host_policy()
        .limiter
    )
    with pytest.raises(RateLimitedError, match="our own rate limit") if for_user else nullcontext():
        await limiter.wait(HOST, surface="x")
    assert clock.slept == ([] if for_user else [700])


async def test_patience_counts_all_waits_of_one_request(
    limiter: HostRateLimiter,
    control: ControlStore,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each wait is short, but together they are longer than whoever asks is patient."""

    def be_crowded_and_paused() -> None:
        _reserve(control, 30)
        hosts.pause_host(control, HOST, 41)

    _reserve(control, 40)
    _during_first_sleep(monkeypatch, clock, be_crowded_and_paused)
    with pytest.raises(RateLimitedError):
        await limiter.wait(HOST, surface="x")
    assert clock.slept == [40, 1]


async def test_spent_budget_is_named_with_the_time_until_the_next_day(
    control: ControlStore, clock: FakeClock
) -> None:
    limiter = HostRateLimiter(control, RATE, daily_budget=1, clock=clock)
    await limiter.wait(HOST, surface="x")
    with pytest.raises(BudgetSpentError) as caught:
        await limiter.wait(HOST, surface="x")
    assert caught.value.retry_after == 16 * 3600  # it is eight in the morning


async def test_pause_is_shared_through_the_store(
    limiter: HostRateLimiter, control: ControlStore
) -> None:
    assert await limiter.pause(HOST, "20") == 20
    assert hosts.paused_until(control, HOST) == _after(20)


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
