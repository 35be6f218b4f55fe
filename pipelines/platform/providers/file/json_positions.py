"""Where in a JSON text a value stands: the line of a path of keys and indexes. Pure.

Validators name the path of what is wrong; a person wants the line.
"""

import re
from collections.abc import Sequence
from json import JSONDecoder

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


def find_line(text: str, path: Sequence[str | int]) -> int:
    """Line, from 1, of the value at a path in valid JSON; of the last part that is there."""
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
    """Where the value of a key begins, in the object that begins at `at`."""
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
    """Where an element begins, in the array that begins at `at`."""
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _after(text, at)
    return at


def _after(text: str, at: int) -> int:
    """Where the next member or element begins, behind the value at `at` and its comma."""
    _, end = _DECODER.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end] == "," else end


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
