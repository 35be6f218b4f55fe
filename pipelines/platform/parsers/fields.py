"""Typed access to decoded JSON: absent is None, an unknown type is a `StructureChangedError`.

Nothing is guessed: ids become text, a float is never an id, a bool is never a number. A count is a
number, or a text that may be rounded ("1.2w").
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from warehouse.records.errors import StructureChangedError
from warehouse.records.values import MAX_COUNT

MAX_INT = 2**63 - 1
MAX_ID_LENGTH = 30
_KEYS_SHOWN = 24
KEY_LENGTH_SHOWN = 40
MAX_TEXT_CHARS = 200_000
MAX_VALUES = 200_000
"""A list of 20 complete videos has 60,000 values; one value may take 200 bytes of memory."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """One JSON object with its path in the document.

    `values` is as decoded: a key is in it even if its value is null.
    """

    values: dict[str, object]
    surface: str
    path: str

    def node(self, key: str) -> "JsonNode | None":
        """Return the object under a key; None when absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.changed(key, value)
        return JsonNode(value, self.surface, f"{self.path}.{key}")

    def must_node(self, key: str) -> "JsonNode":
        """Return the object under a key.

        Raises:
            StructureChangedError: It is absent, null or no object.
        """
        node = self.node(key)
        if node is None:
            raise self.missing(key)
        return node

    def nodes(self, key: str) -> Iterator["JsonNode"]:
        """Yield the objects of a list; none when absent or null."""
        for position, value in enumerate(self.items(key)):
            if not isinstance(value, dict):
                raise self.changed(f"{key}[{position}]", value)
            yield JsonNode(value, self.surface, f"{self.path}.{key}[{position}]")

    def items(self, key: str) -> list[object]:
        """Return a list as decoded; empty when absent or null."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.changed(key, value)
        return value

    def text(self, key: str) -> str | None:
        """Return a text; None when absent or null.

        An empty text stays empty; one of more than `MAX_TEXT_CHARS` characters is refused.
        """
        value = self.values.get(key)
        if value is None or (isinstance(value, str) and len(value) <= MAX_TEXT_CHARS):
            return value
        raise self.changed(key, value)

    def name(self, key: str) -> str | None:
        """Return a text, or None when it is empty: an empty name is no name."""
        return self.text(key) or None

    def id(self, key: str) -> str | None:
        """Return an id as text, such as "7348…"; None when absent, null, empty or 0.

        The platform writes the same id as a number in one document and as a text in another.
        """
        value = self.values.get(key)
        if value is None or value in ("", "0") or (value == 0 and type(value) is int):
            return None
        # `isinstance` would take a boolean for a number; a float has lost digits of an id already.
        text = str(value) if type(value) is int else value
        # `isdigit` alone accepts digits of other scripts.
        is_id = isinstance(text, str) and text.isascii() and text.isdigit()
        if isinstance(text, str) and is_id and len(text) <= MAX_ID_LENGTH:
            return text
        raise self.changed(key, value)

    def must_id(self, key: str) -> str:
        """Return a required id.

        Raises:
            StructureChangedError: It is absent, empty, 0 or no id.
        """
        value = self.id(key)
        if value is None:
            raise self.missing(key)
        return value

    def whole(self, key: str) -> int | None:
        """Return a non-negative integer; None when absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        # `isinstance` would take a boolean for a number.
        if type(value) is not int or not 0 <= value <= MAX_INT:
            raise self.changed(key, value)
        return value

    def flag(self, key: str) -> bool | None:
        """Return a boolean, also from 0 or 1; None when absent or null."""
        # `has_more` is a boolean on some surfaces, and 0 or 1 on others.
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        if type(value) is int and value in (0, 1):
            return bool(value)
        raise self.changed(key, value)

    def missing(self, key: str) -> StructureChangedError:
        """Return the error for a missing required field, with the keys found instead."""
        return StructureChangedError(
            f"{self.path}.{key} is missing",
            surface=self.surface,
            reason=f"{self.path} has {self.keys_seen()}",
        )

    def changed(self, key: str, value: object) -> StructureChangedError:
        """Return the error for a field of an unknown type."""
        return StructureChangedError(
            f"{self.path}.{key} has an unknown type or range",
            surface=self.surface,
            reason=f"{self.path}.{key}: {type(value).__name__}",
        )

    def keys_seen(self) -> str:
        """Return the keys of this object, shortened, for an error text."""
        names = [key[:KEY_LENGTH_SHOWN] for key in list(self.values)[:_KEYS_SHOWN]]
        return ", ".join(names) or "no keys"


_HALVES = re.compile(
    rb"(?:\\\\)++|(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..)++|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Escaped backslashes, whole surrogate pairs, and (the group) half of one."""


def decode_json(body: bytes) -> object:
    """Decode JSON. Half of a surrogate pair, as in a name that was cut within an emoji, is U+FFFD.

    Raises:
        JSONDecodeError: It is no JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # The platform cuts names after so many code units, within an emoji, too.
        whole = _HALVES.sub(lambda m: rb"\ufffd" if m["half"] else m[0], body)
        if whole == body:
            raise
        return orjson.loads(whole)


def join_surrogates(text: str) -> str:
    """Return a text with its surrogate pairs joined; half of a pair becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def refuse_too_many_values(body: bytes, *, surface: str) -> None:
    """Refuse a body whose JSON would take many times its size in memory, before it is decoded.

    The marks that begin values are counted, also in texts: that is an upper bound.

    Raises:
        StructureChangedError: It may hold more than `MAX_VALUES` values.
    """
    if sum(body.count(mark) for mark in (b"{", b"[", b",")) > MAX_VALUES:
        raise StructureChangedError(
            f"the body may hold more than {MAX_VALUES} values",
            surface=surface,
            reason="too_many_values",
        )


def parse_json(body: bytes, *, surface: str) -> JsonNode:
    """Decode a body that must be one JSON object.

    Raises:
        StructureChangedError: It is not.
    """
    refuse_too_many_values(body, surface=surface)
    try:
        value = decode_json(body)
    except orjson.JSONDecodeError as exc:
        raise StructureChangedError(
            "the body is not JSON", surface=surface, reason="not_json"
        ) from exc
    if not isinstance(value, dict):
        raise StructureChangedError(
            "the body is not a JSON object", surface=surface, reason=type(value).__name__
        )
    return JsonNode(value, surface, "$")


def first_address(node: JsonNode | None) -> str | None:
    """Return the first http(s) URL of a `{url_list: [...]}` object, or None."""
    return next(iter(addresses(node)), None)


def first_picture(node: JsonNode, keys: Iterable[str]) -> str | None:
    """Return the first URL under the first of `keys` that has one; None without a URL."""
    return next(filter(None, (first_address(node.node(key)) for key in keys)), None)


def addresses(node: JsonNode | None) -> tuple[str, ...]:
    """Return all http(s) URLs of a `{url_list: [...]}` object, in order, without duplicates."""
    if node is None:
        return ()
    urls: dict[str, None] = {}
    for value in node.items("url_list"):
        if not isinstance(value, str):
            raise node.changed("url_list", value)
        if value.startswith(("https://", "http://")):
            urls[value] = None
    return tuple(urls)


# Counts as pages and the app write them: "1,234", "1.2w", "1.2万", "1亿", "100+".
_COUNT = re.compile(
    r"(?P<whole>[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5})(?:\.(?P<part>[0-9]{1,6}))?"
    r"(?P<unit>[wW万kK千mM亿]?)(?P<more>\+?)",
    re.ASCII,
)
_UNITS = {"": 1, "k": 10**3, "千": 10**3, "w": 10**4, "万": 10**4, "m": 10**6, "亿": 10**8}


class ParsedCount(NamedTuple):
    """A count; `is_exact` is False if it was shown rounded, to steps of `step`.

    "1.2w" has steps of 1,000. The step of an exact count is None, and that of "100+".
    """

    value: int
    is_exact: bool
    step: int | None = None


def read_count(node: JsonNode, key: str) -> ParsedCount | None:
    """Return the count under a key; None when absent, null or an empty text.

    Raises:
        StructureChangedError: It is neither a number up to `MAX_COUNT` nor a text with one.
    """
    value = node.values.get(key)
    if value is None or value == "":
        return None
    # The total of likes of an account may be a text where every other count is a number.
    if not isinstance(value, str):
        whole = node.whole(key) or 0
        count = ParsedCount(whole, is_exact=True) if whole <= MAX_COUNT else None
    else:
        count = parse_count(value)
    if count is None:
        raise node.changed(key, value)
    return count


def parse_count(text: str) -> ParsedCount | None:
    """Parse "1234", "1,234", "1.2w", "1.2万", "1亿" or "100+"; return None for anything else."""
    match = _COUNT.fullmatch(text.strip())
    # A fraction without a unit, such as 1.5, is no count; 1.200 might be a thousand.
    if match is None or (match["part"] and not match["unit"]):
        return None
    factor = _UNITS[match["unit"].lower()]
    part = match["part"] or ""
    value = int(match["whole"].replace(",", "")) * factor
    value += int(part or "0") * factor // 10 ** len(part)
    is_exact = not match["unit"] and not match["more"]
    # "100+" has no upper end, so how far the count is off is unknown.
    step = None if is_exact or match["more"] else max(1, factor // 10 ** len(part))
    return ParsedCount(value, is_exact, step) if value <= MAX_COUNT else None
