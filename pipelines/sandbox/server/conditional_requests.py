"""Answers that say which version they are, and nothing but "unchanged" to who has it already."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

from starlette.requests import Request
from starlette.responses import Response

_UNCHANGED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a surface says of an answer's version.

    Attributes:
        mark: Offered as `ETag`; None for none.
        modified: Unix seconds, offered as `Last-Modified`; None for none.
    """

    mark: str | None = None
    modified: int | None = None


def conditional(request: Request, version: Version, make: Callable[[], Response]) -> Response:
    """The answer with its version, or 304 and nothing made. An `ETag` outweighs a date."""
    headers = _headers(version)
    if _is_known(request, version):
        return Response(status_code=_UNCHANGED, headers=headers)
    answer = make()
    for name, value in headers.items():
        answer.headers[name] = value
    return answer


def to_mark(*parts: object) -> str:
    """An `ETag` for what these parts determine."""
    text = "\0".join(map(str, parts))
    return f'"{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"'


def _headers(version: Version) -> dict[str, str]:
    headers = {} if version.mark is None else {"etag": version.mark}
    if version.modified is not None:
        headers["last-modified"] = formatdate(version.modified, usegmt=True)
    return headers


def _is_known(request: Request, version: Version) -> bool:
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
