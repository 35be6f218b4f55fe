"""The platform in a simulation: surfaces with moods; and clients of the product that read them.

Client, circuits, rate limit, learned health and planner are real. Where a request would leave the
machine, the mood of its surface answers.
"""

import random
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.simulation.clock import START
from benchmarks.simulation.planning import FIELDS, AskedQuestion
from benchmarks.simulation.politeness import BUDGET, BURST, LONGEST_S, OPEN_S, PROBE_S, RATE_PER_S
from benchmarks.simulation.processes import Process
from benchmarks.simulation.watched import Promises, WatchedStore
from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.circuit_breaker import CircuitBreaker, LearnedHealth
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import CircuitTimes, HostRate, load_profile
from pipelines.platform.sources.planner import Planner, SurfaceReader
from pipelines.platform.sources.table import Question, Reading, Source, SourceRequest
from warehouse.records.errors import (
    ForbiddenError,
    LoginRequiredError,
    PageWithoutDataError,
    RateLimitedError,
    SametrackError,
    StructureChangedError,
    UnreachableError,
    UnresolvedIdError,
    UpstreamError,
    VerificationDemandedError,
)

PROFILE = load_profile("sandbox", sandbox_port=1).model_copy(
    update={
        "rate": HostRate(per_second=RATE_PER_S, burst=BURST, parallel=4),
        "circuit": CircuitTimes(open_s=OPEN_S, longest_s=LONGEST_S, probe_s=PROBE_S),
    }
)
LIMITS = HttpLimits(attempts=2, wait_initial_s=5.0, wait_max_s=60.0, wait_jitter_s=0.0)
LIKES = frozenset({"likes"})
DETAIL = (("slides_info", FIELDS, 0.9), ("video_page", FIELDS, 0.6), ("web_detail", LIKES, 0.9),
          ("service_track", FIELDS, 0.3))  # fmt: skip
LISTS = (("music_list", FIELDS, 0.9), ("search_single", FIELDS, 0.5))
SURFACES = tuple(surface for surface, _, _ in (*DETAIL, *LISTS))
MOODS = (
    "full", "full", "full", "partial", "empty", "shell", "structure", "challenge", "login",
    "forbidden", "region", "too_many", "fault", "silent", "gone",
)  # fmt: skip
REFUSES = 0.9
"""Share of the answers that a mood decides; the others have data."""
STATUS = {"login": 401, "forbidden": 403, "region": 451, "too_many": 429, "fault": 503}
BODIES = {"full": b"likes collects", "partial": b"likes", "empty": b""}
_BY_BODY: dict[str, type[SametrackError]] = {
    "shell": PageWithoutDataError, "structure": StructureChangedError,
    "challenge": VerificationDemandedError,
}  # fmt: skip


@dataclass(slots=True)
class Platform:
    """The surfaces and their moods."""

    chance: random.Random
    moods: dict[str, str] = field(default_factory=lambda: dict.fromkeys(SURFACES, "full"))

    def change(self) -> None:
        """One surface has another mood, or all surfaces of a host are silent, or recover."""
        mood, chosen = self.chance.choice(MOODS), self.chance.choice(SURFACES)
        host = PROFILE.host_of(chosen)
        is_host = mood == "silent" or self.chance.random() < 0.2
        for surface in SURFACES:
            if surface == chosen or (is_host and PROFILE.host_of(surface) == host):
                self.moods[surface] = mood

    def recover(self) -> None:
        """Every surface answers from now on."""
        self.moods = dict.fromkeys(SURFACES, "full")

    def answer(self, ask: HttpRequest) -> HttpResponse:
        """Answer a request as the mood of its surface says."""
        mood = self.moods[ask.surface]
        if self.chance.random() >= REFUSES:
            mood = "full"
        if mood == "silent":
            raise UnreachableError("no answer", surface=ask.surface)
        wait_s = self.chance.choice(("", "20", "300")) if mood == "too_many" else None
        return HttpResponse(
            surface=ask.surface, url=ask.url, status=STATUS.get(mood, 200), content_type=None,
            body=BODIES.get(mood, mood.encode()), fetched_at=START, retry_after=wait_s,
        )  # fmt: skip


class SimulatedClient(GuestClient):
    """The real client; its requests end at the simulated platform."""

    def __init__(
        self, platform: Platform, process: Process, promises: Promises, policy: HostPolicy
    ) -> None:
        super().__init__(PROFILE, policy, limits=LIMITS)
        self._platform, self._process, self._promises = platform, process, promises

    async def _exchange(
        self, address: Any, _dial: str, ask: HttpRequest, sink: Any
    ) -> HttpResponse:
        self._process.reach()
        self._promises.politeness.sent(address.host, ask.surface, self._process.name)
        self._promises.note(f"request {ask.surface} {self._process.name}")
        await self._promises.clock.sleep(self._platform.chance.choice((0.1, 0.5, 5.0)))
        self._process.reach()
        answer = self._platform.answer(ask)
        sink.begin()
        sink.take(answer.body)
        return answer


class QuestionReader(SurfaceReader):
    """The real reader, which also tells the promises of the planner what is asked."""

    def __init__(self, client: SimulatedClient, promises: Promises) -> None:
        super().__init__(client)
        self._promises = promises
        self.questions: dict[str, AskedQuestion] = {}

    async def read_source(self, surface: str, request: SourceRequest) -> Reading[frozenset[str]]:
        asked = self.questions[request.entity_id]
        self._promises.planning.begins(asked, surface)
        ask = HttpRequest(
            surface=surface,
            url=self.profile.address(surface, aweme_id="1"),
            allowed=self.profile.links.redirect,
        )
        try:
            reading = await self.read(ask, request, _parse, twice=True)
        except SametrackError as error:
            asked.end(surface, error)
            self._check_reaction(surface, error)
            raise
        asked.end(surface, reading.value)
        return reading

    def _check_reaction(self, surface: str, error: SametrackError) -> None:
        """After a demand the circuit is open, after two that of the host; after 429 it rests."""
        if not isinstance(error, UpstreamError) or error.reason == "circuit_open":
            return
        host, politeness = self.profile.host_of(surface), self._promises.politeness
        if isinstance(error, (VerificationDemandedError, LoginRequiredError, ForbiddenError)):
            assert politeness.is_open((host, surface)), "a demand that closes nothing"
        if (
            isinstance(error, VerificationDemandedError)
            and len(demanding := politeness.challenged(host)) > 1
            and demanding[-1] == surface  # of two at once, the later one closes the host
        ):
            assert politeness.is_open((host, "*")), "two demands that leave the host open"
        if isinstance(error, RateLimitedError) and error.status and error.retry_after:
            clock = self._promises.clock
            if clock.passed_s - clock.jumped_at > error.retry_after:
                assert politeness.is_paused(host) or error.retry_after < 60, "a pause is forgotten"


def _parse(body: bytes, _entity_id: str, context: ParseContext) -> frozenset[str]:
    word = body.decode()
    if word == "gone":
        raise UnresolvedIdError("no such id")
    if (error := _BY_BODY.get(word)) is not None and issubclass(error, UpstreamError):
        raise error("no data", surface=context.surface)
    return frozenset(word.split())


@dataclass(eq=False, slots=True)
class ReadingProcess:
    """A process that asks questions of the platform: a scan, or a service."""

    process: Process
    reader: QuestionReader
    planner: Planner[Any]
    lists: dict[str, str] = field(default_factory=dict)
    """Lists that were begun, with the surface of their first page."""


def open_reader(
    process: Process, store: WatchedStore, promises: Promises, platform: Platform
) -> ReadingProcess:
    """Build what reads the platform, as a provider builds it."""
    clock = promises.clock
    policy = HostPolicy(
        limiter=HostRateLimiter(store, PROFILE.rate, daily_budget=BUDGET, clock=clock),
        circuits=CircuitBreaker(store, PROFILE.circuit),
        health=LearnedHealth(store, clock=clock),
    )
    reader = QuestionReader(SimulatedClient(platform, process, promises, policy), promises)
    return ReadingProcess(process, reader, Planner(reader))


def _source(surface: str, gives: frozenset[str], prior: float) -> Source[Any, frozenset[str]]:
    def read(at: QuestionReader, request: SourceRequest) -> Awaitable[Reading[frozenset[str]]]:
        return at.read_source(surface, request)

    return Source(surface=surface, gives=gives, read=read, prior=prior)


def _missing(found: frozenset[str]) -> frozenset[str]:
    return FIELDS - found


def _question(name: str, rows: Any, **values: Any) -> Question[Any, frozenset[str]]:
    return Question(
        name=name, fields=FIELDS, sources=tuple(_source(*row) for row in rows), missing=_missing,
        **values,
    )  # fmt: skip


DETAIL_QUESTION = _question("detail", DETAIL)
LIST_QUESTION = _question("list", LISTS, is_walk=True)
_ROWS: dict[str, Any] = {"detail": DETAIL, "list": LISTS}


def asked_question(name: str, begun_at: str | None = None) -> AskedQuestion:
    """Return what the promises need to know of a question."""
    rows = [(surface, PROFILE.host_of(surface), gives) for surface, gives, _ in _ROWS[name]]
    return AskedQuestion(name, rows, begun_at)
