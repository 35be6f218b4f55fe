"""Checks which requests reach the service: paths, host names, cross-site requests, size of bodies.

Pure decisions on path and headers with thin ASGI layers around them; they work in front of any
application. Not here: tokens and roles (`api/server/access`), the parameters of a request.
"""

import asyncio
import ipaddress
import math
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses import errors
from api.responses.errors import LocalRateLimitError
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
_SAME_SITE = frozenset({"same-origin", "none"})


def check_path(path: str) -> errors.NotFoundError | None:
    """Refuse control characters in the decoded path."""
    # Routes end in `$`, which also matches before a line break: a rule on the whole path and the
    # route would see different paths.
    return errors.NotFoundError("No operation has this path") if _CONTROL.search(path) else None


def host_name(header: str) -> str | None:
    """Return the name in a Host header in lower case, without port, brackets or trailing dot.

    None means that the header is malformed.
    """
    match = _HOST.fullmatch(header.lower())
    if match is None or int(match["port"] or 0) > 65_535:  # noqa: PLR2004  # the largest port
        return None
    return match["name"].strip("[]").removesuffix(".") or None


def check_host(
    headers: Headers, allowed_hosts: Collection[str]
) -> errors.HostNotAllowedError | None:
    """Refuse a missing, repeated, malformed or foreign Host header, which stops DNS rebinding."""
    hosts = headers.getlist("host")
    if len(hosts) != 1:
        return errors.HostNotAllowedError("The request must have exactly one Host header")
    name = host_name(hosts[0])
    if name is None or name not in allowed_hosts:
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


@dataclass(frozen=True, eq=False)
class Guard:
    """Checks paths, host names and cross-site requests in front of any ASGI application.

    Attributes:
        app: The application to protect.
        allowed_hosts: Lower-case names without port.
        reject: Builds the response to a refused request.
        is_private: Paths on which cross-site reads are refused too.
    """

    app: ASGIApp
    allowed_hosts: Collection[str]
    reject: Reject
    is_private: Callable[[str], bool]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        path, headers = scope["path"], Headers(scope=scope)
        # A web socket may do anything, so its method is not a safe one.
        is_socket = scope["type"] == "websocket"
        method = "POST" if is_socket else scope["method"]
        error = (
            check_path(path)
            or check_host(headers, self.allowed_hosts)
            or check_site(headers, method, always=self.is_private(path))
        )
        if error is None:
            await self.app(scope, receive, send)
        elif is_socket:
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.reject(scope, error)(scope, receive, send)


@dataclass(frozen=True, eq=False)
class BodyTimeout:
    """Refuses a body that has not arrived after `seconds`; the error is raised where it is read."""

    app: ASGIApp
    seconds: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # One deadline for the whole body: a client that sends a byte a second must not extend it.
        until = asyncio.get_running_loop().time() + self.seconds
        is_complete = False

        async def timed() -> Message:
            nonlocal is_complete
            if is_complete:
                return await receive()  # returns when the client disconnects
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as exc:
                raise errors.RequestTimeoutError(
                    f"The body did not arrive within {self.seconds:g} seconds"
                ) from exc
            is_complete = not message.get("more_body", False)
            return message

        await self.app(scope, timed, send)


@dataclass(frozen=True, eq=False)
class BodyLimit:
    """Refuses bodies larger than `limit` bytes, declared or chunked, before anything reads them."""

    app: ASGIApp
    limit: int
    reject: Reject

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if _NUMBER.fullmatch(declared) and int(declared) > self.limit:
            await self.reject(scope, self._error())(scope, receive, send)
            return
        # A chunked body declares no size, so it is counted as it arrives.
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limit:
                raise self._error()
            return message

        await self.app(scope, limited, send)

    def _error(self) -> errors.BodyTooLargeError:
        return errors.BodyTooLargeError(f"The request body is larger than {self.limit} bytes")


def add_security_headers(headers: MutableHeaders) -> None:
    """Add the security headers that a response does not set itself."""
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)


# Local rate limit: a moving window in memory for each client address.
#
# It keeps a runaway program, or a program that guesses tokens, from blocking other clients.

EXEMPT = frozenset({"/healthz"})
MAX_ADDRESSES = 10_000
_NETWORK_BITS = 64  # the owner of one IPv6 address usually owns its whole /64


class RateLimit:
    """Allows each address `per_s` requests a second on average, at most `burst` of them at once.

    Args:
        app: The application to protect.
        per_s: Requests per second, above 0.
        burst: Requests in any `burst / per_s` seconds, at least 1. The library counts whole
            seconds: the window is rounded up, and holds what `per_s` allows in it.
        reject: Builds the response to a refused request.
    """

    def __init__(self, app: ASGIApp, *, per_s: float, burst: int, reject: Reject) -> None:
        window_s = max(1, math.ceil(burst / per_s))
        self._app = app
        self._reject = reject
        self._per_s = per_s
        self._limit = RateLimitItemPerSecond(max(burst, math.floor(per_s * window_s)), window_s)
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in EXEMPT:
            # The storage never forgets an address by itself.
            if len(self._storage.events) >= MAX_ADDRESSES:
                self._storage.reset()
            client: tuple[str, int] | None = scope.get("client")
            address = "" if client is None else _network_of(client[0])
            if not self._limiter.hit(self._limit, address):
                free_at = self._limiter.get_window_stats(self._limit, address).reset_time
                error = LocalRateLimitError(
                    f"This address sent more than {self._per_s:g} requests per second",
                    retry_after=max(0.0, free_at - time.time()),
                )
                await self._reject(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


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
