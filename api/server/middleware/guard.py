"""Checks who may talk to this service: paths, host names, cross-site requests, size, headers.

Pure decisions on path and headers with thin ASGI layers around them; they work in front of any
application. Not here: tokens and roles (`api/server/access`), what a request means.
"""

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.errors import (
    BodyTooLargeError,
    CrossSiteRequestError,
    HostNotAllowedError,
    NotFoundError,
    RequestTimeoutError,
)
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


def check_path(path: str) -> NotFoundError | None:
    """Refuse control characters in the decoded path.

    Routes end in `$`, which also matches before a line break, so that a rule on the whole path and
    the route would see different paths.
    """
    return NotFoundError("No operation has this path") if _CONTROL.search(path) else None


def host_name(header: str) -> str | None:
    """Return the name in a Host header in lower case, without port, brackets or trailing dot.

    None means that the header is malformed.
    """
    match = _HOST.fullmatch(header.lower())
    if match is None or int(match["port"] or 0) > 65_535:  # noqa: PLR2004  # the largest port
        return None
    return match["name"].strip("[]").removesuffix(".") or None


def check_host(headers: Headers, allowed_hosts: Collection[str]) -> HostNotAllowedError | None:
    """Refuse a missing, repeated, malformed or foreign Host header, which stops DNS rebinding."""
    given = headers.getlist("host")
    if len(given) != 1:
        return HostNotAllowedError("The request must have exactly one Host header")
    name = host_name(given[0])
    if name is None or name not in allowed_hosts:
        return HostNotAllowedError("The Host header names a host that is not served here")
    return None


def check_site(headers: Headers, method: str, *, always: bool) -> CrossSiteRequestError | None:
    """Refuse requests that a page of another site makes a browser send.

    Args:
        headers: Request headers. Programs send neither `Sec-Fetch-Site` nor `Origin` and pass.
        method: Request method.
        always: Check reads too, because they start work, cost requests to the platform or return
            private data. One rule for all of them: which read does which changes with its
            parameters and with what is stored.
    """
    if method in SAFE_METHODS and not always:
        return None
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _SAME_SITE:
        return CrossSiteRequestError("The request was sent by a page of another site")
    origins = headers.getlist("origin")
    if any(not _is_same_origin(origin, headers) for origin in origins):
        return CrossSiteRequestError("The Origin header of the request names another site")
    return None


def _is_same_origin(origin: str, headers: Headers) -> bool:
    """Compare origins as text: parsing an address could find another host in it than a browser
    does.
    """
    own = headers.get("host", "").lower()
    return origin.lower() in {f"http://{own}", f"https://{own}"}


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
        error = self._check(scope)
        if error is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.reject(scope, error)(scope, receive, send)

    def _check(self, scope: Scope) -> SametrackError | None:
        wrong_path = check_path(scope["path"])
        if wrong_path is not None:
            return wrong_path
        headers = Headers(scope=scope)
        is_socket = scope["type"] == "websocket"  # it may do anything, so it is no safe method
        method = "POST" if is_socket else scope["method"]
        return check_host(headers, self.allowed_hosts) or check_site(
            headers, method, always=self.is_private(scope["path"])
        )


@dataclass(frozen=True, eq=False)
class BodyTimeout:
    """Refuses a body that has not arrived after `seconds`: whoever reads it gets the error."""

    app: ASGIApp
    seconds: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        until = asyncio.get_running_loop().time() + self.seconds
        is_complete = False

        async def timed() -> Message:
            nonlocal is_complete
            if is_complete:
                return await receive()  # waits until the client leaves
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as exc:
                raise RequestTimeoutError(
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
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limit:
                raise self._error()
            return message

        await self.app(scope, limited, send)

    def _error(self) -> BodyTooLargeError:
        return BodyTooLargeError(f"The request body is larger than {self.limit} bytes")


def add_security_headers(headers: MutableHeaders) -> None:
    """Add the security headers that a response does not set itself."""
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)
