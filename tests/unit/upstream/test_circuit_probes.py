"""What ends a probe of an open circuit: an answer closes it, and what tells nothing about the
surface or its host gives the probe back at once.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.platform.http.circuit_breaker import OPEN_REASON, WHOLE_HOST, CircuitBreaker
from pipelines.platform.profiles import CircuitTimes
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, open_control
from warehouse.records.errors import (
    BudgetSpentError,
    EmptyAnswerError,
    ForbiddenError,
    RateLimitedError,
    UnreachableError,
    UpstreamError,
    VerificationDemandedError,
)

HOST = "share.vidplat.localhost"
TIMES = CircuitTimes(open_s=60, longest_s=600, probe_s=30)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def control(tmp_path: Path, clock: FakeClock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as control:
        yield control


@pytest.fixture
def breaker(control: ControlStore) -> CircuitBreaker:
    return CircuitBreaker(control, TIMES)


async def meet(breaker: CircuitBreaker, surface: str, error: UpstreamError | None = None) -> None:
    """One request, which is answered or meets an error."""
    async with breaker.watch(HOST, surface):
        if error is not None:
            raise error


async def refused(
    breaker: CircuitBreaker, surface: str, error: UpstreamError | None = None
) -> UpstreamError:
    with pytest.raises(UpstreamError) as met:
        await meet(breaker, surface, error)
    return met.value


def is_open(control: ControlStore, surface: str) -> bool:
    (state,) = (one for one in control.circuits() if one.surface == surface)
    return state.open_until is not None


async def close_host(breaker: CircuitBreaker, clock: FakeClock) -> None:
    """Two surfaces demand verification, so that the host is closed; then its probe is due."""
    for surface in ("music_list", "music_info"):
        demand = VerificationDemandedError("prove it", surface=surface)
        assert await refused(breaker, surface, demand) is demand
    assert (await refused(breaker, "user_posts")).reason == OPEN_REASON
    clock.advance(TIMES.open_s + 1)


@pytest.mark.parametrize(
    "error",
    [RateLimitedError("slow down", surface="page"), BudgetSpentError("spent", surface="page")],
    ids=["rate limited", "budget spent"],
)
async def test_a_probe_that_only_the_host_held_back_is_given_to_the_next_request(
    error: UpstreamError, breaker: CircuitBreaker, control: ControlStore, clock: FakeClock
) -> None:
    await refused(breaker, "page", ForbiddenError("no", surface="page", status=403))
    assert (await refused(breaker, "page")).reason == OPEN_REASON
    clock.advance(TIMES.open_s + 1)
    assert await refused(breaker, "page", error) is error
    assert is_open(control, "page")
    await meet(breaker, "page")
    assert not is_open(control, "page")


async def test_a_closed_host_is_opened_by_any_answer_to_its_probe(
    breaker: CircuitBreaker, control: ControlStore, clock: FakeClock
) -> None:
    await close_host(breaker, clock)
    assert is_open(control, WHOLE_HOST)
    empty = EmptyAnswerError("nothing came", surface="user_posts")
    assert await refused(breaker, "user_posts", empty) is empty
    assert not is_open(control, WHOLE_HOST)
    await meet(breaker, "hashtag_list")


@pytest.mark.parametrize(
    "error",
    [
        UnreachableError("no answer", surface="user_posts"),
        RateLimitedError("slow down", surface="user_posts"),
        ForbiddenError("left alone", surface="user_posts", reason=OPEN_REASON),
    ],
    ids=["unreachable", "rate limited", "not asked"],
)
async def test_a_closed_host_stays_closed_by_what_is_no_answer_and_is_probed_again(
    error: UpstreamError, breaker: CircuitBreaker, control: ControlStore, clock: FakeClock
) -> None:
    await close_host(breaker, clock)
    assert await refused(breaker, "user_posts", error) is error
    assert is_open(control, WHOLE_HOST)
    await meet(breaker, "hashtag_list")
    assert not is_open(control, WHOLE_HOST)
