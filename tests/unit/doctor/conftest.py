"""A guest whose surfaces answer from shape files, on a clock that stands still."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pipelines.doctor.live_check.round import CountedTurns, LiveCheckRound
from pipelines.doctor.probes.canaries import Canaries
from pipelines.doctor.probes.table import ProbeReader
from pipelines.platform.call_trace import (
    HttpExchange,
    HttpResponse,
    note_exchange,
    record_request,
    record_response,
)
from pipelines.platform.http.body_sinks import Sink
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.profiles import PlatformProfile, load_profile
from tests.answers import SHAPES
from tests.fake_clock import FakeClock
from tests.host_rates import AT_ONCE
from warehouse.control import ControlStore, open_control
from warehouse.records.errors import SametrackError

HEALTHY = {
    "slides_info": "slides_info/video.json",
    "music_info": "music_info/song.json",
    "music_list": "music_list/first_page.json",
    "video_page": "video_page/video.html",
}
MP4 = bytes.fromhex("0000001c 66747970 69736f6d 00000200")

type Scripted = str | bytes | SametrackError | float
"""A shape file, a body, an error, or seconds that pass without an answer."""


@dataclass
class FakeGuest(GuestClient):
    """Answers each surface as scripted, and remembers what was asked."""

    profile: PlatformProfile
    turns: CountedTurns
    clock: FakeClock
    script: Mapping[str, Scripted]
    locations: Mapping[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    limits: HttpLimits = field(default_factory=HttpLimits)

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        body = await self._body(ask)
        answer = HttpResponse(
            surface=ask.surface,
            url=ask.url,
            status=200,
            content_type=None,
            body=body,
            fetched_at=self.clock.now(),
        )
        record_response(answer)
        return answer

    async def save(self, ask: HttpRequest, sink: Sink) -> HttpResponse:
        sink.take(await self._body(ask))
        return HttpResponse(
            surface=ask.surface,
            url=ask.url,
            status=200,
            content_type=None,
            body=b"",
            fetched_at=self.clock.now(),
        )

    async def _body(self, ask: HttpRequest) -> bytes:
        self.turns.used += 1  # a held clock would not let it wait
        self.asked.append(ask.surface)
        record_request()
        step = self.script[ask.surface]
        if isinstance(step, float):
            await self.clock.sleep(step)
            raise AssertionError("nobody waited that long")  # noqa: TRY004  # not about a type
        if isinstance(step, SametrackError):
            raise step
        location = self.locations.get(ask.surface)
        note_exchange(HttpExchange(surface=ask.surface, url=ask.url, status=200, location=location))
        return step if isinstance(step, bytes) else (SHAPES / step).read_bytes()


@dataclass
class LiveStage:
    """One live check that can be run, its guest and its clock."""

    round: LiveCheckRound
    guest: FakeGuest
    clock: FakeClock


@pytest.fixture(scope="session")
def profile() -> PlatformProfile:
    """Nothing can change it, so all tests share one."""
    return load_profile("sandbox", sandbox_port=8790)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlStore]:
    with closing(
        open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="sandbox")
    ) as store:
        yield store


@pytest.fixture
def live(profile: PlatformProfile, control: ControlStore) -> Callable[..., LiveStage]:
    """Build a live check: `live({surface: script}, limit=..., locations=...)`."""

    def build(
        script: Mapping[str, Scripted], *, limit: int = 20,
        locations: Mapping[str, str] | None = None,
    ) -> LiveStage:  # fmt: skip
        clock = FakeClock(is_held=True)
        turns = CountedTurns(
            control, AT_ONCE, daily_budget=1000, max_wait_s=1.0, limit=limit,
            clock=clock,
        )  # fmt: skip
        guest = FakeGuest(profile, turns, clock, script, locations or {})
        canaries = Canaries()
        canaries.offer("music_id", "7361234567890123456")
        canaries.offer("aweme_id", "7568123456789012345")
        one = LiveCheckRound(ProbeReader(guest), turns, canaries, clock=clock)
        return LiveStage(one, guest, clock)

    return build
