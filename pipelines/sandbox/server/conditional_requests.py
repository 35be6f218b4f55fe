"""Conditional requests: `ETag` and `Last-Modified`, and 304 for a client with the same version."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

from starlette.requests import Request
from starlette.responses import Response

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
