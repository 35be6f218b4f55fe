"""robots.txt decisions per surface: read once a day, recorded, and obeyed with `ROBOTS=obey`.

Why recorded rather than obeyed by default: the file addresses crawlers that walk a site. This
service reads single pages that a user requested, at a user's pace. Whether a "disallow" applies is
the operator's decision, so the facts are shown to the operator.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from protego import Protego

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import HttpResponse
from warehouse.control import ControlStore, hosts, leases
from warehouse.control.hosts import RobotsVerdict
from warehouse.records.errors import ForbiddenError, UpstreamError

AGENT = "Sametrack"
"""The product token that a robots.txt may use for us; it is part of our User-Agent."""
DAY_S = 86_400.0
REFETCH_AFTER_S = 3600.0  # when the file could not be read
FETCH_LEASE_S = 10.0  # how long to wait for another process that reads the file
MAX_POLLS = 50
DISALLOWED = "robots_disallow"
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


class RobotsPolicy:
    """robots.txt decisions of one client."""

    def __init__(
        self, store: ControlStore, *, is_obeyed: bool, clock: Clock = MACHINE_CLOCK
    ) -> None:
        self._store = store
        self._is_obeyed = is_obeyed
        self._clock = clock
        self._files: dict[str, tuple[float, int | None, Protego]] = {}
        self._recorded: dict[tuple[str, str], tuple[float, RobotsVerdict]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def permit(self, url: str, surface: str, fetch: FetchRobots) -> None:
        """Record the decision of the host's file for a surface, once a day.

        `fetch` reads the file within the host's rate limit.

        Raises:
            ForbiddenError: The file disallows the URL, and `ROBOTS=obey` is set.
        """
        host = urlsplit(url).hostname or ""
        # Requests to one host wait for one reading of its file.
        async with self._locks.setdefault(host, asyncio.Lock()):
            decision = _decide(*await self._read_rules(host, url, fetch), url)
            recorded_at, recorded = self._recorded.get((host, surface), (0.0, None))
            is_recorded = recorded is not None and self._clock.monotonic() - recorded_at < DAY_S
            # A disallowed URL of a surface outweighs its allowed ones.
            if not is_recorded or (decision.verdict == "disallowed" != recorded):
                await asyncio.to_thread(
                    hosts.record_robots_decision,
                    self._store,
                    host,
                    surface,
                    decision=decision.verdict,
                    reason=decision.reason,
                )
                self._recorded[host, surface] = (self._clock.monotonic(), decision.verdict)
        if self._is_obeyed and decision.verdict == "disallowed":
            raise ForbiddenError(
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
        if rules is not None and self._clock.monotonic() - read_at < _valid_for_s(status):
            return status, rules
        file = await asyncio.to_thread(hosts.read_robots, self._store, host, max_age_s=DAY_S)
        age_s = 0.0 if file is None else (self._clock.now() - file.fetched_at).total_seconds()
        if file is None or age_s > _valid_for_s(file.status):
            status, body = await self._renew(host, url, fetch)
        else:
            status, body = file.status, file.body
        rules = parse_robots(body)
        self._files[host] = (self._clock.monotonic(), status, rules)
        return status, rules

    async def _renew(self, host: str, url: str, fetch: FetchRobots) -> tuple[int | None, str]:
        """Return the current file. One process fetches it; the others poll the store for it."""
        is_ours = await asyncio.to_thread(
            leases.acquire, self._store, f"robots:{host}", uuid4().hex, FETCH_LEASE_S
        )
        for _ in range(0 if is_ours else MAX_POLLS):
            await self._clock.sleep(FETCH_LEASE_S / MAX_POLLS)
            file = await asyncio.to_thread(
                hosts.read_robots, self._store, host, max_age_s=FETCH_LEASE_S
            )
            if file is not None:
                return file.status, file.body
        parts = urlsplit(url)

        async def visit() -> HttpResponse:
            return await fetch(f"{parts.scheme}://{parts.netloc}/robots.txt")

        status, body = None, ""
        # In a context of its own the request does not count towards the page that a caller reads.
        with suppress(UpstreamError):
            response = await asyncio.create_task(visit(), context=Context())
            status = response.status
            if status == HTTPStatus.OK:
                # PostgreSQL stores no zero bytes in a text.
                body = response.body[:_LONGEST_BODY].decode("utf-8", "replace").replace("\x00", "")
        await asyncio.to_thread(hosts.save_robots, self._store, host, status=status, body=body)
        return status, body


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
    """Decide by RFC 9309, section 2.3.1: 4xx means no rules, 5xx and silence mean nothing."""
    if status is None:
        return PathDecision("unknown", "no response")
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return PathDecision("allowed", f"no robots.txt: status {status}")
    if status != HTTPStatus.OK:
        return PathDecision("unknown", f"status {status}")
    if rules.can_fetch(url, AGENT):
        return PathDecision("allowed", "no matching rule")
    return PathDecision("disallowed", "disallowed by a rule")


def _valid_for_s(status: int | None) -> float:
    """Return how long a file is valid; without a response, not for long."""
    return REFETCH_AFTER_S if status is None else DAY_S
