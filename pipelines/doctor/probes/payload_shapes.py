"""The shape of a payload as its key paths, and how it differs from good answers before. Pure.

A path is written `aweme_list[].statistics.digg_count`; names that are numbers become `*`. A path
that ends in `?` is there, but holds nothing (null, an empty list or object), so nothing can be
said of what lies below it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

LOOKED_AT = 30  # entries of one list; a page has about twenty
DEEPEST = 10
MOST_PATHS = 800
STABLE_AFTER = 3
"""A key is stable once so many good answers in a row had it."""
_NUMBER = re.compile(r"[0-9]{3,}")


@dataclass(frozen=True, slots=True)
class Change:
    """Key paths that are new, and that are missing. `is_loss`: a stable one is missing."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    is_loss: bool = False


def key_paths(payload: object) -> tuple[str, ...]:
    """The key paths of a decoded JSON payload, sorted; an empty tuple where it has no keys."""
    found: set[str] = set()
    for path in _walk(payload, "", 0):
        found.add(path)
        if len(found) >= MOST_PATHS:
            break
    return tuple(sorted(path for path in found if not _is_refuted(path, found)))


def fingerprint(paths: Iterable[str]) -> str:
    """A short name of a shape: equal shapes have equal ones."""
    text = "\n".join(sorted(paths))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def change_since(now: Sequence[str], good: Sequence[Sequence[str]]) -> Change:
    """What came and went against good answers, newest first.

    A key came when no good answer had it, and went when every good answer had it. What lies below
    a key that holds nothing is not judged.
    """
    if not good or not now:
        return Change()
    known = [_names(paths) for paths in good]
    here, hollow = _names(now), _hollow(now)
    once_hollow = set().union(*map(_hollow, good))
    came = here - set().union(*known)
    went = set.intersection(*known) - here
    gone = _tops(path for path in went if not _is_below(path, hollow))
    return Change(
        came=_tops(path for path in came if not _is_below(path, once_hollow)),
        went=gone,
        is_loss=bool(gone) and len(good) >= STABLE_AFTER,
    )


def _walk(value: object, path: str, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict) and value:
        for key, below in value.items():
            name = "*" if _NUMBER.fullmatch(key) else key
            step = f"{path}.{name}" if path else name
            yield step
            yield from _walk(below, step, depth + 1)
    elif isinstance(value, list) and value:
        for below in value[:LOOKED_AT]:
            yield from _walk(below, f"{path}[]", depth + 1)
    elif path and not path.endswith("[]") and (value is None or isinstance(value, list | dict)):
        yield f"{path}?"


def _is_refuted(path: str, found: AbstractSet[str]) -> bool:
    """`music?` beside `music`: drop the plain one, unless another item shows what lies below."""
    below = (f"{path.rstrip('?')}.", f"{path.rstrip('?')}[]")
    has_below = any(other.startswith(below) for other in found)
    return has_below if path.endswith("?") else f"{path}?" in found and not has_below


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths}


def _hollow(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths if path.endswith("?")}


def _is_below(path: str, tops: AbstractSet[str]) -> bool:
    return any(path.startswith((f"{top}.", f"{top}[]")) for top in tops)


def _tops(paths: Iterable[str]) -> tuple[str, ...]:
    """Without what lies below another path of the list: one lost object is one line."""
    chosen = sorted(paths)
    every = set(chosen)
    return tuple(path for path in chosen if not _is_below(path, every - {path}))
