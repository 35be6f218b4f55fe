"""Cursors over a union of observations, and within a page that a source gave. Pure.

A cursor is a whole number: the sequence of the capture at which a walk began, times 2^20, plus how
far it has come. All pages of a walk thus show the union as of that capture, whatever is captured
meanwhile. Below 2^20 it is an offset into the newest state. The order is the query's business.
"""

from dataclasses import dataclass

OFFSETS = 1 << 20
"""A union is shown up to its so-manieth member; none comes near."""

PLATFORM_CURSORS_FROM = 1 << 39
"""From here on (in milliseconds: mid-1987) a cursor of posts is the platform's own: its posts are
younger, and no account is captured half a million times. Below 2^20 it is the platform's, too.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins. `sequence` None: in the newest state."""

    sequence: int | None
    offset: int

    def after(self, count: int, *, as_of: int) -> int:
        """The cursor of the page after one of so many members of the union as of a capture."""
        return as_of * OFFSETS + min(self.offset + count, OFFSETS - 1)


def read_place(cursor: int) -> Place:
    """The place that a cursor over a union means.

    Raises:
        ValueError: It is negative.
    """
    if cursor < 0:
        raise ValueError("a cursor is not negative")
    if cursor < OFFSETS:
        return Place(None, cursor)
    return Place(*divmod(cursor, OFFSETS))


def read_place_in_page(cursor: int) -> Place | None:
    """The place within a page of posts already captured; None for a cursor of the platform's."""
    if OFFSETS <= cursor < PLATFORM_CURSORS_FROM:
        return read_place(cursor)
    return None
