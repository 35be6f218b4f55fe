"""Routes, and what all surfaces do with a request: its host, its page, its validators.

A `HostRoute` answers on some hosts only, any other route on every host. Paging is as lenient as on
the platform. A conditional request gets 304 if the client has the same version.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from pipelines.sandbox.server.documents.pages import Document

Endpoint = Callable[[Request], Awaitable[Response]]


class HostRoute(Route):
    """A route of some hosts."""

    def __init__(self, path: str, endpoint: Endpoint, *, name: str, hosts: tuple[str, ...]) -> None:
        super().__init__(path, endpoint, name=name)
        self.hosts = hosts

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as any route, on its own hosts."""
        if host_of(scope) not in self.hosts:
            return Match.NONE, {}
        return super().matches(scope)


def host_of(scope: Scope) -> str:
    """The host that a request names, without its port."""
    for name, value in scope["headers"]:
        if name == b"host":
            return str(value.decode("latin-1")).rsplit(":", 1)[0].lower()
    return ""


MAX_PAGE_SIZE = 20


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


_UNCHANGED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseVersion:
    """Validators of a response.

    Attributes:
        mark: Sent as `ETag`; None for none.
        modified: Unix seconds, sent as `Last-Modified`; None for none.
    """

    mark: str | None = None
    modified: int | None = None


def conditional(
    request: Request, version: ResponseVersion, make: Callable[[], Response]
) -> Response:
    """Return the response with its validators, or 304 without building it. An `ETag` wins."""
    headers = _headers(version)
    if _is_known(request, version):
        return Response(status_code=_UNCHANGED, headers=headers)
    answer = make()
    for name, value in headers.items():
        answer.headers[name] = value
    return answer


def to_etag(*parts: object) -> str:
    """Return an `ETag` computed from these parts."""
    text = "\0".join(map(str, parts))
    return f'"{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"'


def _headers(version: ResponseVersion) -> dict[str, str]:
    headers = {} if version.mark is None else {"etag": version.mark}
    if version.modified is not None:
        headers["last-modified"] = formatdate(version.modified, usegmt=True)
    return headers


def _is_known(request: Request, version: ResponseVersion) -> bool:
    asked = request.headers.get("if-none-match")
    if asked is not None:
        marks = {mark.strip().removeprefix("W/") for mark in asked.split(",")}
        return version.mark is not None and version.mark in marks
    since = request.headers.get("if-modified-since")
    if since is None or version.modified is None:
        return False
    try:
        return version.modified <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False
