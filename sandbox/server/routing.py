"""Surfaces, and what all of them do with a request: its host, its page, its validators.

Paging is as lenient as on the platform. A conditional request gets 304 if the client has the same
version.
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from email.utils import formatdate, parsedate_to_datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from sandbox.server.documents.pages import MAX_PAGE_SIZE, Document
from sandbox.server.platform import SandboxPlatform

CHART_PLACE = "sandbox_chart_place"
"""Key in the scope with the position of the issue that a chart surface shows instead."""
Endpoint = Callable[[SandboxPlatform, Request], Awaitable[Response]]


class Surface:
    """One surface of the platform.

    Args:
        name: Its name, which the access log, faults and switches use.
        answer: Answers a request.
        paths: All its paths.
        hosts: The hosts that have it; every host if there is none.
        methods: Its methods.
        source: Where the form of its documents is publicly known from, see `form_sources.py`.
    """

    def __init__(
        self, name: str, answer: Endpoint, *paths: str, source: str, hosts: tuple[str, ...] = (),
        methods: tuple[str, ...] = ("GET",),
    ) -> None:  # fmt: skip
        self.name = name
        self.answer = answer
        self.paths = paths
        self.hosts = hosts
        self.methods = methods
        self.source = source


def to_routes(surfaces: Iterable[Surface], platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of surfaces, in order."""
    return [
        _SurfaceRoute(surface, path, platform) for surface in surfaces for path in surface.paths
    ]


class _SurfaceRoute(Route):
    def __init__(self, surface: Surface, path: str, platform: SandboxPlatform) -> None:
        answer = partial(surface.answer, platform)
        super().__init__(path, answer, name=surface.name, methods=surface.methods)
        self._hosts = surface.hosts

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as any route, on its own hosts."""
        if self._hosts and host_of(scope) not in self._hosts:
            return Match.NONE, {}
        return super().matches(scope)


def host_of(scope: Scope) -> str:
    """The host that a request names, without its port."""
    for name, value in scope["headers"]:
        if name == b"host":
            return str(value.decode("latin-1")).rsplit(":", 1)[0].lower()
    return ""


def read_non_negative(request: Request, name: str, default: int) -> int:
    """Return a non-negative integer of the query, or the default."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else default  # noqa: PLR2004  # 63 bits


def page_size(request: Request) -> int:
    """Return the requested page size, at most `MAX_PAGE_SIZE`."""
    return min(max(1, read_non_negative(request, "count", MAX_PAGE_SIZE)), MAX_PAGE_SIZE)


def with_status(**fields: object) -> Document:
    """Return a JSON document with a success status."""
    return {"status_code": 0, **fields}


UNKNOWN = 5
"""`status_code` for an id that the platform does not know."""


def unknown(key: str) -> Response:
    """Return the response about an id that the platform does not know."""
    return JSONResponse({"status_code": UNKNOWN, "status_msg": "", key: None})


_UNCHANGED = 304


def conditional(
    request: Request, make: Callable[[], Response], *, mark: str | None = None,
    modified: int | None = None,
) -> Response:  # fmt: skip
    """Return a response with its validators, or 304 without making it. An `ETag` wins.

    Args:
        request: The request.
        make: Makes the response.
        mark: Sent as `ETag`; None for none.
        modified: Unix seconds, sent as `Last-Modified`; None for none.
    """
    headers = {} if mark is None else {"etag": mark}
    if modified is not None:
        headers["last-modified"] = formatdate(modified, usegmt=True)
    if _is_known(request, mark, modified):
        return Response(status_code=_UNCHANGED, headers=headers)
    answer = make()
    answer.headers.update(headers)
    return answer


def to_etag(*parts: object) -> str:
    """Return an `ETag` computed from these parts."""
    text = "\0".join(map(str, parts))
    return f'"{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"'


def _is_known(request: Request, mark: str | None, modified: int | None) -> bool:
    asked = request.headers.get("if-none-match")
    if asked is not None:
        return mark in {known.strip().removeprefix("W/") for known in asked.split(",")}
    since = request.headers.get("if-modified-since")
    if since is None or modified is None:
        return False
    try:
        return modified <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False
