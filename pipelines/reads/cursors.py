"""Pagination cursors over a union of observations, and within a page of the source.

A cursor is an integer: the sequence number of the capture at which pagination began, times 2^20,
plus the offset. All pages therefore show the union as of that capture, whatever is captured
meanwhile. Below 2^20 it is an offset into the newest state. Not here: the sort order.
"""

from dataclasses import dataclass

OFFSETS = 1 << 20
"""Maximum offset in a union; real unions are far smaller."""

PLATFORM_CURSORS_FROM = 1 << 39
"""From here on (in milliseconds: mid-1987) a cursor of posts is the platform's own: all its posts
are younger, and no account is captured half a million times. Below 2^20 it is the platform's, too.
"""


@dataclass(frozen=True, slots=True)
class PagePosition:
    """The start of a page; `sequence` is None for the newest state."""

    sequence: int | None
    offset: int

    def after(self, count: int, *, as_of: int) -> int:
        """Return the cursor of the next page, after `count` items, as of capture `as_of`."""
        return as_of * OFFSETS + min(self.offset + count, OFFSETS - 1)


def parse_cursor(cursor: int) -> PagePosition:
    """Parse a cursor over a union.

    Raises:
        ValueError: The cursor is negative.
    """
    if cursor < 0:
        raise ValueError("a cursor is not negative")
    if cursor < OFFSETS:
        return PagePosition(None, cursor)
    return PagePosition(*divmod(cursor, OFFSETS))


def parse_page_cursor(cursor: int) -> PagePosition | None:
    """Parse a cursor within a captured page of posts; None if it is the platform's own cursor."""
    if OFFSETS <= cursor < PLATFORM_CURSORS_FROM:
        return parse_cursor(cursor)
    return None
