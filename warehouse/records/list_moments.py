"""The moments that a sorted list is as of, in the unit in which cursors hold them."""

from datetime import UTC, datetime, timedelta

TICK = timedelta(milliseconds=16)
SEQUENCES_AT_MOMENT = 1 << 10
"""A captured page at a moment is told by its sequence number modulo this, and the moment."""

_TICKS_FROM = datetime(2020, 1, 1, tzinfo=UTC)


def to_ticks(at: datetime) -> int:
    """Return the number of the tick that a time lies in."""
    return -(-(at - _TICKS_FROM) // TICK)


def to_moment(ticks: int) -> datetime:
    """Return the end of a tick."""
    return _TICKS_FROM + ticks * TICK
