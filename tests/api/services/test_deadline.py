"""A request is answered in time; what is not read by then is named."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from api.services.reads.sources import Deadline, preferred_wait
from pipelines.platform.call_trace import current_trace, open_call_trace
from tests.fake_clock import FakeClock
from warehouse.records.errors import ForbiddenError, UnreachableError


async def read(key: str) -> str:
    match key:
        case "slow":
            await asyncio.Event().wait()
        case "refused":
            raise ForbiddenError("no", surface="video_page")
        case "broken":
            raise KeyError(key)
    return key.upper()


async def until_over(clock: FakeClock, waiting: Coroutine[Any, Any, Any]) -> Any:
    """What is said when nothing more comes until time is up."""
    answer = asyncio.ensure_future(waiting)
    await clock.asleep(1)
    clock.advance(29)
    await asyncio.sleep(0)
    assert not answer.done()
    clock.advance(1)
    return await answer


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(is_held=True)


async def test_each_key_is_read_refused_or_late(clock: FakeClock) -> None:
    deadline = Deadline(30, clock=clock)
    found = await until_over(clock, deadline.each(["a", "slow", "refused", "b"], read))
    assert (found.values, found.late) == ({"a": "A", "b": "B"}, ["slow"])
    assert list(found.errors) == ["refused"]


async def test_keys_that_wait_for_their_turn_are_late_too(clock: FakeClock) -> None:
    deadline = Deadline(30, clock=clock)
    found = await until_over(clock, deadline.each(["slow", "a"], read, parallel=1))
    assert (found.values, found.late) == ({}, ["slow", "a"])


async def test_deadline_without_reads_returns_at_once_and_an_expired_one_names_all_reads() -> None:
    assert (await Deadline(0).each([], read)).late == []
    assert (await Deadline(0).each(["a"], read)).late == ["a"]


async def test_an_error_that_nobody_foresaw_ends_it() -> None:
    with pytest.raises(KeyError):
        await Deadline(60).each(["slow", "broken"], read)


async def test_guarded_read_past_the_deadline_raises_unreachable_with_its_surface(
    clock: FakeClock,
) -> None:
    async def read_guarded() -> None:
        async with Deadline(30, clock=clock).guard("user_info"):
            await asyncio.Event().wait()

    with pytest.raises(UnreachableError, match="within 30 s") as caught:
        await until_over(clock, read_guarded())
    assert (caught.value.reason, caught.value.surface) == ("deadline", "user_info")
    assert caught.value.retry_after is not None


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        (0, "within 30 s; no request for it was made: its turn, or robots.txt, took that long"),
        (1, "within 30 s; 1 request for it was made"),
        (9, "within 30 s; 9 requests for it were made"),
    ],
)
async def test_a_missed_deadline_says_what_was_measured(
    clock: FakeClock, requests: int, said: str
) -> None:
    async def request() -> None:
        with open_call_trace():
            current_trace().request_count += 1
            await asyncio.Event().wait()

    async def read_guarded() -> None:
        async with Deadline(30, clock=clock).guard("user_info"):
            await asyncio.gather(*(request() for _ in range(requests)), asyncio.Event().wait())

    with pytest.raises(UnreachableError) as caught:
        await until_over(clock, read_guarded())
    assert said in caught.value.detail


async def test_a_second_read_has_what_the_first_one_left(clock: FakeClock) -> None:
    deadline = Deadline(30, clock=clock)
    clock.advance(10)

    async def read_guarded() -> None:
        async with deadline.guard("user_posts"):
            await asyncio.Event().wait()

    reading = asyncio.ensure_future(read_guarded())
    await clock.asleep(1)
    clock.advance(20)
    with pytest.raises(UnreachableError, match="within 30 s"):
        await reading


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("wait=12", 12), ("respond-async, wait=100", 100), ("return=minimal; wait=5", 5),
        ('Wait = "7"', 7), ("", None), ("wait=soon", None), ("awaits=3", None), ("wait=-1", None),
    ],
)  # fmt: skip
def test_time_that_a_client_has_left_is_read_from_its_header(
    header: str, seconds: float | None
) -> None:
    assert preferred_wait(header) == seconds


async def test_read_within_the_deadline_is_not_cancelled_later(clock: FakeClock) -> None:
    async with Deadline(30, clock=clock).guard("user_info"):
        await clock.asleep(1)
        clock.advance(29)
    clock.advance(60)
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


def test_the_time_left_never_is_less_than_none(clock: FakeClock) -> None:
    deadline = Deadline(30, clock=clock)
    assert deadline.left_s == 30
    clock.advance(40)
    assert deadline.left_s == 0
