"""Smaller bodies that a parser reads in the same way: keys it never reads are removed. Pure.

Every removal is tried: it stays only if the result, record or error, is equal to the one before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KEPT_ENTRIES = 2
"""Entries kept of each list; two show that the parser reads more than the first."""
MAX_TRIES = 4000

type Read = Callable[[bytes], object]
type Encode = Callable[[object], bytes]


def minimise(payload: Any, encode: Encode, read: Read) -> bytes:
    """Return the body of the smallest payload found that `read` reads as it reads `payload`.

    Lists are cut to `KEPT_ENTRIES` first; what is read from the shorter lists is the result that
    is preserved then.
    """
    smaller = _with_short_lists(payload)
    if not _is_same_kind(read(encode(smaller)), read(encode(payload))):
        smaller = payload
    _KeyRemoval(smaller, encode, read).run()
    return encode(smaller)


def _with_short_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_short_lists(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_with_short_lists(below) for below in value[:KEPT_ENTRIES]]
    return value


def _is_same_kind(one: object, other: object) -> bool:
    """Return True for two records of one class, or two errors with one text."""
    return one == other if isinstance(one, str) else type(one) is type(other)


@dataclass(slots=True)
class _KeyRemoval:
    """Tries to remove keys, parents first, until nothing is left or too much was tried."""

    payload: Any
    encode: Encode
    read: Read
    tries: int = 0

    def run(self) -> None:
        self._shrink(self.payload, self.read(self.encode(self.payload)))

    def _shrink(self, value: Any, wanted: object) -> None:
        if isinstance(value, dict):
            for key in list(value):
                self._without(value, key, wanted)
        for below in list(value.values() if isinstance(value, dict) else value):
            if isinstance(below, dict | list):
                self._shrink(below, wanted)

    def _without(self, holder: dict[str, Any], key: str, wanted: object) -> None:
        if self.tries >= MAX_TRIES:
            return
        self.tries += 1
        before = dict(holder)
        del holder[key]
        if self.read(self.encode(self.payload)) != wanted:
            holder.clear()
            holder.update(before)  # in the old order
