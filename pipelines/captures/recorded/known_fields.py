"""Completeness of what a parser read: how many of the records know each field. Pure.

Unknown is None or empty; a 0 that a parser let through is a known 0, and no hashtags are known to
be none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

_OF_READING = frozenset({
    "surface", "observed_at", "is_exact", "share_url", "next_position", "local_source",
})  # fmt: skip
"""Fields that we fill in ourselves."""
_WRAPPED = "video"  # a detail is its video and where the sound is


@dataclass(frozen=True, slots=True)
class FieldKnowledge:
    """How many of `total` records know a field; a dot leads to the field of a part."""

    field: str
    known: int
    total: int


def count_records(value: object) -> int:
    """Return how many records a parser read: the entries of a list, else one."""
    return len(_records(value))


def known_fields(value: object) -> tuple[FieldKnowledge, ...]:
    """Return the knowledge of every field of the records in a parser's result."""
    records = _records(value)
    names: dict[str, int] = {}
    for record in records:
        for name, is_known in _knowledge(record, ""):
            names[name] = names.get(name, 0) + is_known
    return tuple(FieldKnowledge(name, known, len(records)) for name, known in names.items())


def completeness(found: Sequence[FieldKnowledge]) -> float | None:
    """Return the share of known values over all fields; None without records."""
    total = sum(entry.total for entry in found)
    return sum(entry.known for entry in found) / total if total else None


def _records(value: object) -> Sequence[object]:
    for name in ("videos", "songs", "issues"):
        entries = getattr(value, name, None)
        if isinstance(entries, tuple | list):
            return entries
    return (value,) if is_dataclass(value) else ()


def _knowledge(record: object, path: str) -> Iterator[tuple[str, bool]]:
    if not is_dataclass(record):
        return
    for one in fields(record):
        value, name = getattr(record, one.name), f"{path}{one.name}"
        if one.name in _OF_READING:
            continue
        if is_dataclass(value):
            yield from _knowledge(value, path if one.name == _WRAPPED else f"{name}.")
        else:
            is_empty = value in ("", ()) and one.name != "hashtags"
            yield name, value is not None and not is_empty
