"""The time that stamps observations: the machine's clock, shifted in the sandbox if requested.

A process works with one profile, so it has one such clock. Only
`pipelines/platform/sandbox_clock.py` sets it. Leases, heartbeats, timeouts and rates use the
machine's clock instead.
"""

from datetime import UTC, datetime, timedelta


class _ObservationClock:
    moved = timedelta()


def observed_now() -> datetime:
    """Return the time of an observation made now, in UTC."""
    return datetime.now(UTC) + _ObservationClock.moved


def shift_observed_time(*, seconds: float) -> None:
    """Shift the time of observations by this many seconds from the machine's clock."""
    _ObservationClock.moved = timedelta(seconds=seconds)
