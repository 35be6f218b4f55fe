"""Typed reading of decoded JSON: absent is None, another type than known is a named error.

Nothing is guessed: ids become text, a float is never an id, a bool is never a number.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from warehouse.records.errors import StructureChangedError

LARGEST = 2**63 - 1
MAX_ID_LENGTH = 30
_KEYS_SHOWN = 24
_KEY_LENGTH_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON object, with where it stands. `values` is as decoded."""

    values: dict[str, object]
    surface: str
    path: str

    def has(self, key: str) -> bool:
        """True when the key is there, null included."""
        return key in self.values

    def node(self, key: str) -> "Node | None":
        """The object under a key; None when absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.changed(key, value)
        return Node(value, self.surface, f"{self.path}.{key}")

    def must_node(self, key: str) -> "Node":
        """The object under a key.

        Raises:
            StructureChangedError: It is absent, null or something else.
        """
        found = self.node(key)
        if found is None:
            raise self.missing(key)
        return found

    def nodes(self, key: str) -> Iterator["Node"]:
        """The objects of a list; nothing when absent or null."""
        for position, value in enumerate(self.items(key)):
            if not isinstance(value, dict):
                raise self.changed(f"{key}[{position}]", value)
            yield Node(value, self.surface, f"{self.path}.{key}[{position}]")

    def items(self, key: str) -> list[object]:
        """A list as decoded; empty when absent or null."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.changed(key, value)
        return value

    def text(self, key: str) -> str | None:
        """A text; None when absent or null. An empty text stays empty."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self.changed(key, value)

    def name(self, key: str) -> str | None:
        """A text that is None when empty: an empty name is no name."""
        return self.text(key) or None

    def id(self, key: str) -> str | None:
        """An id as text, from a text or a whole number; None when absent, null, empty or 0."""
        value = self.values.get(key)
        if value is None or value in ("", "0") or (value == 0 and type(value) is int):
            return None
        text = str(value) if type(value) is int else value
        if isinstance(text, str) and len(text) <= MAX_ID_LENGTH and _is_digits(text):
            return text
        raise self.changed(key, value)

    def must_id(self, key: str) -> str:
        """An id that must be there.

        Raises:
            StructureChangedError: It is absent, empty, 0 or no id.
        """
        found = self.id(key)
        if found is None:
            raise self.missing(key)
        return found

    def whole(self, key: str) -> int | None:
        """A whole number that is not negative; None when absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if type(value) is not int or not 0 <= value <= LARGEST:
            raise self.changed(key, value)
        return value

    def flag(self, key: str) -> bool | None:
        """A truth value, also written 0 or 1; None when absent or null."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        if type(value) is int and value in (0, 1):
            return bool(value)
        raise self.changed(key, value)

    def missing(self, key: str) -> StructureChangedError:
        """The error for a required field that is gone, with the keys seen instead."""
        return StructureChangedError(
            f"{self.path}.{key} is missing",
            surface=self.surface,
            reason=f"{self.path} has {self.keys_seen()}",
        )

    def changed(self, key: str, value: object) -> StructureChangedError:
        """The error for a field of another type than known."""
        return StructureChangedError(
            f"{self.path}.{key} is not of the known type or range",
            surface=self.surface,
            reason=f"{self.path}.{key}: {type(value).__name__}",
        )

    def keys_seen(self) -> str:
        """The keys of this object, shortened, for a report."""
        names = [key[:_KEY_LENGTH_SHOWN] for key in list(self.values)[:_KEYS_SHOWN]]
        return ", ".join(names) or "no keys"


def parse_json(body: bytes, *, surface: str) -> Node:
    """Decode a body that must be one JSON object.

    Raises:
        StructureChangedError: It is not.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        raise StructureChangedError(
            "the body is not JSON", surface=surface, reason="not_json"
        ) from exc
    if not isinstance(value, dict):
        raise StructureChangedError(
            "the body is not a JSON object", surface=surface, reason=type(value).__name__
        )
    return Node(value, surface, "$")


def first_address(node: Node | None) -> str | None:
    """The first http(s) address of a `{url_list: [...]}` object; None where it shows none."""
    found = addresses(node)
    return found[0] if found else None


def addresses(node: Node | None) -> tuple[str, ...]:
    """Every http(s) address of a `{url_list: [...]}` object, in its order, without repeats."""
    if node is None:
        return ()
    found: dict[str, None] = {}
    for value in node.items("url_list"):
        if not isinstance(value, str):
            raise node.changed("url_list", value)
        if value.startswith(("https://", "http://")):
            found[value] = None
    return tuple(found)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
