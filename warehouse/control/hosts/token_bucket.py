"""The token bucket and daily budget of one upstream host. Pure.

A token may be taken before it is there: whoever takes it waits until it would have been. So
waiting processes stand in a line, instead of all waking for the same token.
"""

from dataclasses import dataclass, replace

from warehouse.control.records import Grant

DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """State of one host: `tokens` (negative: promised) at `filled_at`, `spent` requests on `day`.

    Times are unix seconds, `day` is days since the epoch (UTC).
    """

    tokens: float
    filled_at: float
    day: int
    spent: int


def full_bucket(now: float, *, burst: float) -> Bucket:
    """The bucket of a host never asked before."""
    return Bucket(tokens=burst, filled_at=now, day=int(now // DAY_S), spent=0)


def take(
    bucket: Bucket, now: float, *, rate_per_s: float, burst: float, daily_budget: int
) -> tuple[Bucket, Grant]:
    """Take one token, or none when the day's budget is spent."""
    now = max(now, bucket.filled_at)  # another machine's clock may be a little ahead
    today = int(now // DAY_S)
    spent = bucket.spent if today == bucket.day else 0
    if spent >= daily_budget:
        return bucket, Grant(wait_s=(today + 1) * DAY_S - now, spent=True)
    gained = (now - bucket.filled_at) * rate_per_s
    tokens = min(burst, bucket.tokens + gained) - 1
    after = replace(bucket, tokens=tokens, filled_at=now, day=today, spent=spent + 1)
    return after, Grant(wait_s=max(0.0, -tokens / rate_per_s), spent=False)
