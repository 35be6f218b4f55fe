"""How long what was observed serves a request. Pure; the numbers are settings."""

from datetime import datetime, timedelta


def serves_until(observed_at: datetime | None, ttl_s: float) -> datetime | None:
    """Until when an observation serves; None where there is none."""
    return None if observed_at is None else observed_at + timedelta(seconds=ttl_s)


def is_fresh(observed_at: datetime | None, *, now: datetime, ttl_s: float) -> bool:
    """True while an observation serves. One a little later than `now` was made meanwhile; one much
    later is of a clock that was set back since.
    """
    return observed_at is not None and abs((now - observed_at).total_seconds()) < ttl_s
