"""Policy of a client towards hosts: rate limit, circuits, revalidation, robots.txt.

Revalidation makes requests conditional: only responses with `ETag` or `Last-Modified` and without
`no-store` are revalidated. The body is the archived one; if it has been deleted, the request is an
ordinary one.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from protego import Protego

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import HttpResponse, waiting_for_host
from pipelines.platform.http.circuit_breaker import DISALLOWED, CircuitBreaker, LearnedHealth
from pipelines.platform.profiles import HostRate
from warehouse.control import ControlStore, hosts, leases
from warehouse.control.hosts import CacheValidators, RobotsVerdict
from warehouse.records import errors

# robots.txt decisions per surface: read once a day, recorded, and obeyed with `ROBOTS=obey`.
#
# Why recorded rather than obeyed by default: the file addresses crawlers that walk a site. This
# service reads single pages that a user requested, at a user's pace. Whether a "disallow" applies
# is the operator's decision, so the facts are shown to the operator.

AGENT = "Sametrack"
"""The product token that a robots.txt may use for us; it is part of our User-Agent."""
DAY_S = 86_400.0
REFETCH_AFTER_S = 3600.0  # when the file could not be read
FETCH_LEASE_S = 10.0  # how long to wait for another process that reads the file
MAX_POLLS = 50
_AGENT_LINE = re.compile(
    r"^(?P<field>[ \t]*user[ -]?agent[ \t]*[: \t])(?P<name>[^\r\n#]*)", re.IGNORECASE | re.MULTILINE
)
_OTHER_AGENT = " another-agent"
_LONGEST_BODY = 512 * 1024  # the RFC asks for 500 KiB at least

type FetchRobots = Callable[[str], Awaitable[HttpResponse]]


class PathDecision(NamedTuple):
    """Decision for a path, with its reason."""

    verdict: RobotsVerdict
    reason: str


@dataclass(eq=False)
class RobotsPolicy:
    """robots.txt decisions of one client."""

    store: ControlStore
    _: KW_ONLY
    is_obeyed: bool
    clock: Clock = MACHINE_CLOCK
    _files: dict[str, tuple[float, int | None, Protego]] = field(default_factory=dict, init=False)
    _recorded: dict[tuple[str, str], tuple[float, RobotsVerdict]] = field(
        default_factory=dict, init=False
    )
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict, init=False)

    async def check(self, url: str, surface: str, fetch: FetchRobots) -> None:
        """Check a URL against its host's file, and record the decision for a surface once a day.

        `fetch` reads the file within the host's rate limit.

        Raises:
            ForbiddenError: The file disallows the URL, and `ROBOTS=obey` is set.
        """
        host = urlsplit(url).hostname or ""
        # Requests to one host wait for one reading of its file.
        async with self._locks.setdefault(host, asyncio.Lock()):
            decision = _decide(*await self._read_rules(host, url, fetch), url)
            recorded_at, recorded = self._recorded.get((host, surface), (0.0, None))
            is_recorded = recorded is not None and self.clock.monotonic() - recorded_at < DAY_S
            # A disallowed URL of a surface outweighs its allowed ones.
            if not is_recorded or (decision.verdict == "disallowed" and recorded != "disallowed"):
                await asyncio.to_thread(
                    hosts.record_robots_decision,
                    self.store,
                    host,
                    surface,
                    decision=decision.verdict,
                    reason=decision.reason,
                )
                self._recorded[host, surface] = (self.clock.monotonic(), decision.verdict)
        if self.is_obeyed and decision.verdict == "disallowed":
            raise errors.ForbiddenError(
                f"robots.txt of {host} disallows {surface}",
                surface=surface,
                reason=DISALLOWED,
                hint="set ROBOTS=record to read it and only record the decision",
            )

    async def _read_rules(
        self, host: str, url: str, fetch: FetchRobots
    ) -> tuple[int | None, Protego]:
        """Return status and rules of a host's file, from memory, the store or the host."""
        read_at, status, rules = self._files.get(host, (0.0, None, None))
        # Without a response, a file is not valid for long.
        valid_s = REFETCH_AFTER_S if status is None else DAY_S
        if rules is not None and self.clock.monotonic() - read_at < valid_s:
            return status, rules
        file = await asyncio.to_thread(hosts.read_robots, self.store, host, max_age_s=DAY_S)
        age_s = 0.0 if file is None else (self.clock.now() - file.fetched_at).total_seconds()
        if file is None or age_s > (REFETCH_AFTER_S if file.status is None else DAY_S):
            status, body = await self._renew(host, url, fetch)
        else:
            status, body = file.status, file.body
        rules = parse_robots(body)
        self._files[host] = (self.clock.monotonic(), status, rules)
        return status, rules

    async def _renew(self, host: str, url: str, fetch: FetchRobots) -> tuple[int | None, str]:
        """Return the current file. One process fetches it; the others poll the store for it."""
        is_ours = await asyncio.to_thread(
            leases.acquire, self.store, f"robots:{host}", uuid4().hex, FETCH_LEASE_S
        )
        for _ in range(0 if is_ours else MAX_POLLS):
            await self.clock.sleep(FETCH_LEASE_S / MAX_POLLS)
            file = await asyncio.to_thread(
                hosts.read_robots, self.store, host, max_age_s=FETCH_LEASE_S
            )
            if file is not None:
                return file.status, file.body
        parts = urlsplit(url)

        async def visit() -> HttpResponse:
            return await fetch(f"{parts.scheme}://{parts.netloc}/robots.txt")

        status, body = None, ""
        # In a context of its own the request does not count towards the page that a caller reads.
        with suppress(errors.UpstreamError):
            response = await asyncio.create_task(visit(), context=Context())
            status = response.status
            if status == HTTPStatus.OK:
                # PostgreSQL stores no zero bytes in a text.
                body = response.body[:_LONGEST_BODY].decode("utf-8", "replace").replace("\x00", "")
        await asyncio.to_thread(hosts.save_robots, self.store, host, status=status, body=body)
        return status, body


# A client lives for one request, and a file changes once a day.
@lru_cache(maxsize=8)
def parse_robots(text: str) -> Protego:
    """Parse a robots.txt, with all agents that are not ours taken for one.

    A file names agents and rules freely, and each agent keeps a copy of each rule of its group:
    half a megabyte could become 500 million rules.
    """

    def merge(line: re.Match[str]) -> str:
        name = line["name"].strip().lower().replace("*", "")
        is_relevant = not name or AGENT.lower().startswith(name)
        return line[0] if is_relevant else f"{line['field']}{_OTHER_AGENT}"

    return Protego.parse(_AGENT_LINE.sub(merge, text))


def _decide(status: int | None, rules: Protego, url: str) -> PathDecision:
    """Decide as RFC 9309, section 2.3.1, but leave an unreachable file (5xx, silence) undecided.

    The RFC has crawlers take it for a disallow; here it is `unknown`, which permits the request.
    """
    if status is None:
        return PathDecision("unknown", "no response")
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return PathDecision("allowed", f"no robots.txt: status {status}")
    if status != HTTPStatus.OK:
        return PathDecision("unknown", f"status {status}")
    if rules.can_fetch(url, AGENT):
        return PathDecision("allowed", "no matching rule")
    return PathDecision("disallowed", "disallowed by a rule")


# Rate limit, pauses and daily budget per host, shared by all processes.
#
# A pause that one process starts (after a 429 or a failure) holds for all of them. The control
# store keeps the state; this module waits. The store's calls are synchronous and short, so they
# run off the event loop.

DEFAULT_PAUSE_S = 30.0
MAX_PAUSE_S = 3600.0
HOST_MAX_WAIT_S = 60.0


def max_wait_at(rate: HostRate) -> float:
    """Return how many seconds one request may wait at a rate.

    Two processes may have all their parallel requests waiting, so at 0.2 requests per second and 8
    in parallel it is 80 s. A slow rate then makes a scan slow, but its requests do not fail.
    """
    return max(HOST_MAX_WAIT_S, 2 * rate.parallel / rate.per_second)


@dataclass(eq=False)
class HostRateLimiter:
    """Rate limiter of one client. `max_wait_s` bounds the wait of one request."""

    store: ControlStore
    rate: HostRate
    _: KW_ONLY
    daily_budget: int
    max_wait_s: float = HOST_MAX_WAIT_S
    clock: Clock = MACHINE_CLOCK

    async def wait(self, host: str, *, surface: str) -> None:
        """Wait until a request to the host may be sent.

        If a pause begins while it waits, its token is dropped and a new one is taken afterwards, so
        that waiting clients do not all send at once.

        Raises:
            RateLimitedError: The wait exceeds `max_wait_s`.
            BudgetSpentError: Today's budget for the host is spent.
        """
        give_up_at = self.clock.monotonic() + self.max_wait_s
        while True:
            grant = await asyncio.to_thread(
                hosts.take_token,
                self.store,
                host,
                rate_per_s=self.rate.per_second,
                burst=self.rate.burst,
                daily_budget=self.daily_budget,
            )
            if grant.waits_for == "day":
                raise errors.BudgetSpentError(
                    f"today's budget of {self.daily_budget} requests to {host} is spent",
                    surface=surface,
                    hint="wait for the next day (UTC), or raise DAILY_REQUEST_BUDGET",
                    retry_after=grant.wait_s,
                )
            if self.clock.monotonic() + grant.wait_s > give_up_at:
                is_paused = grant.waits_for == "pause"
                cause = "a pause" if is_paused else "our own rate limit"
                raise errors.RateLimitedError(
                    f"{cause} lets no request go to {host} for {grant.wait_s:.0f} s more",
                    surface=surface,
                    reason="paused" if is_paused else "crowded",
                    retry_after=grant.wait_s,
                )
            if not grant.wait_s:
                return  # granted at once
            if grant.waits_for == "pause":
                with waiting_for_host():
                    await self.clock.sleep(grant.wait_s)
                continue
            await self.clock.sleep(grant.wait_s)
            # Another request may have met a pause meanwhile, which holds for this one, too.
            if await asyncio.to_thread(hosts.paused_until, self.store, host) is None:
                return

    async def pause(self, host: str, retry_after: str | None) -> float:
        """Pause the host for as long as it asked, and return the seconds."""
        wait_s = read_retry_after(retry_after, now=self.clock.now())
        await self.pause_for(host, wait_s)
        return wait_s

    async def pause_for(self, host: str, wait_s: float) -> None:
        """Pause the host for all processes."""
        await asyncio.to_thread(hosts.pause_host, self.store, host, wait_s)


def read_retry_after(header: str | None, *, now: datetime) -> float:
    """Parse `Retry-After` (seconds or a date); return a default if it is absent or unreadable."""
    text = (header or "").strip()
    # `isdigit` alone accepts superscripts, which `float` refuses.
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_PAUSE_S)  # nine digits exceed the longest pause already
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return DEFAULT_PAUSE_S
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)  # HTTP dates are UTC, also those that name no zone
    return min(max((until - now).total_seconds(), 0.0), MAX_PAUSE_S)


NOT_MODIFIED = 304
_MAX_VALIDATOR_LENGTH = 1000  # validators are short; a longer one is not worth storing

type ReadBody = Callable[[str], bytes | None]
"""Returns an archived body by its hash; None if it is not stored (yet, or any more)."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A stored body, and the headers that ask the server whether it is still current."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class StoredResponses:
    """Stored responses by URL, for conditional requests."""

    store: ControlStore
    read_body: ReadBody

    async def find(self, address: str) -> StoredResponse | None:
        """Return the stored response for a URL if it can be revalidated."""
        stored = await asyncio.to_thread(hosts.read_validators, self.store, _key(address))
        if stored is None:
            return None
        body = await asyncio.to_thread(self.read_body, stored.payload_sha256)
        if body is None:  # deleted after its retention period
            return None
        named = {"If-None-Match": stored.etag, "If-Modified-Since": stored.last_modified}
        # A header of a request holds ASCII alone, one of a response may hold more.
        headers = {name: value for name, value in named.items() if value and value.isascii()}
        return StoredResponse(body, headers) if headers else None

    async def save(self, address: str, headers: Mapping[str, str], body: bytes) -> None:
        """Store the validators of a response, if it has any."""
        # Without a validator, or with `no-store`, there is nothing to ask again with.
        etag, modified = headers.get("ETag"), headers.get("Last-Modified")
        is_private = "no-store" in headers.get("Cache-Control", "").lower()
        if is_private or not body or not (etag or modified):
            return
        if len(etag or "") > _MAX_VALIDATOR_LENGTH or len(modified or "") > _MAX_VALIDATOR_LENGTH:
            return
        stored = CacheValidators(etag, modified, hashlib.sha256(body).hexdigest())
        await asyncio.to_thread(hosts.save_validators, self.store, _key(address), stored)


def _key(address: str) -> str:
    # Addresses hold ids of accounts and search terms, which the table need not contain.
    return hashlib.sha256(address.encode()).hexdigest()


class SickPolicy(StrEnum):
    """When the best source of a question is asked although all its sources withhold their data."""

    ALWAYS = "always"
    ONCE = "once"  # a user asks for one item, which counts as a probe
    IF_DUE = "if_due"  # once per interval by all processes together


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """Host policy of one client. A part that is None is switched off."""

    limiter: HostRateLimiter
    circuits: CircuitBreaker
    responses: StoredResponses | None = None
    robots: RobotsPolicy | None = None
    health: LearnedHealth = field(default_factory=LearnedHealth)
    sick_policy: SickPolicy = SickPolicy.IF_DUE
