"""Extracts the JSON from a response body, in any wrapping of the surfaces."""

import re

import orjson

from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.streams import read_stream
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
            return [one.values for one in read_stream(body, surface=surface).documents]
        return orjson.loads(body)
    except (orjson.JSONDecodeError, UpstreamError):
        return None


def _of_page(body: bytes, surface: str) -> object:
    songs = _SONGS.search(body)
    return orjson.loads(songs[1]) if songs else parse_container(body, surface=surface).values
