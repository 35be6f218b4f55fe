"""Extracts the JSON from a response body, in any wrapping of the surfaces."""

import re
from datetime import UTC, datetime

import orjson

from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import read_frames
from pipelines.platform.parsers.videos import ParseContext
from warehouse.records.errors import UpstreamError

_SONGS = re.compile(rb"global\.features\s*=\s*(\[.*?\]);", re.DOTALL)
_FRAMED = re.compile(rb"\s*[0-9A-Fa-f]{1,8}\r?\n")


def decode_payload(body: bytes, *, surface: str) -> object:
    """Decode the JSON in a body: plain, framed, or in the container of a page; None if none.

    The documents of a framed body are returned as one list.
    """
    try:
        if body.lstrip()[:1] == b"<":
            return _of_page(body, surface)
        if _FRAMED.match(body):
            return [orjson.loads(frame) for frame in read_frames(body, _seen(surface))]
        return orjson.loads(body)
    except (orjson.JSONDecodeError, UpstreamError):
        return None


def _of_page(body: bytes, surface: str) -> object:
    songs = _SONGS.search(body)
    return orjson.loads(songs[1]) if songs else parse_container(body, surface=surface).values


def _seen(surface: str) -> ParseContext:
    return ParseContext(surface=surface, observed_at=datetime.now(UTC), link_of=str)
