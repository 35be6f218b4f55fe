"""The one HTTP client: a guest's plain GET, gated, polite, capped and patient within limits.

It knows addresses, statuses 429 and 5xx, and time. What an answer means is decided elsewhere.
Cookies are those that the platform set on this client. Cancelling the calling task ends every wait.
"""

import asyncio
import ssl
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Self
from urllib.parse import urljoin

import httpx2
import stamina

from pipelines.domain.errors import (
    RateLimitedError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
)
from pipelines.upstream.gate import MAX_REDIRECTS, Address, Dialler, check_address
from pipelines.upstream.politeness import Turns
from pipelines.upstream.profiles import Profile
from pipelines.upstream.sinks import BodySink, Sink
from pipelines.upstream.trail import Answer, note_answer, note_request
from pipelines.upstream.transport import DIAL, PinnedTransport

USER_AGENT = f"Mozilla/5.0 (compatible; Sametrack/{version('sametrack')}; reads public pages)"
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "*/*",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOO_MANY = 429
_SERVER_FAULT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Times in seconds. `attempts` counts the first try; waits between them grow with jitter."""

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 20.0
    media_total_s: float = 60.0
    body_bytes: int = 4 * 1024 * 1024
    media_bytes: int = 64 * 1024 * 1024
    attempts: int = 3
    wait_initial_s: float = 0.3
    wait_max_s: float = 3.0
    wait_jitter_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question. `ends_at` says of a redirect's target that the redirect is the answer."""

    surface: str
    url: str
    allowed: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    ends_at: Callable[[str], bool] = lambda _location: False
    total_s: float | None = None

    @property
    def address(self) -> str:
        """The address with its parameters."""
        return str(httpx2.URL(self.url, params=dict(self.params))) if self.params else self.url


class GuestClient:
    """Asks as a guest. One per scan or request; an async context manager.

    Raises (all methods):
        UnreachableError: Time-out, reset, look-up failure or 5xx, after a few tries.
        RateLimitedError: 429 or a pause that is longer than our patience.
        SubstitutionError: An address or a redirect leads off the allow-list.
        BudgetSpentError: Today's budget for the host is used up.
    """

    def __init__(
        self,
        profile: Profile,
        turns: Turns,
        *,
        limits: HttpLimits | None = None,
        dialler: Dialler | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.profile = profile
        self.limits = limits or HttpLimits()
        self._turns = turns
        self._dialler = dialler or Dialler(profile)
        self._slots: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(profile.rate.parallel)
        )
        self._transport = PinnedTransport(connections_per_host=profile.rate.parallel, tls=tls)
        self._client = httpx2.AsyncClient(
            transport=self._transport,
            headers=_HEADERS,
            timeout=httpx2.Timeout(self.limits.read_s, connect=self.limits.connect_s),
            follow_redirects=False,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def fetch(self, ask: Ask) -> Answer:
        """Read a page or a JSON body into memory."""
        sink = BodySink(surface=ask.surface, limit_bytes=self.limits.body_bytes)
        answer = replace(await self._patiently(ask, sink), body=sink.body)
        note_answer(answer)
        return answer

    async def save(self, ask: Ask, sink: Sink) -> Answer:
        """Read a body into a sink; the answer's own body stays empty."""
        answer = await self._patiently(ask, sink)
        note_answer(answer)
        return answer

    async def _patiently(self, ask: Ask, sink: Sink) -> Answer:
        """Once more after each 429, as long as the platform's wait is within our patience."""
        for _ in range(self.limits.attempts - 1):
            try:
                return await self._follow(ask, sink)
            except RateLimitedError as error:
                if (error.retry_after or 0.0) > self._turns.patience_s:
                    raise
        return await self._follow(ask, sink)

    async def _follow(self, ask: Ask, sink: Sink) -> Answer:
        target = ask.address
        for _ in range(MAX_REDIRECTS + 1):
            address = check_address(
                target, allowed=ask.allowed, profile=self.profile, surface=ask.surface
            )
            answer = await self._retried(address, ask, sink)
            if answer.status not in _REDIRECTS or not answer.location:
                return replace(answer, location=None)
            target = urljoin(address.url, answer.location)
            if ask.ends_at(target):
                return replace(answer, location=target)
        raise SubstitutionError(
            f"more than {MAX_REDIRECTS} redirects", surface=ask.surface, reason="redirect_loop"
        )

    async def _retried(self, address: Address, ask: Ask, sink: Sink) -> Answer:
        attempts = stamina.retry_context(
            on=UnreachableError,
            attempts=self.limits.attempts,
            timeout=None,
            wait_initial=self.limits.wait_initial_s,
            wait_max=self.limits.wait_max_s,
            wait_jitter=self.limits.wait_jitter_s,
        )
        async for attempt in attempts:
            with attempt:
                return await self._in_turn(address, ask, sink)
        raise AssertionError("the last attempt returns or raises")

    async def _in_turn(self, address: Address, ask: Ask, sink: Sink) -> Answer:
        """One request when it is our turn; everything that takes time is done before."""
        async with self._slots[address.host]:
            dial = await self._dialler.dial_address(address.host, surface=ask.surface)
            self._transport.prepare(address.scheme, address.host)
            await self._turns.wait(address.host, surface=ask.surface)
            return await self._heeded(await self._exchange(address, dial, ask, sink), address)

    async def _heeded(self, answer: Answer, address: Address) -> Answer:
        """Obey what the status alone says: 429 and 5xx, with or without a wait."""
        if answer.status == _TOO_MANY:
            wait_s = await self._turns.pause(address.host, answer.retry_after)
            raise RateLimitedError(
                f"the platform asks to wait {wait_s:.0f} s",
                surface=answer.surface,
                status=answer.status,
                retry_after=wait_s,
            )
        if answer.status >= _SERVER_FAULT:
            if answer.retry_after:
                await self._turns.pause(address.host, answer.retry_after)
            raise UnreachableError(
                f"the platform answered {answer.status}",
                surface=answer.surface,
                status=answer.status,
            )
        return answer

    async def _exchange(self, address: Address, dial: str, ask: Ask, sink: Sink) -> Answer:
        """One request on the wire; its body goes to the sink."""
        sink.begin()
        note_request()
        try:
            async with (
                asyncio.timeout(ask.total_s or self.limits.total_s),
                self._client.stream("GET", address.url, extensions={DIAL: dial}) as response,
            ):
                async for chunk in response.aiter_bytes():
                    sink.take(chunk)
        except (TimeoutError, httpx2.TransportError) as exc:
            raise UnreachableError(
                f"{address.host} did not answer in full: {type(exc).__name__}", surface=ask.surface
            ) from exc
        except httpx2.DecodingError as exc:
            raise StructureChangedError(
                "the body cannot be decompressed", surface=ask.surface, reason="undecodable_body"
            ) from exc
        return _answer(response, surface=ask.surface, url=address.url)


def _answer(response: httpx2.Response, *, surface: str, url: str) -> Answer:
    """What came, but for the body, which is in the sink."""
    return Answer(
        surface=surface,
        url=url,
        status=response.status_code,
        content_type=response.headers.get("Content-Type"),
        body=b"",
        fetched_at=datetime.now(UTC),
        location=response.headers.get("Location"),
        retry_after=response.headers.get("Retry-After"),
    )
