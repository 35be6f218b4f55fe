"""Now, as observations are stamped and aged: the machine's time, or that of a moved stand-in.

A process works in one world, so there is one such clock per process. Nobody sets it but
`pipelines/platform/sandbox_clock.py`, for the stand-in platform alone. Leases, heartbeats, time
limits and rates are of the machine and never ask here.
"""

from datetime import UTC, datetime, timedelta


class _Clock:
    moved = timedelta()


def observed_now() -> datetime:
    """The moment at which something is observed that is seen just now, in UTC."""
    return datetime.now(UTC) + _Clock.moved


def move_observed_time(*, seconds: float) -> None:
    """From now on observations are made so many seconds after the machine's own time."""
    _Clock.moved = timedelta(seconds=seconds)
