"""One case: a shape with one to three changes. The same seed and number give the same case."""

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.fuzz.containers import DUPLICATE, to_body, to_document
from tests.platform.shape_answers import PARSERS, Shape, read_index

STRANGE: tuple[Any, ...] = (
    True, False, -1, 0, 1, 3.5, 1e300, 2**53 + 1, "", " ", "x", "0", "-1", "\x00", "1.2w", "1,234",
    "null", "[]", "2025-13-45 00:00:00", "<script>", "\ufffd", [], [None], ["x"], [[]], [{}], {},
    {"url_list": [1]}, {"": {}}, [{"aweme_id": None}], {"status_code": 5},
)  # fmt: skip
HUGE: tuple[Any, ...] = (
    2**63 - 1, 2**63, 2**64 - 1, "9" * 40, "9" * 19, "a" * 100_000, "长" * 20_000, [0] * 5_000,
    {str(number): None for number in range(2_000)}, "1" + "0" * 17 + "亿",
)  # fmt: skip
BYTES = (b"", b"\x00", b"\xff\xfe", b"{", b"}", b"]", b"\r\n0\r\n", b"</script>", b"blocked", b"\\")
MOST_CHANGES = 3
RAW_SHARE = 0.08
"""Part of the cases that change the bytes instead of the document."""


@dataclass(frozen=True, slots=True)
class Case:
    """A changed body. `document` is what was written into it; None where bytes were changed."""

    number: int
    shape: Shape
    body: bytes
    document: Any
    changes: tuple[str, ...]


@cache
def sources() -> tuple[tuple[Shape, Any], ...]:
    """Every shape that a parser reads, with its document."""
    found = [shape for shape in read_index() if shape.level == "body" and shape.parser in PARSERS]
    return tuple((shape, to_document(shape)) for shape in found)


@cache
def sources_of(parser: str | None) -> tuple[tuple[Shape, Any], ...]:
    """The shapes of one parser, or of all of them."""
    return tuple(one for one in sources() if parser in {None, one[0].parser})


@cache
def weights(parser: str | None) -> tuple[int, ...]:
    """Shapes that hold records are the ones that a change can turn into something wrong."""
    return tuple(6 if shape.outcome == "records" else 1 for shape, _ in sources_of(parser))


def to_case(seed: int, number: int, *, parser: str | None = None) -> Case:
    """The case of a number, among all shapes or those of one parser."""
    draw = random.Random(f"{seed}:{number}")
    shape, original = draw.choices(sources_of(parser), weights(parser))[0]
    if original is None or draw.random() < RAW_SHARE:
        body, how = _changed_bytes(shape.body, draw)
        return Case(number, shape, body, None, how)
    document = {"document": copy.deepcopy(original)}  # so that the whole can be changed as well
    changes = tuple(_change(document, draw) for _ in range(draw.randint(1, MOST_CHANGES)))
    changed = document.get("document")
    return Case(number, shape, to_body(shape, changed), changed, changes)


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    level = [node]
    while level:
        container = level.pop()
        keys = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            yield container, key
            if isinstance(container[key], dict | list):
                level.append(container[key])


def _change(document: Any, draw: random.Random) -> str:
    """Change one place; says what was done."""
    every = list(places(document))
    if not every:
        return "nothing left to change"
    container, key = draw.choice(every)
    name, change = draw.choice(_CHANGES)
    change(container, key, draw, every)
    return f"{name} {str(key)[:40]}"


def _gone(container: Any, key: Any, _draw: random.Random, _every: Any) -> None:
    del container[key]


def _null(container: Any, key: Any, _draw: random.Random, _every: Any) -> None:
    container[key] = None


def _strange(container: Any, key: Any, draw: random.Random, _every: Any) -> None:
    container[key] = copy.deepcopy(draw.choice(STRANGE))


def _deeper(container: Any, key: Any, draw: random.Random, _every: Any) -> None:
    for _ in range(draw.choice((1, 1, 2, 40))):
        container[key] = {"data": container[key]} if draw.random() < 0.5 else [container[key]]


def _huge(container: Any, key: Any, draw: random.Random, _every: Any) -> None:
    container[key] = copy.deepcopy(draw.choice(HUGE))


def _twice(container: Any, key: Any, draw: random.Random, _every: Any) -> None:
    """The entry of a list, or the key of an object, once more."""
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    else:
        again = copy.deepcopy(draw.choice((container[key], *STRANGE)))
        container[f"{key}{DUPLICATE}"] = again


def _moved(container: Any, key: Any, draw: random.Random, every: Any) -> None:
    other, name = draw.choice(every)
    container[key] = copy.deepcopy(other[name])


def _renamed(container: Any, key: Any, _draw: random.Random, _every: Any) -> None:
    if isinstance(container, dict):
        container[f"{key}_v2"] = container.pop(key)
    else:
        container[key] = {"item": container[key]}


_Change = Callable[[Any, Any, random.Random, Any], None]
_CHANGES: tuple[tuple[str, _Change], ...] = (
    ("gone", _gone), ("null", _null), ("strange", _strange), ("strange", _strange),
    ("deeper", _deeper), ("huge", _huge), ("twice", _twice), ("moved", _moved),
    ("renamed", _renamed),
)  # fmt: skip


def _changed_bytes(body: bytes, draw: random.Random) -> tuple[bytes, tuple[str, ...]]:
    how = draw.choice(("cut off", "insert", "overwrite", "repeat"))
    at = draw.randint(0, len(body))
    if how == "cut off":
        return body[:at], (how,)
    if how == "repeat":
        return body + body[at:], (how,)
    odd = draw.choice(BYTES) + bytes(draw.randrange(256) for _ in range(draw.randint(0, 4)))
    end = at + (len(odd) if how == "overwrite" else 0)
    return body[:at] + odd + body[end:], (how,)
