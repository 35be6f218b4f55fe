"""A request is answered in time; what is not read by then is named."""

import asyncio

import pytest

from api.reads.deadline import Deadline
from pipelines.domain.errors import ForbiddenError, UnreachableError


async def read(key: str) -> str:
    match key:
        case "slow":
            await asyncio.Event().wait()
        case "refused":
            raise ForbiddenError("no", surface="video_page")
        case "broken":
            raise KeyError(key)
    return key.upper()


async def test_each_key_is_read_refused_or_late() -> None:
    found = await Deadline(0.05).each(["a", "slow", "refused", "b"], read)
    assert (found.values, found.late) == ({"a": "A", "b": "B"}, ["slow"])
    assert list(found.errors) == ["refused"]


async def test_keys_that_wait_for_their_turn_are_late_too() -> None:
    found = await Deadline(0.05).each(["slow", "a"], read, parallel=1)
    assert (found.values, found.late) == ({}, ["slow", "a"])


async def test_nothing_asked_is_answered_at_once_and_nothing_late_when_time_is_up() -> None:
    assert (await Deadline(0).each([], read)).late == []
    assert (await Deadline(0).each(["a"], read)).late == ["a"]


async def test_an_error_that_nobody_foresaw_ends_it() -> None:
    with pytest.raises(KeyError):
        await Deadline(60).each(["slow", "broken"], read)


async def test_what_an_answer_cannot_do_without_is_unreachable_by_name() -> None:
    with pytest.raises(UnreachableError, match="within the 0") as caught:
        async with Deadline(0.01).guard("user_info"):
            await asyncio.Event().wait()
    assert (caught.value.reason, caught.value.surface) == ("deadline", "user_info")
    assert caught.value.retry_after is not None


def test_the_time_left_never_is_less_than_none() -> None:
    now = 100.0
    deadline = Deadline(30, clock=lambda: now)
    assert deadline.left_s == 30
    now = 140.0
    assert deadline.left_s == 0
