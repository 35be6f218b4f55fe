"""Pagination cursors over a union of observations, and within a page of the source.

A cursor is an integer: the sequence number of the capture at which pagination began, times 2^20,
plus the offset. All pages therefore show the union as of that capture, whatever is captured
meanwhile. Below 2^20 it is an offset into the newest state. Not here: the sort order.

A sorted list shows what is known of its videos when pagination begins, which may be more than its
newest capture knew: their details. Its cursors therefore hold a moment instead of a capture: its
tick (16 ms) times 2^16, plus the offset, beyond all cursors that hold a capture. All pages are as
of that moment. Until 2054 they stay below 2^53, the largest integer that a browser reads exactly.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from warehouse.records.times import SEQUENCES_AT_MOMENT, to_moment, to_ticks

OFFSETS = 1 << 20
"""Maximum offset in a union; real unions are far smaller."""

PLATFORM_CURSORS_FROM = 1 << 39
"""From here on (in milliseconds: mid-1987) a cursor of posts is the platform's own: all its posts
are younger, and no account is captured half a million times. Below 2^20 it is the platform's, too.
"""

MOMENTS_FROM = (1 << 52) + OFFSETS
"""From here on a cursor holds a moment. The platform's own, in milliseconds, stay far below."""

OFFSETS_AT_MOMENT = 1 << 16
"""Maximum offset in a union as of a moment."""

_CLOCK_SKEW = timedelta(minutes=10)
_OFFSETS_IN_PAGE = OFFSETS_AT_MOMENT // SEQUENCES_AT_MOMENT


@dataclass(frozen=True, slots=True)
class PagePosition:
    """The start of a page: as of a capture, as of a moment, or of the newest state."""

    sequence: int | None
    offset: int
    at: datetime | None = None

    @property
    def is_newest(self) -> bool:
        """True if pagination begins here."""
        return self.sequence is None and self.at is None

    def after(self, count: int, *, as_of: int, at: datetime | None = None) -> int:
        """Return the cursor of the next page of a union, after `count` items.

        `at`: the moment of a sorted union, otherwise it is as of the capture `as_of`.
        """
        if at is None:
            return as_of * OFFSETS + min(self.offset + count, OFFSETS - 1)
        offset = min(self.offset + count, OFFSETS_AT_MOMENT - 1)
        return MOMENTS_FROM + to_ticks(at) * OFFSETS_AT_MOMENT + offset

    def after_in_page(self, count: int, *, sequence: int, at: datetime | None) -> int:
        """Return the cursor of the rest of a captured page; `at`: the moment of a sorted one."""
        if at is None:
            return self.after(count, as_of=sequence)
        page = to_ticks(at) * SEQUENCES_AT_MOMENT + sequence % SEQUENCES_AT_MOMENT
        offset = min(self.offset + count, _OFFSETS_IN_PAGE - 1)
        return MOMENTS_FROM + page * _OFFSETS_IN_PAGE + offset


def parse_cursor(cursor: int) -> PagePosition:
    """Parse a cursor over a union.

    Raises:
        ValueError: The cursor is negative, or of a moment that is still to come.
    """
    if cursor < 0:
        raise ValueError("a cursor is not negative")
    if cursor < OFFSETS:
        return PagePosition(None, cursor)
    if cursor < MOMENTS_FROM:
        return PagePosition(*divmod(cursor, OFFSETS))
    ticks, offset = divmod(cursor - MOMENTS_FROM, OFFSETS_AT_MOMENT)
    return PagePosition(None, offset, at=_moment(ticks))


def parse_page_cursor(cursor: int) -> PagePosition | None:
    """Parse a cursor within a captured page of posts; None if it is the platform's own cursor.

    As of a moment, `sequence` is the capture's number modulo `SEQUENCES_AT_MOMENT`.

    Raises:
        ValueError: It is of a moment that is still to come.
    """
    if OFFSETS <= cursor < PLATFORM_CURSORS_FROM:
        return parse_cursor(cursor)
    if cursor < MOMENTS_FROM:
        return None
    page, offset = divmod(cursor - MOMENTS_FROM, _OFFSETS_IN_PAGE)
    ticks, sequence = divmod(page, SEQUENCES_AT_MOMENT)
    return PagePosition(sequence, offset, at=_moment(ticks))


def _moment(ticks: int) -> datetime:
    at = to_moment(ticks)
    if at > datetime.now(UTC) + _CLOCK_SKEW:
        raise ValueError("no walk has begun so late")
    return at
