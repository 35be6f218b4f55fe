"""What ends a probe of an open circuit: an answer closes it, and what tells nothing about the
surface or its host gives the probe back at once.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pipelines.platform.http.circuit_breaker import OPEN_REASON, WHOLE_HOST, CircuitBreaker
from pipelines.platform.profiles import CircuitTimes
from pipelines.platform.providers.vidplat_public import VidplatPublic
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, hosts, open_control
from warehouse.records.errors import (
    BudgetSpentError,
    EmptyAnswerError,
    ForbiddenError,
    InvalidMusicInputError,
    RateLimitedError,
    UnreachableError,
    UpstreamError,
    VerificationDemandedError,
)

HOST = "share.vidplat.localhost"
SHORT = "http://v.vidplat.localhost:8790/abcd/"
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
    (state,) = (one for one in hosts.read_circuits(control) if one.surface == surface)
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


async def test_a_challenge_in_place_of_a_short_link_closes_short_links_for_everybody(
    breaker: CircuitBreaker, scripted: Any, shape_named: Any
) -> None:
    client = scripted([shape_named("video_page/script_challenge.html").answer("any")])
    client.policy = replace(client.policy, circuits=breaker)
    provider = VidplatPublic(client, name="public-graph")
    for reason in ("script_challenge", OPEN_REASON):
        with pytest.raises(VerificationDemandedError) as met:
            await provider.resolve_link(SHORT)
        assert met.value.reason == reason
    assert len(client.asked) == 1


async def test_dead_short_links_say_nothing_about_their_host(
    breaker: CircuitBreaker, control: ControlStore, scripted: Any, shape_named: Any
) -> None:
    client = scripted([shape_named("video_page/not_found.html").answer("any")] * 9)
    client.policy = replace(client.policy, circuits=breaker)
    provider = VidplatPublic(client, name="public-graph")
    for _ in range(9):
        with pytest.raises(InvalidMusicInputError):
            await provider.resolve_link(SHORT)
    assert [one for one in hosts.read_circuits(control) if one.failures] == []


async def test_a_request_cancelled_while_it_asks_gives_the_probe_back(
    breaker: CircuitBreaker,
    control: ControlStore,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await refused(breaker, "page", ForbiddenError("no", surface="page", status=403))
    clock.advance(TIMES.open_s + 1)
    check = hosts.check_circuit
    is_asked, may_answer, has_answered = Event(), Event(), Event()

    def check_late(store: ControlStore, host: str, surface: str, *, probe_s: float) -> Any:
        if surface == "page":
            is_asked.set()
            may_answer.wait()
        try:
            return check(store, host, surface, probe_s=probe_s)
        finally:
            if surface == "page":
                has_answered.set()

    monkeypatch.setattr(hosts, "check_circuit", check_late)
    asking = asyncio.create_task(meet(breaker, "page"))
    await asyncio.to_thread(is_asked.wait)
    asking.cancel()
    may_answer.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.to_thread(has_answered.wait)
    await meet(breaker, "page")
    assert not is_open(control, "page")
