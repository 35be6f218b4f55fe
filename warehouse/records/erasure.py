"""Salted marks of accounts that were erased: enough to know them again, nothing to find them by.

Pure. Not here: erasing (`warehouse.maintenance.erasure`), what a capture does with a mark.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

REASON = "erased"
"""The platform's own word stands here otherwise: the work was erased here and is not read again."""


_TOKEN = re.compile(rb"[0-9A-Za-z_-]{6,200}")
"""What an id of the platform looks like, whatever stands around it."""


def mark_of(salt: str, name: str) -> str:
    """The mark of an id under a salt."""
    return hmac.new(salt.encode(), name.encode(), "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Marks:
    """Every mark of a world, by its salt. Ids of accounts and works are marked alike."""

    by_salt: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_salt)

    def hold(self, *names: str | None) -> bool:
        """True when any of these ids was erased."""
        return any(
            mark_of(salt, name) in marks
            for salt, marks in self.by_salt.items()
            for name in names
            if name
        )

    def occur_in(self, body: bytes) -> bool:
        """True when a body names anything that was erased; about 2 µs per word and salt."""
        return bool(self) and self.hold(*(word.decode() for word in set(_TOKEN.findall(body))))


def gathered(rows: Iterable[tuple[str, Iterable[str]]]) -> Marks:
    """Marks of several erasures."""
    found: dict[str, set[str]] = {}
    for salt, marks in rows:
        found.setdefault(salt, set()).update(marks)
    return Marks({salt: frozenset(marks) for salt, marks in found.items()})
