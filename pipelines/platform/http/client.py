"""The only HTTP client: a guest's plain GET, gated, rate-limited, capped and retried within limits.

It handles addresses, the statuses 304, 429 and 5xx, and timeouts. What a response means is decided
elsewhere. Cookies are those that the platform set on this client. Cancelling the calling task ends
every wait.
"""

import asyncio
import random
import ssl
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Self
from urllib.parse import urlsplit

import httpx2
import stamina

from pipelines.platform.call_trace import (
    HttpResponse,
    record_request,
    record_response,
)
from pipelines.platform.http.body_sinks import BodySink, Sink
from pipelines.platform.http.circuit_breaker import UNASKED_REASONS
from pipelines.platform.http.host_policy import NOT_MODIFIED, HostPolicy, StoredResponse
from pipelines.platform.http.learned_health import LearnedHealth
from pipelines.platform.http.link_gate import (
    MAX_REDIRECTS,
    CheckedAddress,
    Dialler,
    check_address,
    join_address,
)
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.http.transport import DIAL, PinnedTransport
from pipelines.platform.profiles import PlatformProfile
from warehouse.records.errors import (
    SURFACE_OFF,
    ForbiddenError,
    InvalidParameterError,
    RateLimitedError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
)
from warehouse.records.times import observed_now


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Timeouts, sizes and retries; times in seconds.

    `attempts` counts the first one. The waits between attempts grow with jitter and pause the host
    for every process.
    """

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 20.0
    media_total_s: float = 60.0
    robots_s: float = 5.0  # robots.txt is only recorded by default, so it must not delay a read
    body_bytes: int = 4 * 1024 * 1024
    media_bytes: int = 64 * 1024 * 1024
    attempts: int = 3
    wait_initial_s: float = 0.3
    wait_max_s: float = 3.0
    wait_jitter_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request.

    `ends_at` is True for redirect targets that are the answer themselves; `known` is the stored
    response to revalidate, if the server sent a validator with it. `referer` is the address of the
    page that was really read and named this one; it is sent as it is, and nothing else ever is.
    """

    surface: str
    url: str
    allowed: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    ends_at: Callable[[str], bool] = lambda _location: False
    total_s: float | None = None
    attempts: int | None = None
    known: StoredResponse | None = None
    referer: str | None = None

    @property
    def address(self) -> str:
        """The URL with its parameters."""
        return str(httpx2.URL(self.url, params=dict(self.params))) if self.params else self.url


USER_AGENT = f"Mozilla/5.0 (compatible; Sametrack/{version('sametrack')}; reads public pages)"
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "*/*",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOO_MANY = 429
_OK = 200
_ACCEPTED_CODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_VALIDATORS = ("ETag", "Last-Modified", "Cache-Control")
_SERVER_FAULT = 500


class GuestClient:
    """HTTP client without an account. One per scan or request; an async context manager.

    Callers interpret responses inside `circuit`, so that errors count against the surface.

    Raises (all methods):
        UnreachableError: Timeout, reset, failed DNS lookup or 5xx, after the configured attempts.
        RateLimitedError: 429, or a pause that exceeds the maximum wait.
        SubstitutionError: An address or a redirect leads off the allow-list.
        BudgetSpentError: Today's budget for the host is used up.
    """

    _host_policy = HostPolicy()  # no host policy, as in tests

    def __init__(
        self,
        profile: PlatformProfile,
        turns: HostRateLimiter,
        *,
        limits: HttpLimits | None = None,
        host_policy: HostPolicy | None = None,
        dialler: Dialler | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if profile.has_own_world:
            raise InvalidParameterError(
                f"the source {profile.name!r} has its own world: no host is contacted",
                hint="set DATA_PROVIDER=vidplat-public and PROFILE=public",
            )
        self.profile = profile
        self.limits = limits or HttpLimits()
        self._turns = turns
        self._host_policy = host_policy or HostPolicy()
        self._faults: Counter[str] = Counter()
        self._dialler = dialler or Dialler(profile)
        self._slots: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(profile.rate.parallel)
        )
        self._transport = PinnedTransport(connections_per_host=profile.rate.parallel, tls=tls)
        self._client = httpx2.AsyncClient(
            transport=self._transport,
            headers=_HEADERS,
            timeout=httpx2.Timeout(self.limits.read_s, connect=self.limits.connect_s),
            follow_redirects=False,  # `_follow` checks the address of every hop
            trust_env=False,  # a guest: no proxy and no .netrc of the environment
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    @property
    def learned_health(self) -> LearnedHealth | None:
        """What the surfaces answered lately; None if nothing is shared."""
        return self._host_policy.health

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    @asynccontextmanager
    async def circuit(self, ask: HttpRequest) -> AsyncIterator[None]:
        """Guard a request and its interpretation; errors raised inside count against the surface.

        Raises:
            UpstreamError: The circuit is open, or the surface is off; no request was made.
        """
        if ask.surface in self.profile.surfaces.off:
            raise ForbiddenError(
                f"the profile patch switches {ask.surface} off",
                surface=ask.surface,
                reason=SURFACE_OFF,
                hint="remove it from `[surfaces] off` in PROFILE_PATCH to request it again",
            )
        host = urlsplit(ask.url).hostname or ""
        async with self._host_policy.watch(host, ask.surface):
            try:
                yield
            except ForbiddenError as error:
                was_asked = error.reason not in UNASKED_REASONS
                if was_asked and self._host_policy.circuits is not None:
                    await self._back_off(host)
                raise
            except RateLimitedError as error:
                if error.retry_after is None:  # a body said so, not the status 429
                    error.retry_after = await self._turns.pause(host, None)
                raise

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body into memory."""
        await self._permit(ask)
        memory = self._host_policy.memory
        if memory is not None:
            ask = replace(ask, known=await memory.recall(ask.address))
        sink = BodySink(surface=ask.surface, limit_bytes=self.limits.body_bytes)
        answer = replace(await self._patiently(ask, sink), body=sink.body)
        if answer.status == NOT_MODIFIED and ask.known is not None:
            answer = replace(answer, status=_OK, body=ask.known.body, is_unchanged=True)
        elif answer.status == _OK and memory is not None:
            await memory.keep(ask.address, answer.validators, answer.body)
        record_response(answer)
        return answer

    async def save(self, ask: HttpRequest, sink: Sink) -> HttpResponse:
        """Read a body into a sink; the `body` of the returned response stays empty."""
        await self._permit(ask)
        answer = await self._patiently(ask, sink)
        record_response(answer)
        return answer

    async def _permit(self, ask: HttpRequest) -> None:
        async def fetch(url: str) -> HttpResponse:
            total_s = self.limits.robots_s
            robots = HttpRequest(
                surface="robots", url=url, allowed=ask.allowed, total_s=total_s, attempts=1
            )
            sink = BodySink(surface="robots", limit_bytes=self.limits.body_bytes)
            return replace(await self._follow(robots, sink), body=sink.body)

        if self._host_policy.robots is not None:
            await self._host_policy.robots.permit(ask.address, ask.surface, fetch)

    async def _patiently(self, ask: HttpRequest, sink: Sink) -> HttpResponse:
        """Retry after each 429 as long as the requested wait is within the maximum."""
        for _ in range(self.limits.attempts - 1):
            try:
                return await self._follow(ask, sink)
            except RateLimitedError as error:
                if (error.retry_after or 0.0) > self._turns.max_wait_s:
                    raise
        return await self._follow(ask, sink)

    async def _follow(self, ask: HttpRequest, sink: Sink) -> HttpResponse:
        target = ask.address
        for hop in range(MAX_REDIRECTS + 1):
            address = check_address(
                target, allowed=ask.allowed, profile=self.profile, surface=ask.surface
            )
            answer = await self._retried(address, ask, sink)
            if answer.status not in _REDIRECTS or not answer.location:
                # Validators are stored under the first address; those of another one are not about
                # it.
                return replace(answer, location=None, validators={} if hop else answer.validators)
            ask = replace(ask, known=None)  # it is about the first address
            target = join_address(address.url, answer.location, surface=ask.surface)
            # For some requests the redirect itself is the answer: where a short link leads.
            if ask.ends_at(target):
                return replace(answer, location=target)
        raise SubstitutionError(
            f"more than {MAX_REDIRECTS} redirects", surface=ask.surface, reason="redirect_loop"
        )

    async def _retried(self, address: CheckedAddress, ask: HttpRequest, sink: Sink) -> HttpResponse:
        attempts = stamina.retry_context(
            on=UnreachableError,
            attempts=ask.attempts or self.limits.attempts,
            timeout=None,
            wait_initial=0,  # waiting is done by pausing the host, for every process
            wait_max=0,
            wait_jitter=0,
        )
        async for attempt in attempts:
            with attempt:
                try:
                    return await self._in_turn(address, ask, sink)
                except UnreachableError:
                    await self._back_off(address.host)
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _back_off(self, host: str) -> None:
        """Pause a failing host for all processes; longer with each failure in a row."""
        self._faults[host] += 1
        limits = self.limits
        # The exponent is bounded so that the power stays finite.
        grown = limits.wait_initial_s * 2.0 ** min(self._faults[host] - 1, 30)
        wait_s = min(limits.wait_max_s, grown) + random.uniform(0, limits.wait_jitter_s)  # noqa: S311  # no secret
        if wait_s > 0:
            await self._turns.leave_alone(host, wait_s)

    async def _in_turn(self, address: CheckedAddress, ask: HttpRequest, sink: Sink) -> HttpResponse:
        """Send one request when the rate limiter allows; slow preparation happens before."""
        async with self._slots[address.host]:
            dial = await self._dialler.dial_address(address.host, surface=ask.surface)
            self._transport.prepare(address.scheme, address.host)
            await self._turns.wait(address.host, surface=ask.surface)
            # Another request may have met a refusal while this one waited for its turn.
            if self._host_policy.circuits is not None:
                self._host_policy.circuits.recheck(address.host, ask.surface)
            return await self._heeded(await self._exchange(address, dial, ask, sink), address)

    async def _heeded(self, answer: HttpResponse, address: CheckedAddress) -> HttpResponse:
        """Raise for 429 and 5xx, and pause the host where the response asks for it."""
        if answer.status == _TOO_MANY:
            wait_s = await self._turns.pause(address.host, answer.retry_after)
            raise RateLimitedError(
                f"the platform asked for a pause of {wait_s:.0f} s",
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
        self._faults.pop(address.host, None)
        return answer

    async def _exchange(
        self, address: CheckedAddress, dial: str, ask: HttpRequest, sink: Sink
    ) -> HttpResponse:
        """Send one request; its body goes to the sink."""
        # A retry must not append to what a broken attempt has written.
        sink.begin()
        record_request()
        words, begun = _headers_of(ask), time.monotonic()
        try:
            async with (
                asyncio.timeout(ask.total_s or self.limits.total_s),
                self._client.stream(
                    "GET", address.url, headers=words, extensions={DIAL: dial}
                ) as response,
            ):
                _check_coding(response, ask.surface)
                async for chunk in response.aiter_bytes():
                    sink.take(chunk)
        except (TimeoutError, httpx2.TransportError) as exc:
            spent_s = time.monotonic() - begun
            what = f"{type(exc).__name__} after {spent_s:.1f} s"
            raise UnreachableError(
                f"{address.host} did not answer in full: {what}", surface=ask.surface
            ) from exc
        except httpx2.DecodingError as exc:
            raise StructureChangedError(
                "the body cannot be decompressed", surface=ask.surface, reason="undecodable_body"
            ) from exc
        return _answer(response, surface=ask.surface, url=address.url)


def _headers_of(ask: HttpRequest) -> dict[str, str]:
    """Return the headers of one request besides those of all: validators and the Referer."""
    validators = dict(ask.known.headers) if ask.known else {}
    return validators | ({"Referer": ask.referer} if ask.referer else {})


def _check_coding(response: httpx2.Response, surface: str) -> None:
    """Refuse content codings that were not requested.

    Such a body may unpack to gigabytes in one read, before a cap could stop it.

    Raises:
        StructureChangedError: The body has another coding, or several.
    """
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    if coding not in _ACCEPTED_CODINGS:
        raise StructureChangedError(
            "the body is compressed in a way that was not requested",
            surface=surface,
            reason="undecodable_body",
        )


def _answer(response: httpx2.Response, *, surface: str, url: str) -> HttpResponse:
    """Return the response without its body, which is in the sink."""
    return HttpResponse(
        surface=surface,
        url=url,
        status=response.status_code,
        content_type=response.headers.get("Content-Type"),
        body=b"",
        fetched_at=observed_now(),
        location=response.headers.get("Location"),
        retry_after=response.headers.get("Retry-After"),
        validators={
            name: response.headers[name] for name in _VALIDATORS if name in response.headers
        },
    )
