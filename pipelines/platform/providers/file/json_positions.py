"""Finds the line of a value in a JSON text, given its path of keys and indexes. Pure.

Validators report a path; users need the line.
"""

import re
from collections.abc import Sequence
from json import JSONDecoder

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


def find_line(text: str, path: Sequence[str | int]) -> int:
    """Return the line (from 1) of the value at a path, or of its last existing part."""
    return text.count("\n", 0, _find(text, path)) + 1


def _find(text: str, path: Sequence[str | int]) -> int:
    at = _skip(text, 0)
    for step in path:
        inner = _member(text, at, step) if isinstance(step, str) else _element(text, at, step)
        if inner is None:
            return at
        at = inner
    return at


def _member(text: str, at: int, key: str) -> int | None:
    """Return the offset of a key's value in the object that begins at `at`."""
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            return at
        at = _after(text, at)
    return None


def _element(text: str, at: int, index: int) -> int | None:
    """Return the offset of an element in the array that begins at `at`."""
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _after(text, at)
    return at


def _after(text: str, at: int) -> int:
    """Return the offset of the next member or element after the value at `at`."""
    _, end = _DECODER.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end] == "," else end


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
