"""Partial responses for small files, requested by players that seek in a sound (RFC 9110, 14).

A `Range` that is not one satisfiable byte range is ignored and the whole file is sent, as the
standard allows. Not here: reading files.
"""

import hashlib
import re
from collections.abc import Mapping

from starlette.responses import Response

from api.responses.errors import PARTIAL_CONTENT

_SINGLE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def range_response(
    content: bytes, asked: Mapping[str, str], *, media_type: str, headers: Mapping[str, str]
) -> Response:
    """Build a response with the whole content, or with the range that the headers ask for."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    more = {**headers, "Accept-Ranges": "bytes", "ETag": tag}
    stretch = _parse_range(asked.get("range", ""), len(content))
    if stretch is None or asked.get("if-range", tag) != tag:
        return Response(content, media_type=media_type, headers=more)
    first, last = stretch
    more["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    part = content[first : last + 1]
    return Response(part, PARTIAL_CONTENT, media_type=media_type, headers=more)


def _parse_range(wanted: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of `first-last`, `first-` or `-count`, None if not satisfiable."""
    found = _SINGLE_RANGE.fullmatch(wanted.strip())
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        first, last = max(0, size - int(found[2])), size - 1
    else:
        first, last = int(found[1]), min(size - 1, int(found[2] or size))
    return (first, last) if first <= last else None
