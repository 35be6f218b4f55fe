"""Freshness of observations. Pure; the limits are settings."""

from datetime import datetime, timedelta


def fresh_until(observed_at: datetime | None, ttl_s: float) -> datetime | None:
    """Return when an observation expires; None if there is none."""
    return None if observed_at is None else observed_at + timedelta(seconds=ttl_s)


def is_fresh(observed_at: datetime | None, *, now: datetime, ttl_s: float) -> bool:
    """Return True if an observation is younger than `ttl_s`.

    One slightly later than `now` was made meanwhile and is fresh; one much later is from before the
    clock was set back, and is not.
    """
    return observed_at is not None and abs((now - observed_at).total_seconds()) < ttl_s
