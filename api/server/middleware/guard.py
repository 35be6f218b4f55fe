"""Who may talk to this service at all: host names, other sites' pages, body size, headers.

Pure decisions on headers, and thin ASGI layers around them; usable in front of any application.
Not here: tokens (`auth.py`), what a request means.
"""

import re
from collections.abc import Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.errors import BodyTooLargeError, CrossSiteRequestError, HostNotAllowedError
from warehouse.records.errors import SametrackError

type Reject = Callable[[Scope, SametrackError], Response]
"""Makes the answer to a refused request."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
STRICT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
STRICT = tuple((name.lower().encode(), value.encode()) for name, value in STRICT_HEADERS.items())
STRICT_NAMES = frozenset(name for name, _ in STRICT)
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")
_CHECKED = frozenset({b"host", b"origin", b"sec-fetch-site"})
_KNOWN_HOSTS_MOST = 64
_NUMBER = re.compile(r"[0-9]{1,30}")
_OWN_SITES = frozenset({"same-origin", "none"})


def host_name(header: str) -> str | None:
    """The name in a Host header: lower case, no port, no brackets, no trailing dot; None if bad."""
    match = _HOST.fullmatch(header.lower())
    if match is None or int(match["port"] or 0) > 65_535:  # noqa: PLR2004  # the largest port
        return None
    return match["name"].strip("[]").removesuffix(".") or None


def check_host(headers: Headers, allowed_hosts: Collection[str]) -> HostNotAllowedError | None:
    """Refuse a missing, doubled, malformed or foreign Host: a rebound name carries its own."""
    given = headers.getlist("host")
    if len(given) != 1:
        return HostNotAllowedError("The request must carry one Host header")
    name = host_name(given[0])
    if name is None or name not in allowed_hosts:
        return HostNotAllowedError("The Host header names another service")
    return None


def check_site(headers: Headers, method: str, *, always: bool) -> CrossSiteRequestError | None:
    """Refuse what another site's page makes a browser send.

    Args:
        headers: Of the request. Programs send neither `Sec-Fetch-Site` nor `Origin`: they pass.
        method: Of the request.
        always: Also reads are refused, because they start work or tell what is private.
    """
    site = headers.get("sec-fetch-site")
    if (always or method not in SAFE_METHODS) and site is not None and site not in _OWN_SITES:
        return CrossSiteRequestError("A page of another site sent this request")
    if method in SAFE_METHODS:
        return None
    origins = headers.getlist("origin")
    if any(not _is_own(origin, headers) for origin in origins):
        return CrossSiteRequestError("The Origin of this request is another site")
    return None


def _is_own(origin: str, headers: Headers) -> bool:
    """Compared as text: whoever reads an address may read another host in it than a browser."""
    own = headers.get("host", "").lower()
    return origin.lower() in {f"http://{own}", f"https://{own}"}


class Guard:
    """The door: host names and other sites' pages. Wrap any ASGI application in it.

    Args:
        app: What is behind the door.
        allowed_hosts: Lower-case names without port.
        reject: Makes the answer to a refused request.
        is_private: Paths where reads of other sites' pages are refused too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Collection[str],
        reject: Reject,
        is_private: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._allowed_hosts = frozenset(allowed_hosts)
        self._reject = reject
        self._is_private = is_private
        self._known_hosts: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        error = self._check(scope)
        if error is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._reject(scope, error)(scope, receive, send)

    def _check(self, scope: Scope) -> SametrackError | None:
        if self._is_plain(scope):
            return None
        headers = Headers(scope=scope)
        is_socket = scope["type"] == "websocket"  # a socket can do anything, so it is never safe
        method = "POST" if is_socket else scope["method"]
        return check_host(headers, self._allowed_hosts) or check_site(
            headers, method, always=self._is_private(scope["path"])
        )

    def _is_plain(self, scope: Scope) -> bool:
        """A program's request under a name that was let in before: nothing is left to check."""
        checked = [header for header in scope["headers"] if header[0] in _CHECKED]
        if len(checked) != 1 or checked[0][0] != b"host":
            return False  # none, two, or the words of a browser beside it
        host = checked[0][1]
        if host not in self._known_hosts:
            if check_host(Headers(scope=scope), self._allowed_hosts) is not None:
                return False
            if len(self._known_hosts) < _KNOWN_HOSTS_MOST:
                self._known_hosts.add(host)
        return True


class BodyLimit:
    """Refuse bodies beyond `limit` bytes, declared or chunked, before anything reads them."""

    def __init__(self, app: ASGIApp, *, limit: int, reject: Reject) -> None:
        self._app = app
        self._limit = limit
        self._reject = reject

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if _NUMBER.fullmatch(declared) and int(declared) > self._limit:
            await self._reject(scope, self._error())(scope, receive, send)
            return
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise self._error()
            return message

        await self._app(scope, limited, send)

    def _error(self) -> BodyTooLargeError:
        return BodyTooLargeError(f"The body has more than {self._limit} bytes")


def harden(headers: MutableHeaders) -> None:
    """Add the strict headers that an answer does not bring itself."""
    for name, value in STRICT_HEADERS.items():
        headers.setdefault(name, value)
