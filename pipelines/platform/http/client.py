"""The only HTTP client: a guest's plain GET, gated, rate-limited, capped and retried within limits.

It handles addresses, the statuses 304, 429 and 5xx, and timeouts. What a response means is decided
elsewhere. Cookies are those that the platform set on this client. Cancelling the calling task ends
every wait.
"""

import asyncio
import hashlib
import os
import random
import ssl
import tempfile
import time
from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, Protocol, Self
from urllib.parse import urlsplit

import httpx2

from pipelines.audio.file_heads import HEAD_BYTES, is_altered
from pipelines.platform.call_trace import (
    HttpResponse,
    current_trace,
    open_call_trace,
)
from pipelines.platform.http import link_gate
from pipelines.platform.http.circuit_breaker import UNASKED_REASONS
from pipelines.platform.http.host_policy import (
    NOT_MODIFIED,
    HostPolicy,
    StoredResponse,
)
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy, refusal_error
from pipelines.platform.sources.table import SoundFile
from warehouse.home import OWN_WORLDS
from warehouse.records import errors
from warehouse.records.times import observed_now
from warehouse.records.videos import Video


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

    Attributes:
        surface: Name of the surface; circuits and learned health are kept by it.
        url: The URL without its parameters.
        allowed: Rules of the hosts that the URL and its redirects may lead to.
        params: Parameters of the query.
        ends_at: Returns True for redirect targets that are the answer themselves.
        total_s: Timeout of one attempt; None means that of the client.
        attempts: Attempts, the first one included; None means those of the client.
        stored: The stored response to revalidate, if the server sent a validator with it.
        referer: Address of the page that was really read and named this one. It is sent as it is,
            and nothing else ever is.
    """

    surface: str
    url: str
    allowed: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    ends_at: Callable[[str], bool] = lambda _location: False
    total_s: float | None = None
    attempts: int | None = None
    stored: StoredResponse | None = None
    referer: str | None = None

    @property
    def address(self) -> str:
        """The URL with its parameters."""
        return str(httpx2.URL(self.url, params=dict(self.params))) if self.params else self.url


class Sink(Protocol):
    """Receives the decompressed body of one attempt; the cap counts decompressed bytes."""

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes.

        Raises:
            UpstreamError: The cap is exceeded, which stops the download at once.
        """


@dataclass(eq=False, kw_only=True)
class BodySink:
    """Keeps the body in memory."""

    surface: str
    limit_bytes: int
    _body: bytearray = field(default_factory=bytearray, init=False)

    @property
    def body(self) -> bytes:
        """The bytes received so far, without the mark of their encoding."""
        return bytes(self._body).removeprefix(BOM_UTF8)

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self._body.clear()

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        if len(self._body) + len(chunk) > self.limit_bytes:
            raise errors.StructureChangedError(
                f"the body is larger than {self.limit_bytes} bytes",
                surface=self.surface,
                reason="body_too_large",
            )
        self._body += chunk


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

    def __init__(
        self,
        profile: PlatformProfile,
        policy: HostPolicy,
        *,
        limits: HttpLimits | None = None,
        dialler: link_gate.Dialler | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if profile.name in OWN_WORLDS:
            raise errors.InvalidParameterError(
                f"the source {profile.name!r} has its own world: no host is contacted",
                hint="set DATA_PROVIDER=vidplat-public and PROFILE=public",
            )
        self.profile = profile
        self.limits = limits or HttpLimits()
        self.policy = policy
        self._faults: Counter[str] = Counter()
        self._dialler = dialler or link_gate.Dialler(profile)
        self._slots: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(profile.rate.parallel)
        )
        self._client = httpx2.AsyncClient(
            transport=link_gate.PinnedTransport(
                connections_per_host=profile.rate.parallel, tls=tls
            ),
            headers=_HEADERS,
            timeout=httpx2.Timeout(self.limits.read_s, connect=self.limits.connect_s),
            follow_redirects=False,  # `_follow` checks the address of every hop
            trust_env=False,  # a guest: no proxy and no .netrc of the environment
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    @asynccontextmanager
    async def circuit(self, request: HttpRequest) -> AsyncIterator[None]:
        """Guard a request and its interpretation; errors raised inside count against the surface.

        Raises:
            UpstreamError: The circuit is open, or the surface is off; no request was made.
        """
        if request.surface in self.profile.surfaces.off:
            raise errors.ForbiddenError(
                f"the profile patch switches {request.surface} off",
                surface=request.surface,
                reason=errors.SURFACE_OFF,
                hint="remove it from `[surfaces] off` in PROFILE_PATCH to request it again",
            )
        host = urlsplit(request.url).hostname or ""
        async with self.policy.circuits.watch(host, request.surface):
            try:
                yield
            except errors.ForbiddenError as error:
                # A refused visitor waits before anything else of this host is asked.
                if error.reason not in UNASKED_REASONS:
                    await self._back_off(host)
                raise
            except errors.RateLimitedError as error:
                if error.retry_after is None:  # a body said so, not the status 429
                    error.retry_after = await self.policy.limiter.pause(host, None)
                raise

    async def fetch(self, request: HttpRequest) -> HttpResponse:
        """Read a page or a JSON body into memory."""
        await self._permit(request)
        responses = self.policy.responses
        # With the validators of a stored body the server may answer 304, which costs it nothing.
        if responses is not None:
            request = replace(request, stored=await responses.find(request.address))
        sink = BodySink(surface=request.surface, limit_bytes=self.limits.body_bytes)
        response = replace(await self._follow(request, sink), body=sink.body)
        if response.status == NOT_MODIFIED and request.stored is not None:
            response = replace(response, status=_OK, body=request.stored.body, is_unchanged=True)
        elif response.status == _OK and responses is not None:
            await responses.save(request.address, response.validators, response.body)
        current_trace().last = response
        return response

    async def save(self, request: HttpRequest, sink: Sink) -> HttpResponse:
        """Read a body into a sink; the `body` of the returned response stays empty."""
        await self._permit(request)
        response = await self._follow(request, sink)
        current_trace().last = response
        return response

    async def _permit(self, request: HttpRequest) -> None:
        """Record what the host's robots.txt says of a request, and obey it if configured."""

        async def fetch(url: str) -> HttpResponse:
            robots = HttpRequest(
                surface="robots",
                url=url,
                allowed=request.allowed,
                total_s=self.limits.robots_s,
                attempts=1,
            )
            sink = BodySink(surface="robots", limit_bytes=self.limits.body_bytes)
            return replace(await self._follow(robots, sink), body=sink.body)

        if self.policy.robots is not None:
            await self.policy.robots.check(request.address, request.surface, fetch)

    async def _follow(self, request: HttpRequest, sink: Sink) -> HttpResponse:
        """Return the last response behind redirects, each of whose addresses is checked.

        After a 429 the request begins again, as long as the requested wait is within the maximum.
        """
        attempts_left = request.attempts or self.limits.attempts
        hop, target, stored = 0, request.address, request.stored
        while True:
            address = link_gate.check_address(
                target, allowed=request.allowed, profile=self.profile, surface=request.surface
            )
            try:
                response = await self._send(address, replace(request, stored=stored), sink)
            except errors.RateLimitedError as error:
                attempts_left -= 1
                if not attempts_left or (error.retry_after or 0.0) > self.policy.limiter.max_wait_s:
                    raise
                hop, target, stored = 0, request.address, request.stored
                continue
            if response.status not in _REDIRECTS or not response.location:
                # Validators are stored under the first address; those of another one are not about
                # it.
                return replace(
                    response, location=None, validators={} if hop else response.validators
                )
            target = link_gate.join_address(address.url, response.location, surface=request.surface)
            # For some requests the redirect itself is the answer: where a short link leads.
            if request.ends_at(target):
                return replace(response, location=target)
            if hop == link_gate.MAX_REDIRECTS:
                raise errors.SubstitutionError(
                    f"more than {link_gate.MAX_REDIRECTS} redirects",
                    surface=request.surface,
                    reason="redirect_loop",
                )
            hop, stored = hop + 1, None  # the stored response is about the first address

    async def _send(
        self, address: link_gate.CheckedAddress, request: HttpRequest, sink: Sink
    ) -> HttpResponse:
        """Send one request in its turn, and again after a failure, which pauses the host."""
        attempts_left = request.attempts or self.limits.attempts
        while True:
            try:
                async with self._slots[address.host]:
                    # The look-up comes first: a token that is not used at once is wasted.
                    dial = await self._dialler.dial_address(address.host, surface=request.surface)
                    await self.policy.limiter.wait(address.host, surface=request.surface)
                    # Another request may have met a refusal while this one waited for its turn.
                    self.policy.circuits.recheck(address.host, request.surface)
                    response = await self._exchange(address, dial, request, sink)
                    return await self.apply_status(response, address)
            except errors.UnreachableError:
                await self._back_off(address.host)
                attempts_left -= 1
                if not attempts_left:
                    raise

    async def _back_off(self, host: str) -> None:
        """Pause a failing host for all processes; longer with each failure in a row."""
        self._faults[host] += 1
        limits = self.limits
        # The exponent is bounded so that the power stays finite.
        grown = limits.wait_initial_s * 2.0 ** min(self._faults[host] - 1, 30)
        wait_s = min(limits.wait_max_s, grown) + random.uniform(0, limits.wait_jitter_s)  # noqa: S311  # no secret
        if wait_s > 0:
            await self.policy.limiter.pause_for(host, wait_s)

    async def apply_status(
        self, response: HttpResponse, address: link_gate.CheckedAddress
    ) -> HttpResponse:
        """Raise for 429 and 5xx, and pause the host where the response asks for it."""
        if response.status == _TOO_MANY:
            wait_s = await self.policy.limiter.pause(address.host, response.retry_after)
            raise errors.RateLimitedError(
                f"the platform asked for a pause of {wait_s:.0f} s",
                surface=response.surface,
                status=response.status,
                retry_after=wait_s,
            )
        if response.status >= _SERVER_FAULT:
            if response.retry_after:
                await self.policy.limiter.pause(address.host, response.retry_after)
            raise errors.UnreachableError(
                f"the platform answered {response.status}",
                surface=response.surface,
                status=response.status,
            )
        self._faults.pop(address.host, None)
        return response

    async def _exchange(
        self, address: link_gate.CheckedAddress, dial: str, request: HttpRequest, sink: Sink
    ) -> HttpResponse:
        """Send one request; its body goes to the sink, not into the returned response."""
        sink.begin()  # an attempt must not append to what a broken one has written
        current_trace().request_count += 1
        headers = dict(request.stored.headers) if request.stored else {}
        if request.referer:
            headers["Referer"] = request.referer
        begun = time.monotonic()
        try:
            async with (
                asyncio.timeout(request.total_s or self.limits.total_s),
                self._client.stream(
                    "GET", address.url, headers=headers, extensions={link_gate.DIAL: dial}
                ) as response,
            ):
                # A coding that was not requested may unpack to gigabytes in one read, before the
                # sink's cap could stop it.
                coding = response.headers.get("Content-Encoding", "").strip().lower()
                if coding not in _ACCEPTED_CODINGS:
                    raise errors.StructureChangedError(
                        "the body is compressed in a way that was not requested",
                        surface=request.surface,
                        reason="undecodable_body",
                    )
                async for chunk in response.aiter_bytes():
                    sink.take(chunk)
        except (TimeoutError, httpx2.TransportError) as exc:
            cause = f"{type(exc).__name__} after {time.monotonic() - begun:.1f} s"
            raise errors.UnreachableError(
                f"{address.host} did not answer in full: {cause}", surface=request.surface
            ) from exc
        except httpx2.DecodingError as exc:
            raise errors.StructureChangedError(
                "the body cannot be decompressed",
                surface=request.surface,
                reason="undecodable_body",
            ) from exc
        return HttpResponse(
            surface=request.surface,
            url=address.url,
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


# Download of one public sound to a file: capped, typed by its first bytes, named by its hash.

SURFACE = "media"
MAX_ADDRESSES = 3
_NEW_ADDRESS = timedelta(minutes=5)


class FileSink:
    """Writes a sound to an open file and hashes it on the way."""

    def __init__(self, file: BinaryIO, *, surface: str, limit_bytes: int) -> None:
        self._file = file
        self._surface = surface
        self._limit_bytes = limit_bytes
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes received so far."""
        return self._hash.hexdigest()

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        self.size_bytes += len(chunk)
        if self.size_bytes > self._limit_bytes:
            raise errors.AudioUnavailableError(
                f"the sound is larger than {self._limit_bytes} bytes",
                surface=self._surface,
                reason="body_too_large",
            )
        self._hash.update(chunk)
        self._file.write(chunk)


async def download_sound(client: GuestClient, video: Video, into: Path) -> SoundFile:
    """Download the sound of a video to the folder `into`, trying its URLs in order.

    After a pause or a spent budget only URLs at other hosts are tried.

    Raises:
        AudioUnavailableError: There is no sound, it is the silent placeholder, its URLs have
            expired, the response is no sound, or the host altered it.
        UpstreamError: The last URL that was tried could not be read.
    """
    if video.sound is None or video.is_silent or not video.sound.urls:
        reason = "silent_placeholder" if video.is_silent else "no_sound_address"
        raise errors.AudioUnavailableError(
            f"the video {video.aweme_id} has no sound", surface=SURFACE, reason=reason
        )
    # The same sound is at several hosts, whose tokens expire after hours.
    waiting = list(video.sound.urls[:MAX_ADDRESSES])
    with open_call_trace() as call_trace:
        while True:
            url = waiting.pop(0)
            try:
                return await _download(client, url, video, into)
            except errors.UpstreamError as error:
                if allows_policy(error, RefusalPolicy.OTHER_HOST):
                    host = urlsplit(url).hostname
                    waiting = [other for other in waiting if urlsplit(other).hostname != host]
                if not waiting:
                    raise
            call_trace.last = None  # the next URL of the same sound may succeed


async def _download(client: GuestClient, url: str, video: Video, into: Path) -> SoundFile:
    # Written under a temporary name: the final one needs the hash, and names a complete file.
    await asyncio.to_thread(into.mkdir, parents=True, exist_ok=True)
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, prefix=".part-", dir=into)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file, open_call_trace() as call_trace:
            sink = FileSink(file, surface=SURFACE, limit_bytes=client.limits.media_bytes)
            referer = None if video.sound is None else video.sound.read_from
            request = sound_request(client, url, referer=referer)
            async with client.circuit(request):
                response = await client.save(request, sink)
                suffix = _recognise_sound(response, file, named_at=video.observed_at)
        # The video's id keeps two videos with the same sound from removing each other's file.
        path = into / f"{sink.sha256}-{video.aweme_id}{suffix}"
        await asyncio.to_thread(part.replace, path)
    finally:
        part.unlink(missing_ok=True)  # noqa: ASYNC240  # a cancelled task cannot await any more
    return SoundFile(
        path=path,
        sha256=sink.sha256,
        size_bytes=sink.size_bytes,
        content_type=response.content_type,
        request_count=call_trace.request_count,
    )


def sound_request(client: GuestClient, url: str, *, referer: str | None) -> HttpRequest:
    """Build the request for a sound; `referer` is the page or document that named its URL.

    Media hosts refuse requests without one.
    """
    return HttpRequest(
        surface=SURFACE,
        url=url,
        allowed=client.profile.media.hosts,
        total_s=client.limits.media_total_s,
        referer=referer,
    )


def _recognise_sound(response: HttpResponse, file: BinaryIO, *, named_at: datetime) -> str:
    """Return the file suffix if the response is a sound; its URL was read at `named_at`.

    Raises:
        AudioUnavailableError: It is not.
    """
    # URLs of sounds expire after hours, so 403 for a new one is a refusal by the host.
    is_new = abs(response.fetched_at - named_at) < _NEW_ADDRESS
    if response.status == HTTPStatus.FORBIDDEN and is_new:
        raise refusal_error(
            "sound_refused", "the host refuses the sound", surface=SURFACE, status=response.status
        )
    if response.status != HTTPStatus.OK:
        raise errors.AudioUnavailableError(
            "the URL of the sound has expired or was refused",
            surface=SURFACE,
            status=response.status,
            reason=f"status {response.status}",
        )
    file.seek(0)
    head = file.read(HEAD_BYTES)
    refuse_altered(head)
    suffix = sound_suffix(head)
    if suffix is None:
        raise errors.AudioUnavailableError(
            "the response is no known sound format", surface=SURFACE, reason="not_a_sound"
        )
    return suffix


def refuse_altered(head: bytes) -> None:
    """Raise for a file whose type box has another first byte, as some media hosts send it.

    The byte is not put back: a host that alters its files does not want them read.

    Raises:
        AudioUnavailableError: The host altered the file.
    """
    if is_altered(head):
        raise refusal_error(
            "altered_by_host", "the host altered the file type of the sound", surface=SURFACE
        )


def sound_suffix(head: bytes) -> str | None:
    """Return the suffix for the first bytes of a sound or video file; None for anything else."""
    if head[4:8] == b"ftyp":
        return ".mp4"
    if head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0):  # noqa: PLR2004  # MPEG sync word
        return ".mp3"
    for start, suffix in _STARTS.items():
        if head.startswith(start):
            return suffix
    return None


_STARTS = {b"OggS": ".ogg", b"fLaC": ".flac", b"RIFF": ".wav", b"\x1a\x45\xdf\xa3": ".webm"}
