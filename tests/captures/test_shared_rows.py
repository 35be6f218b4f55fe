"""What another process captured comes back whole from its rows; otherwise it is read anew."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest

from pipelines.captures.capture import CaptureKind, CaptureRequest
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.recording import LEASE_POLL_S
from pipelines.captures.session import Captures
from pipelines.captures.stored_captures import restore_value
from tests.captures.test_shared_captures import together
from tests.fake_clock import FakeClock
from warehouse.records.errors import RefusedLatelyError

pytestmark = pytest.mark.full

DAY = date(2026, 11, 20)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(is_held=True)


async def test_songs_of_an_issue_are_read_once_for_two_who_ask_at_the_same_moment(
    begin_chart: Callable[..., ChartCaptures], source: Any, stores: Any, clock: FakeClock
) -> None:
    start = partial(begin_chart, clock=clock)
    async with start() as one, start() as two:
        read = partial(ChartCaptures.songs, volid="9", chart_date=DAY, limit=10)
        first, second = await together(source, clock, read(one), read(two))
        assert (one.requests_used, two.requests_used) == (1, 0)
    assert [song.title for song in second.songs] == [f"song {rank}" for rank in range(1, 11)]
    assert (second.volid, second.chart_date, second.page) == ("9", DAY, 1)
    assert second.songs == first.songs
    assert stores.rows("select count(*) as songs from raw.chart_songs") == [{"songs": 10}]


@pytest.mark.parametrize("kind", ["track", "work", "search", "issues", "songs"])
def test_a_capture_whose_rows_are_not_there_cannot_be_restored(
    kind: CaptureKind, stores: Any
) -> None:
    request = CaptureRequest(kind=kind, surface="any", entity_id="12345")
    capture = {
        "capture_id": "lost", "outcome": "ok", "entity_id": "12345", "surface": "any",
        "observed_at": datetime(2026, 11, 20, tzinfo=UTC), "cursor_in": None,
    }  # fmt: skip
    assert restore_value(stores.engine, request, capture) is None


async def test_waiting_capture_sends_its_own_request_if_the_reader_was_not_allowed_to(
    begin: Callable[..., Captures], source: Any, stores: Any, clock: FakeClock
) -> None:
    source.gate = asyncio.Event()
    source.error = RefusedLatelyError("not asked", surface="music_info", reason="upstream_empty")
    async with begin(clock=clock) as one, begin(clock=clock) as two:
        reading = asyncio.create_task(one.track("12345"))
        await source.arrivals.get()
        waiting = asyncio.create_task(two.track("12345"))
        await clock.asleep(2)
        source.gate.set()
        with pytest.raises(RefusedLatelyError):
            await reading
        source.error = None
        clock.advance(LEASE_POLL_S)
        assert (await waiting).music_id == "12345"
    assert source.asked == [("music_info", "12345")] * 2
    outcomes = stores.rows("select outcome from raw.captures order by sequence")
    assert [row["outcome"] for row in outcomes] == ["upstream_refused_lately", "ok"]
