"""The JSON in a body, its shape as key paths, and its difference from earlier good payloads. Pure.

A path is written `aweme_list[].statistics.digg_count`; names that are numbers become `*`. A path
that ends in `?` exists but is empty (null, an empty list or object), so its children are unknown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import orjson

from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import read_stream
from warehouse.records.errors import UpstreamError

MAX_LIST_ENTRIES = 30  # entries inspected per list; a page has about twenty
MAX_PAYLOAD_DEPTH = 10
MAX_PATHS = 800
STABLE_AFTER = 3
"""A key is stable once this many good payloads in a row had it."""
_NUMBER = re.compile(r"[0-9]{3,}")
_SONGS = re.compile(rb"global\.features\s*=\s*(\[.*?\]);", re.DOTALL)
_FRAMED = re.compile(rb"\s*[0-9A-Fa-f]{1,8}\r?\n")


@dataclass(frozen=True, slots=True)
class ShapeChange:
    """New and missing key paths. `is_loss`: a stable one is missing."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    is_loss: bool = False


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


def key_paths(payload: object) -> tuple[str, ...]:
    """Return the sorted key paths of a decoded JSON payload; empty if it has no keys."""
    found: set[str] = set()
    for path in _walk(payload, "", 0):
        found.add(path)
        if len(found) >= MAX_PATHS:
            break
    return tuple(sorted(path for path in found if not _is_refuted(path, found)))


def change_since(now: Sequence[str], good: Sequence[Sequence[str]]) -> ShapeChange:
    """Compare key paths with those of good payloads, newest first.

    A key is new if no good payload had it, and missing if every good payload had it. Children of an
    empty key are not compared.
    """
    if not good or not now:
        return ShapeChange()
    known = [_names(paths) for paths in good]
    here, hollow = _names(now), _empty_keys(now)
    once_hollow = set().union(*map(_empty_keys, good))
    came = here - set().union(*known)
    went = set.intersection(*known) - here
    gone = _tops(path for path in went if not _is_below(path, hollow))
    return ShapeChange(
        came=_tops(path for path in came if not _is_below(path, once_hollow)),
        went=gone,
        is_loss=bool(gone) and len(good) >= STABLE_AFTER,
    )


def _walk(value: object, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_PAYLOAD_DEPTH:
        return
    if isinstance(value, dict) and value:
        for key, below in value.items():
            name = "*" if _NUMBER.fullmatch(key) else key
            step = f"{path}.{name}" if path else name
            yield step
            yield from _walk(below, step, depth + 1)
    elif isinstance(value, list) and value:
        for below in value[:MAX_LIST_ENTRIES]:
            yield from _walk(below, f"{path}[]", depth + 1)
    elif path and not path.endswith("[]") and (value is None or isinstance(value, list | dict)):
        yield f"{path}?"


def _is_refuted(path: str, found: AbstractSet[str]) -> bool:
    """Return True for `music` if `music?` exists too and no item has children below it."""
    below = (f"{path.rstrip('?')}.", f"{path.rstrip('?')}[]")
    has_below = any(other.startswith(below) for other in found)
    return has_below if path.endswith("?") else f"{path}?" in found and not has_below


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths}


def _empty_keys(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths if path.endswith("?")}


def _is_below(path: str, tops: AbstractSet[str]) -> bool:
    return any(path.startswith((f"{top}.", f"{top}[]")) for top in tops)


def _tops(paths: Iterable[str]) -> tuple[str, ...]:
    """Drop paths below another path of the list: one lost object is one line."""
    chosen = sorted(paths)
    every = set(chosen)
    return tuple(path for path in chosen if not _is_below(path, every - {path}))
