"""What every request passes first: its id and log line, and the guard of the service.

The guard decides on path, headers and rate which requests reach the service; it works in front of
any application. Not here: tokens and roles (`api/server/access`), the parameters of a request.
"""

import asyncio
import ipaddress
import math
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4
from zoneinfo import ZoneInfo

import structlog
from asgi_correlation_id import CorrelationIdMiddleware, correlation_id
from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses import errors
from api.responses.envelope import RequestInfo, error_response
from api.responses.errors import LocalRateLimitError
from api.settings import SHARED_PAGES
from warehouse.records.errors import SametrackError

type Reject = Callable[[Scope, SametrackError], Response]
"""Builds the response to a refused request."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
RAW_SECURITY_HEADERS = tuple(
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
)
SECURITY_HEADER_NAMES = frozenset(name for name, _ in RAW_SECURITY_HEADERS)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")
_NUMBER = re.compile(r"[0-9]{1,30}")
MAX_PORT = 65_535
_SAME_SITE = frozenset({"same-origin", "none"})


def check_host(
    headers: Headers, allowed_hosts: Collection[str]
) -> errors.HostNotAllowedError | None:
    """Refuse a missing, repeated, malformed or foreign Host header, which stops DNS rebinding."""
    hosts = headers.getlist("host")
    if len(hosts) != 1:
        return errors.HostNotAllowedError("The request must have exactly one Host header")
    match = _HOST.fullmatch(hosts[0].lower())
    # without the brackets of an IPv6 address, and the dot that a full name may end with
    name = "" if match is None else match["name"].strip("[]").removesuffix(".")
    is_named = match is not None and name != "" and int(match["port"] or 0) <= MAX_PORT
    if not is_named or name not in allowed_hosts:
        return errors.HostNotAllowedError("The Host header names a host that is not served here")
    return None


def check_site(
    headers: Headers, method: str, *, always: bool
) -> errors.CrossSiteRequestError | None:
    """Refuse requests that a page of another site makes a browser send.

    Args:
        headers: Request headers. Programs send neither `Sec-Fetch-Site` nor `Origin` and pass.
        method: Request method.
        always: Check reads too, because they start work, cost requests to the platform or return
            private data. One rule serves them all: what a read does depends on its parameters and
            on what is stored.
    """
    if method in SAFE_METHODS and not always:
        return None
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _SAME_SITE:
        return errors.CrossSiteRequestError("The request was sent by a page of another site")
    # Compared as text: parsing an address could find another host in it than a browser does.
    host = headers.get("host", "").lower()
    own_origins = {f"http://{host}", f"https://{host}"}
    if any(origin.lower() not in own_origins for origin in headers.getlist("origin")):
        return errors.CrossSiteRequestError("The Origin header of the request names another site")
    return None


# Local rate limit: a moving window in memory for each client address.
#
# It keeps a runaway program, or a program that guesses tokens, from blocking other clients. Not
# here: how often the service requests the platform (`pipelines/platform/http/host_policy.py`).

EXEMPT = frozenset({"/healthz"})
MAX_ADDRESSES = 10_000
_NETWORK_BITS = 64  # the owner of one IPv6 address usually owns its whole /64


class RateLimit:
    """Allows each address `per_s` requests a second on average, at most `burst` of them at once.

    Args:
        per_s: Requests per second, above 0.
        burst: Requests in any `burst / per_s` seconds, at least 1. The library counts whole
            seconds: the window is rounded up, and holds what `per_s` allows in it.
    """

    def __init__(self, *, per_s: float, burst: int) -> None:
        window_s = max(1, math.ceil(burst / per_s))
        self._per_s = per_s
        self._limit = RateLimitItemPerSecond(max(burst, math.floor(per_s * window_s)), window_s)
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)

    def count(self, scope: Scope) -> LocalRateLimitError | None:
        """Count a request; return the error if its address sent too many."""
        if scope["path"] in EXEMPT:
            return None
        # The storage never forgets an address by itself.
        if len(self._storage.events) >= MAX_ADDRESSES:
            self._storage.reset()
        client: tuple[str, int] | None = scope.get("client")
        address = "" if client is None else _network_of(client[0])
        if self._limiter.hit(self._limit, address):
            return None
        free_at = self._limiter.get_window_stats(self._limit, address).reset_time
        return LocalRateLimitError(
            f"This address sent more than {self._per_s:g} requests per second",
            retry_after=max(0.0, free_at - time.time()),
        )


@lru_cache(maxsize=1024)
def _network_of(host: str) -> str:
    """Return what is limited together: an IPv4 address, or the /64 of an IPv6 address."""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, _NETWORK_BITS), strict=False))


class BodyLimits(NamedTuple):
    """How large the body of a request may be, and how long it may take to arrive."""

    max_bytes: int
    timeout_s: float

    def too_large(self) -> errors.BodyTooLargeError:
        """Return the error of a larger body."""
        return errors.BodyTooLargeError(f"The request body is larger than {self.max_bytes} bytes")


@dataclass(frozen=True, eq=False)
class Guard:
    """Checks path, host, site, rate and body in front of any ASGI application.

    Attributes:
        app: The application to protect.
        allowed_hosts: Lower-case names without port.
        reject: Builds the response to a refused request.
        private_paths: Beginnings of the paths that return data. Pages of other sites may not read
            them either: some of these reads start work.
        rate_limit: How often one address may ask.
        body: Limits of a body. One that is declared too large is refused unread; any other error is
            raised where the body is read.
    """

    app: ASGIApp
    allowed_hosts: Collection[str]
    reject: Reject
    private_paths: tuple[str, ...]
    rate_limit: RateLimit | None = None
    body: BodyLimits | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        path, headers = scope["path"], Headers(scope=scope)
        # A web socket may do anything, so its method is not a safe one.
        is_socket = scope["type"] == "websocket"
        method = "POST" if is_socket else scope["method"]
        error: SametrackError | None
        # Routes end in `$`, which also matches before a line break: a rule on the whole path and
        # the route would see different paths.
        if _CONTROL.search(path):
            error = errors.NotFoundError("No operation has this path")
        else:
            error = check_host(headers, self.allowed_hosts) or check_site(
                headers, method, always=path.startswith(self.private_paths)
            )
        # Outside of access, so that guessing tokens is limited too.
        if error is None and self.rate_limit is not None and not is_socket:
            error = self.rate_limit.count(scope)
        has_body = "content-length" in headers or "transfer-encoding" in headers
        limits = self.body if has_body and not is_socket else None
        if error is None and limits is not None:
            error = check_declared_size(headers, limits)
        if error is not None:
            if is_socket:
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.reject(scope, error)(scope, receive, send)
            return
        if limits is not None:
            receive = limited_body(receive, limits)
        await self.app(scope, receive, send)


def check_declared_size(headers: Headers, limits: BodyLimits) -> errors.BodyTooLargeError | None:
    """Refuse a body that is too large by its own `Content-Length`, before anything reads it."""
    declared = headers.get("content-length", "")
    if not _NUMBER.fullmatch(declared) or int(declared) <= limits.max_bytes:
        return None
    return limits.too_large()


def limited_body(receive: Receive, limits: BodyLimits) -> Receive:
    """Return what receives a body, and raises if it becomes too large or arrives too slowly."""
    # One deadline for the whole body: a client that sends a byte a second must not extend it.
    until = asyncio.get_running_loop().time() + limits.timeout_s
    size, is_complete = 0, False

    async def limited() -> Message:
        nonlocal size, is_complete
        if is_complete:
            return await receive()  # returns when the client disconnects
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError as exc:
            raise errors.RequestTimeoutError(
                f"The body did not arrive within {limits.timeout_s:g} seconds"
            ) from exc
        # A chunked body declares no size, so it is counted as it arrives.
        size += len(message.get("body", b""))
        if size > limits.max_bytes:
            raise limits.too_large()
        is_complete = not message.get("more_body", False)
        return message

    return limited


def add_security_headers(headers: MutableHeaders) -> None:
    """Add the security headers that a response does not set itself."""
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)


# The outermost middleware: request id, log line, security headers and the last error handler.
#
# It wraps the finished application, so that even a crash of another middleware gets an envelope
# with the request id.

_log = structlog.get_logger("api")
_UTC = ZoneInfo("UTC")

type RequestLogger = Callable[[dict[str, object]], None]
"""Writes a log line of these fields."""
type RequestObserver = Callable[[Scope, int, float], None]
"""Called for each finished request with its scope, status and duration in seconds."""


def with_request_id(app: ASGIApp) -> ASGIApp:
    """Give each request an id of its own, and its response the header `X-Request-ID`."""
    return CorrelationIdMiddleware(
        app,
        validator=None,
        transformer=lambda _id: str(uuid4()),  # an id that the client sends is ignored
        update_request_header=False,
    )


@dataclass(frozen=True, eq=False)
class RequestContext:
    """Creates the `RequestInfo` of each request and writes its log line.

    Attributes:
        app: The finished application.
        time_zone: Zone of `time` in responses.
        clock: Returns the current time in UTC.
        observe: Called for each finished request.
        note: Writes the log line of a request. Default: the structlog logger, which takes several
            times as long.
    """

    app: ASGIApp
    time_zone: ZoneInfo
    clock: Callable[[], datetime]
    observe: RequestObserver | None = None
    note: RequestLogger | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one request, then count and log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        call = new_request_info(scope, moment=self.clock(), time_zone=self.time_zone)
        scope.setdefault("state", {})["call"] = call
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Bytes instead of Starlette's headers: this runs for every cached response.
                headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                if not names >= SECURITY_HEADER_NAMES:
                    headers += [pair for pair in RAW_SECURITY_HEADERS if pair[0] not in names]
                message["headers"] = headers
            await send(message)

        try:
            await self.app(scope, receive, stamped)
        except Exception:
            log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
            log.exception("request failed")
            # Once a response has begun, no other can be sent.
            if status == 0:
                error = SametrackError("An unexpected error occurred while handling the request")
                await error_response(scope, error)(scope, receive, stamped)
        spent_s = time.perf_counter() - started
        if self.observe is not None:
            self.observe(scope, status, spent_s)
        line: dict[str, Any] = {
            "request_id": call.request_id,
            "method": scope["method"],
            "path": call.path,
            "status": status,
            "ms": round(spent_s * 1000, 1),
            "event": "request",
        }
        if self.note is None:
            _log.info(**line)
        else:
            self.note(line)


def new_request_info(scope: Scope, *, moment: datetime, time_zone: ZoneInfo = _UTC) -> RequestInfo:
    """Return the info of a request that arrived at `moment`, with the id of `with_request_id`."""
    path: str = scope["path"]
    if path.startswith(SHARED_PAGES):
        path = f"{SHARED_PAGES}…"  # the path is logged, and the rest of this one opens a page
    # The path is in the response, and JSON cannot hold half of a surrogate pair.
    elif not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return RequestInfo(correlation_id.get() or "", moment, time_zone, path)
