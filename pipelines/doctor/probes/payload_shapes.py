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
    """Decode the JSON in a body: plain, framed, or in the container of a page; None without JSON.

    The documents of a framed body are returned as one list.
    """
    try:
        if body.lstrip()[:1] == b"<":
            # The page of a chart has its songs in a variable, other pages have a container.
            songs = _SONGS.search(body)
            if songs:
                return orjson.loads(songs[1])
            return parse_container(body, surface=surface).values
        if _FRAMED.match(body):
            return [document.values for document in read_stream(body, surface=surface).documents]
        return orjson.loads(body)
    except (orjson.JSONDecodeError, UpstreamError):
        return None


def key_paths(payload: object) -> tuple[str, ...]:
    """Return the sorted key paths of a decoded JSON payload; empty if it has no keys."""
    paths: set[str] = set()
    for path in _walk(payload, "", 0):
        paths.add(path)
        if len(paths) >= MAX_PATHS:
            break
    # Of `music` and `music?`, which two items of a list may have, only one is true: the second if
    # no item has children below it.
    kept = []
    for path in sorted(paths):
        key = path.rstrip("?")
        has_children = any(other.startswith((f"{key}.", f"{key}[]")) for other in paths)
        if not (has_children if path.endswith("?") else f"{path}?" in paths and not has_children):
            kept.append(path)
    return tuple(kept)


def change_since(now: Sequence[str], good: Sequence[Sequence[str]]) -> ShapeChange:
    """Compare key paths with those of good payloads, newest first.

    A key is new if no good payload had it, and missing if every good payload had it. Children of an
    empty key are not compared.
    """
    if not good or not now:
        return ShapeChange()
    earlier = [_names(paths) for paths in good]
    current, empty = _names(now), _empty_keys(now)
    once_empty = set().union(*map(_empty_keys, good))
    came = current - set().union(*earlier)
    went = set.intersection(*earlier) - current
    lost = _tops(path for path in went if not _is_below(path, empty))
    return ShapeChange(
        came=_tops(path for path in came if not _is_below(path, once_empty)),
        went=lost,
        is_loss=bool(lost) and len(good) >= STABLE_AFTER,
    )


def _walk(value: object, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_PAYLOAD_DEPTH:
        return
    if isinstance(value, dict) and value:
        for key, child in value.items():
            name = "*" if _NUMBER.fullmatch(key) else key
            step = f"{path}.{name}" if path else name
            yield step
            yield from _walk(child, step, depth + 1)
    elif isinstance(value, list) and value:
        for child in value[:MAX_LIST_ENTRIES]:
            yield from _walk(child, f"{path}[]", depth + 1)
    elif path and not path.endswith("[]") and (value is None or isinstance(value, list | dict)):
        yield f"{path}?"


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths}


def _empty_keys(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths if path.endswith("?")}


def _is_below(path: str, tops: AbstractSet[str]) -> bool:
    return any(path.startswith((f"{top}.", f"{top}[]")) for top in tops)


def _tops(paths: Iterable[str]) -> tuple[str, ...]:
    """Drop paths below another path of the list: one lost object is one line."""
    all_paths = set(paths)
    return tuple(path for path in sorted(all_paths) if not _is_below(path, all_paths - {path}))
