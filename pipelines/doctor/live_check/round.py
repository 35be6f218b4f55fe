"""Runs a live check: one surface after another, in the order of their worth to a scan.

What belongs here: order, limits of requests and time, and when a host is left alone. What the
answers mean is concluded in `analysis.py`.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.doctor.probes.answers import TIME_IS_UP, await_answer
from pipelines.doctor.probes.canaries import Canaries, CanaryKind
from pipelines.doctor.probes.probe_round import ProbeListener
from pipelines.doctor.probes.table import PROBE_BY_SURFACE, Probe, ProbeReader, read_sound_head
from pipelines.platform.call_trace import (
    HttpExchange,
    HttpResponse,
    record_response,
    watch_exchanges,
)
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_names import host_matches
from pipelines.platform.http.link_gate import read_address
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import HostRate
from warehouse.control import ControlStore
from warehouse.records.errors import BudgetSpentError, UnreachableError, VerificationDemandedError
from warehouse.records.health import SurfaceHealth
from warehouse.records.videos import VideoDetail

REQUEST_LIMIT = 20
"""Requests of one live check, with redirects and robots.txt."""
LIMIT_REACHED = "request_limit"


class CountedTurns(HostRateLimiter):
    """The rate limiter of all clients, which also ends a live check after its last request."""

    def __init__(
        self,
        store: ControlStore,
        rate: HostRate,
        *,
        daily_budget: int,
        max_wait_s: float,
        limit: int = REQUEST_LIMIT,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        super().__init__(store, rate, daily_budget=daily_budget, max_wait_s=max_wait_s, clock=clock)
        self.limit = limit
        self.used = 0

    @property
    def left(self) -> int:
        """Requests that may still be sent."""
        return self.limit - self.used

    async def wait(self, host: str, *, surface: str) -> None:
        """Wait for a turn, if a request is left.

        Raises:
            BudgetSpentError: The limit of this live check is reached.
        """
        if self.left <= 0:
            raise BudgetSpentError(
                f"the limit of {self.limit} requests is reached",
                surface=surface,
                reason=LIMIT_REACHED,
            )
        self.used += 1  # before the wait, so that no two tasks take the last one
        await super().wait(host, surface=surface)


class OneRequestClient(GuestClient):
    """Asks each surface once: whoever asks again gets the first response again.

    A reader asks again where a first response only set cookies. What a single visit gets is what a
    live check reports.
    """

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body into memory."""
        if not hasattr(self, "_answers"):
            self._answers: dict[str, HttpResponse] = {}
        known = self._answers.get(ask.surface)
        if known is None:
            known = self._answers[ask.surface] = await super().fetch(ask)
        else:
            record_response(known)
        return known


ORDER = (
    "short_link", "slides_info", "music_info", "music_list", "media", "video_page", "user_info",
    "hashtag_list", "trends_list", "service_track", "search_stream", "user_by_handle",
    "chart_songs",
)  # fmt: skip
"""Surfaces by their worth to a scan: those at the end are left out when a limit is reached.

The others of the doctor are left out, so that requests, redirects and robots.txt of seven hosts
stay within the limit: `hashtag_info` is like `hashtag_list`, one reading of the chart suffices, and
a scan finds out by three requests whether guests get posts of accounts, which is not expected.
"""
LONGEST_S = 60.0
"""Time limit of the whole command, except against the sandbox."""
_CLOSING_S = 15.0  # of that, for the start and the report


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCheckTimes:
    """Time limits in seconds: of all requests, of one surface, of one request."""

    total_s: float = LONGEST_S - _CLOSING_S
    surface_s: float = 10.0
    request_s: float = 6.0

    @classmethod
    def within(cls, limit_s: float) -> Self:
        """Return the limits for a command that may take so long."""
        total_s = max(limit_s - _CLOSING_S, limit_s / 2)
        surface_s = max(cls().surface_s, total_s / 4)
        # robots.txt comes first
        return cls(total_s=total_s, surface_s=surface_s, request_s=surface_s - 4.0)

    def http_limits(self) -> HttpLimits:
        """Return the limits of the client: one attempt each."""
        long_s, short_s = self.request_s, self.request_s / 2
        return HttpLimits(
            connect_s=short_s, read_s=long_s, total_s=long_s, media_total_s=long_s,
            robots_s=short_s, attempts=1,
        )  # fmt: skip


MAX_WAIT_S = 6.0
FAILURES_PER_HOST = 2
"""After so many demands for verification, or silences, a host is asked nothing more."""
_REQUESTS_OF_A_SURFACE = 2  # robots.txt of its host, and itself
_KIND_OF_TARGET: dict[str, CanaryKind] = {
    "music": "music_id", "video": "aweme_id", "user": "sec_uid", "hashtag": "ch_id",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenExchange:
    """The head of a response, and when it arrived."""

    head: HttpExchange
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceCheck:
    """One surface: its health, the record that was read, and all that was received.

    `sound_head` holds the first bytes of a media file.
    """

    health: SurfaceHealth
    value: object | None = None
    response: HttpResponse | None = None
    exchanges: tuple[SeenExchange, ...] = ()
    sound_head: bytes = b""


@dataclass(slots=True)
class LiveCheckRound:
    """One live check over a client with its limits."""

    reader: ProbeReader
    turns: CountedTurns
    canaries: Canaries
    watch: ProbeListener = field(default_factory=ProbeListener)
    clock: Clock = MACHINE_CLOCK
    times: LiveCheckTimes = field(default_factory=LiveCheckTimes)
    checks: list[SurfaceCheck] = field(default_factory=list)
    _challenges: Counter[str] = field(default_factory=Counter)
    _silences: Counter[str] = field(default_factory=Counter)

    async def run(self, surfaces: Sequence[str] = ORDER) -> list[SurfaceCheck]:
        """Ask each surface once, and return the checks in the order of `surfaces`.

        A surface whose id only another one reveals is asked after that one.
        """
        deadline = self.clock.monotonic() + self.times.total_s
        waiting = deque(PROBE_BY_SURFACE[name] for name in surfaces)
        while probe := self._next(waiting):
            waiting.remove(probe)
            self._note(await self._check(probe, deadline))
        for probe in waiting:
            self._note(self._unasked(probe, self._lack(deadline) or "nothing_to_ask"))
        place = {name: number for number, name in enumerate(surfaces)}
        return sorted(self.checks, key=lambda check: place[check.health.surface])

    def learn_target(self, target: LinkTarget) -> None:
        """Add the id that a link leads to."""
        kind = _KIND_OF_TARGET.get(target.kind)
        if kind is not None:
            self.canaries.offer(kind, target.id)
        elif target.url is not None:
            self.canaries.offer("link", target.url)

    def _next(self, waiting: deque[Probe]) -> Probe | None:
        return next((probe for probe in waiting if self.canaries.of(probe.needs)), None)

    async def _check(self, probe: Probe, deadline: float) -> SurfaceCheck:
        host = self._host(probe)
        lack = self._lack(deadline) or self._closed(host)
        if lack is not None:
            return self._unasked(probe, lack)
        self.watch.asking(probe.surface)
        left_s = min(self.times.surface_s, deadline - self.clock.monotonic())
        check = await self._ask(probe, self._id_for(probe), left_s)
        kind = check.health.error_type
        self._challenges[host] += kind == VerificationDemandedError.type
        self._silences[host] += kind == UnreachableError.type
        self._learn(check.value)
        return check

    def _lack(self, deadline: float) -> str | None:
        """Return which limit of the whole check is reached; None if none is."""
        if self.clock.monotonic() >= deadline:
            return TIME_IS_UP
        return LIMIT_REACHED if self.turns.left < _REQUESTS_OF_A_SURFACE else None

    def _closed(self, host: str) -> str | None:
        """Return why a host is asked nothing more; None if it may be asked."""
        if self._challenges[host] >= FAILURES_PER_HOST:
            return "host_demands_verification"
        return "host_is_silent" if self._silences[host] >= FAILURES_PER_HOST else None

    def _host(self, probe: Probe) -> str:
        known = self._id_for(probe)
        if probe.needs in {"link", "sound"}:
            address = read_address(known)
            return "" if address is None else address.host
        if probe.needs == "song" and self.reader.profile.hosts.music_service is None:
            return ""  # the probe itself says so
        return self.reader.profile.host_of(probe.surface)

    def _id_for(self, probe: Probe) -> str:
        """Return the first known id; of sounds the first one on a permitted host."""
        known = self.canaries.of(probe.needs)
        if probe.needs != "sound":
            return known[0]
        hosts = self.reader.profile.media.hosts
        addresses = ((url, read_address(url)) for url in known)
        permitted = (
            url for url, at in addresses if at is not None and host_matches(at.host, hosts)
        )
        return next(permitted, known[0])

    async def _ask(self, probe: Probe, entity_id: str, left_s: float) -> SurfaceCheck:
        seen: list[SeenExchange] = []
        sound_head = bytearray()

        def note(head: HttpExchange) -> None:
            seen.append(SeenExchange(head=head, received_at=self.clock.now()))

        with watch_exchanges(note):
            answer = await await_answer(
                probe,
                entity_id,
                _reading(probe, self.reader, entity_id, sound_head),
                within_s=left_s,
                asked_by="live_check",
                clock=self.clock,
            )
        status = answer.health.http_status or (seen[-1].head.status if seen else None)
        return SurfaceCheck(
            health=replace(answer.health, http_status=status),
            value=answer.value,
            response=answer.response,
            exchanges=tuple(seen),
            sound_head=bytes(sound_head),
        )

    def _learn(self, value: object) -> None:
        if isinstance(value, LinkTarget):
            self.learn_target(value)
        if isinstance(value, VideoDetail) and not value.is_silent_placeholder:
            for url in value.play_urls:
                self.canaries.offer("sound", url)
        self.canaries.learn(value)
        self.reader.sound_pages.update(self.canaries.sound_pages)

    def _unasked(self, probe: Probe, reason: str) -> SurfaceCheck:
        return SurfaceCheck(
            health=SurfaceHealth(
                surface=probe.surface,
                outcome="not_asked",
                observed_at=self.clock.now(),
                reason=reason,
                asked_by="live_check",
            )
        )

    def _note(self, check: SurfaceCheck) -> None:
        self.checks.append(check)
        self.watch.found(check.health)


async def _reading(
    probe: Probe, reader: ProbeReader, entity_id: str, sound_head: bytearray
) -> object:
    if probe.needs == "sound":
        referer = reader.sound_pages.get(entity_id)
        return await read_sound_head(reader.client, entity_id, into=sound_head, referer=referer)
    return await probe.ask(reader, entity_id)
