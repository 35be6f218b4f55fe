"""One reader at a time: others wait and read what it kept, and hear of every capture."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.recording import (
    CAPTURE_LEASE_S,
    LEASE_POLL_S,
    CaptureLease,
    CaptureSharing,
)
from pipelines.captures.session import Captures
from pipelines.captures.walks import SearchLimits
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, open_control
from warehouse.control import captures as shared_captures
from warehouse.records.errors import (
    ForbiddenError,
    RunCancelledError,
    WarehouseUnavailableError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import SoundAddresses, Video

pytestmark = pytest.mark.full

Begin = Callable[..., Captures]


@pytest.fixture
def clock() -> FakeClock:
    """Held, so that whoever waits for another is seen to wait."""
    return FakeClock(is_held=True)


@pytest.fixture
def start(begin: Begin, clock: FakeClock) -> Begin:
    return partial(begin, clock=clock)


async def together(source: Any, clock: FakeClock, *readers: Any) -> list[Any]:
    """Let the first reader ask, then the others come, then the source answers."""
    source.gate = asyncio.Event()
    first = asyncio.create_task(readers[0])
    await source.arrivals.get()
    others = [asyncio.create_task(reader) for reader in readers[1:]]
    await clock.asleep(1 + len(others))  # the first until it renews its lease, the others for it
    assert len(source.asked) == 1
    source.gate.set()
    await asyncio.wait({first})
    clock.advance(LEASE_POLL_S)
    return await asyncio.gather(first, *others, return_exceptions=True)


@pytest.mark.parametrize(
    "read",
    [
        lambda captures: captures.track("12345"),
        lambda captures: captures.account("sec"),
        lambda captures: captures.hashtag("77777"),
    ],
)
async def test_simultaneous_captures_of_one_entity_share_one_request(
    read: Any, start: Begin, source: Any, stores: Any, clock: FakeClock
) -> None:
    async with start() as one, start() as two, start() as three:
        first, *others = await together(source, clock, read(one), read(two), read(three))
        assert (two.requests_used, three.requests_used) == (0, 0)
    assert others == [first, first]
    assert stores.rows("select sequence from raw.captures") == [{"sequence": 1}]


async def test_a_renewal_that_fails_once_is_tried_again(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[tuple[str, float]] = []

    def renew(_control: ControlStore, name: str, _owner: str, *, ttl_s: float) -> None:
        renewed.append((name, ttl_s))
        if len(renewed) == 1:
            raise WarehouseUnavailableError("busy")

    monkeypatch.setattr(shared_captures, "renew", renew)
    nothing: Any = None
    sharing = CaptureSharing(control=nothing, engine=nothing, flush=nothing, clock=clock)
    renewing = asyncio.create_task(sharing.renew(CaptureLease("any")))
    for _ in range(2):
        await clock.asleep(1)
        clock.advance(CAPTURE_LEASE_S / 3)
    await clock.asleep(1)
    renewing.cancel()
    assert renewed == [("any", CAPTURE_LEASE_S)] * 2


async def test_page_of_a_list_is_read_once_for_two_walks(
    start: Begin, source: Any, clock: FakeClock
) -> None:
    async with start() as one, start() as two:
        first, second = await together(
            source, clock, one.walk_music("12345", limit=2), two.walk_music("12345", limit=2)
        )
    assert [work.aweme_id for work in second.videos] == ["1", "2"]
    assert (first.videos, second.cursor) == (second.videos, 2)


async def test_a_page_of_mostly_foreign_rows_is_the_same_for_two_walks(
    start: Begin, source: Any, stores: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = source.fetch_music_page

    async def mostly_foreign(music_id: str, cursor: int) -> Any:
        reading = await real(music_id, cursor)
        own, *foreign = reading.value.videos
        foreign += [replace(video, aweme_id=f"9{video.aweme_id}") for video in (own, *foreign)]
        page = replace(reading.value, videos=(own,), foreign=tuple(foreign), has_more=False)
        return replace(reading, value=page)

    monkeypatch.setattr(source, "fetch_music_page", mostly_foreign)
    async with start() as one, start() as two:
        first, second = await together(
            source, clock, one.walk_music("12345", limit=9), two.walk_music("12345", limit=9)
        )
    assert first.coverage.stop_reason == second.coverage.stop_reason == "upstream_substitution"
    assert len(first.videos) == len(second.videos) == 1
    assert {video.aweme_id for video in first.foreign} == {v.aweme_id for v in second.foreign}
    assert first.coverage.foreign_rows == second.coverage.foreign_rows == len(first.foreign)
    assert stores.rows("select outcome from raw.captures") == [{"outcome": "upstream_substitution"}]


async def test_walk_that_shares_its_first_page_goes_on_where_that_page_was_read(
    start: Begin, source: Any, clock: FakeClock
) -> None:
    source.list_surface = "trends_list"
    async with start() as one, start() as two:
        await together(
            source, clock, one.walk_music("12345", limit=2), two.walk_music("12345", limit=2)
        )
    assert source.resumed == [("trends_list", "12345")]


def test_pages_of_different_surfaces_are_not_shared() -> None:
    page = CaptureRequest(kind="list", surface="music_list", entity_id="12345", cursor=20)
    assert page.key == replace(page, begun_on="music_list").key
    assert page.key != replace(page, begun_on="trends_list").key


async def test_page_of_a_search_is_read_once_for_two_jobs(
    start: Begin, source: Any, works: Any, clock: FakeClock
) -> None:
    place = SearchPosition(cursor=9, search_id="log", backtrace="b")
    source.search_pages = [
        SearchPage(videos=tuple(works("1", "2")), next_position=place, has_more=False)
    ]
    limits = SearchLimits()
    async with start() as one, start() as two:
        first, second = await together(
            source, clock, one.search(["song"], limits=limits), two.search(["song"], limits=limits)
        )
    assert first.videos == second.videos
    assert (first.requests_used, second.requests_used) == (1, 0)


async def test_work_read_by_another_comes_without_its_expiring_addresses(
    start: Begin, source: Any, clock: FakeClock
) -> None:
    async with start() as one, start() as two:
        first, second = await together(source, clock, one.video("7"), two.video("7"))
    assert isinstance(second, Video)
    assert (second, first.sound) == (
        replace(first, sound=None),
        SoundAddresses(urls=("http://x/",)),
    )


async def test_refusal_is_told_to_those_who_wait_by_its_own_name(
    start: Begin, source: Any, stores: Any, clock: FakeClock
) -> None:
    source.error = ForbiddenError("no", surface="music_info", status=403)
    async with start() as one, start() as two:
        first, second = await together(source, clock, one.track("12345"), two.track("12345"))
    assert isinstance(first, ForbiddenError)
    assert isinstance(second, ForbiddenError)
    assert (second.status, len(stores.rows("select * from raw.captures"))) == (403, 1)


async def test_cancelled_reader_leaves_its_turn_to_the_next(
    start: Begin, source: Any, clock: FakeClock
) -> None:
    is_cancelled = False
    source.gate = asyncio.Event()
    async with start(cancelled=lambda: is_cancelled) as one, start() as two:
        reading = asyncio.create_task(one.track("12345"))
        await source.arrivals.get()
        waiting = asyncio.create_task(two.track("12345"))
        await clock.asleep(2)
        is_cancelled = True
        with pytest.raises(RunCancelledError):
            await reading
        source.gate.set()
        clock.advance(LEASE_POLL_S)
        assert (await waiting).music_id == "12345"
    assert len(source.asked) == 2


async def test_captures_of_different_pages_do_not_wait_for_each_other(
    begin: Begin, source: Any
) -> None:
    source.gate = asyncio.Event()
    async with begin() as one, begin() as two:
        reading = asyncio.create_task(one.walk_user_posts("sec", cursor=0))
        other = asyncio.create_task(two.walk_user_posts("sec", cursor=4))
        await source.arrivals.get()
        await source.arrivals.get()
        source.gate.set()
        walks = await asyncio.gather(reading, other)
    assert [walk.coverage.requests for walk in walks] == [1, 1]


async def test_long_read_holds_its_turn(
    stores: Any, begin: Begin, source: Any, clock: FakeClock
) -> None:
    source.gate = asyncio.Event()
    with closing(open_control(stores.control_url, world="sandbox", clock=clock.unix)) as control:
        shared = {"control": control, "clock": clock}
        async with begin(**shared) as one, begin(**shared) as two:
            reading = asyncio.create_task(one.track("12345"))
            await source.arrivals.get()
            for _ in range(5):
                await clock.asleep(1)
                clock.advance(CAPTURE_LEASE_S / 3)
            waiting = asyncio.create_task(two.track("12345"))
            await clock.asleep(2)
            source.gate.set()
            first = await reading
            clock.advance(LEASE_POLL_S)
            assert (await waiting, len(source.asked)) == (first, 1)


async def test_reader_that_died_holds_the_others_up_only_until_its_lease_ends(
    stores: Any, clock: FakeClock
) -> None:
    with closing(open_control(stores.control_url, world="sandbox", clock=clock.unix)) as control:
        assert shared_captures.claim(control, "page", "dead", ttl_s=CAPTURE_LEASE_S).is_ours
        clock.advance(CAPTURE_LEASE_S - 0.1)
        assert shared_captures.claim(control, "page", "next", ttl_s=60) == (False, "dead")
        clock.advance(0.1)
        assert shared_captures.check(control, "page", "dead").is_over
        assert shared_captures.claim(control, "page", "next", ttl_s=60).is_ours


async def test_each_captured_entity_gets_a_new_generation(
    begin: Begin, source: Any, stores: Any
) -> None:
    async with begin(job_id="job") as captures:
        await captures.track("12345")
        await captures.walk_user_posts("sec", pages=2)
        source.error = ForbiddenError("no", surface="hashtag_info")
        with pytest.raises(ForbiddenError):
            await captures.hashtag("77777")
    control = stores.control
    names = ["music:12345", "user:sec", "hashtag:77777", "music:9"]
    assert shared_captures.read_generations(control, names) == dict.fromkeys(names[:3], 1)
