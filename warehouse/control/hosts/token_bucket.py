"""Token bucket and daily budget of one upstream host.

A token may be taken in advance: the caller waits until it would have been available. Waiting
processes therefore queue up, instead of all waking for the same token.
"""

from dataclasses import dataclass, replace

from warehouse.control.records import TokenGrant

DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """State of one host: `tokens` at `filled_at`, `spent` requests on `day`.

    Negative `tokens` are reserved in advance. Times are Unix seconds, `day` is days since the epoch
    (UTC).
    """

    tokens: float
    filled_at: float
    day: int
    spent: int


def full_bucket(now: float, *, burst: float) -> Bucket:
    """Return the bucket of a host without any request so far."""
    return Bucket(tokens=burst, filled_at=now, day=int(now // DAY_S), spent=0)


def take(
    bucket: Bucket, now: float, *, rate_per_s: float, burst: float, daily_budget: int
) -> tuple[Bucket, TokenGrant]:
    """Take one token, or none if the day's budget is used up."""
    now = max(now, bucket.filled_at)  # the clock of another machine may be ahead
    today = int(now // DAY_S)
    spent = bucket.spent if today == bucket.day else 0
    if spent >= daily_budget:
        return bucket, TokenGrant(wait_s=(today + 1) * DAY_S - now, spent=True)
    gained = (now - bucket.filled_at) * rate_per_s
    tokens = min(burst, bucket.tokens + gained) - 1
    after = replace(bucket, tokens=tokens, filled_at=now, day=today, spent=spent + 1)
    return after, TokenGrant(wait_s=max(0.0, -tokens / rate_per_s), spent=False)
