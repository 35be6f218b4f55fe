"""Rate limits and daily budgets of upstream hosts, shared by all processes.

One token bucket per host, and pauses that a host requested. A token may be taken in advance: the
caller waits until it would have been available. Waiting processes therefore queue up, instead of
all waking for the same token.
"""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import func, select, update

from warehouse.control.database import ControlStore
from warehouse.control.schema import HOSTS

DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """Permission for one request: wait `wait_s` seconds, then send it.

    `spent`: the daily budget is used up, no request is granted, and `wait_s` is the time until the
    next day (UTC).
    """

    wait_s: float
    spent: bool


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
    """Take one token, unless the day's budget is used up."""
    now = max(now, bucket.filled_at)  # the clock of another machine may be ahead
    today = int(now // DAY_S)
    spent = bucket.spent if today == bucket.day else 0
    if spent >= daily_budget:
        return bucket, TokenGrant(wait_s=(today + 1) * DAY_S - now, spent=True)
    # A bucket below zero owes tokens: the caller waits until they are refilled.
    gained = (now - bucket.filled_at) * rate_per_s
    tokens = min(burst, bucket.tokens + gained) - 1
    after = replace(bucket, tokens=tokens, filled_at=now, day=today, spent=spent + 1)
    return after, TokenGrant(wait_s=max(0.0, -tokens / rate_per_s), spent=False)


def take_token(
    control: ControlStore, host: str, *, rate_per_s: float, burst: float, daily_budget: int
) -> TokenGrant:
    """Reserve one request to a host: all processes together stay below `rate_per_s`."""
    row = HOSTS.c.host == host
    with control.write() as connection:
        # Read under the lock: after a wait for it, an earlier time would refill too little.
        now = control.now()
        columns = (HOSTS.c.tokens, HOSTS.c.filled_at, HOSTS.c.day, HOSTS.c.spent)
        query = select(*columns).where(row).with_for_update()
        new = {"host": host, **asdict(full_bucket(now, burst=burst))}
        bucket = control.first_or_created(connection, query, HOSTS, new)
        after, grant = take(
            Bucket(**bucket._asdict()),
            now,
            rate_per_s=rate_per_s,
            burst=burst,
            daily_budget=daily_budget,
        )
        connection.execute(update(HOSTS).where(row).values(asdict(after)))
        return grant


def pause(control: ControlStore, host: str, until: datetime) -> None:
    """Pause all requests to a host until this time. A longer pause is kept."""
    moment = until.timestamp()
    row = HOSTS.c.host == host
    new = {"host": host, **asdict(full_bucket(control.now(), burst=1))}
    is_longer = func.coalesce(HOSTS.c.paused_until, 0) < moment
    with control.write() as connection:
        control.first_or_created(connection, select(HOSTS.c.host).where(row), HOSTS, new)
        connection.execute(update(HOSTS).where(row, is_longer).values(paused_until=moment))


def paused_until(control: ControlStore, host: str) -> datetime | None:
    """Return until when a host is paused, or None if it is not."""
    query = select(HOSTS.c.paused_until).where(HOSTS.c.host == host)
    with control.read() as connection:
        moment = connection.execute(query).scalar()
    if moment is None or moment <= control.now():
        return None
    return datetime.fromtimestamp(moment, UTC)


def spent_today(control: ControlStore) -> dict[str, int]:
    """Return today's requests (UTC) per host; hosts without requests are absent."""
    today = full_bucket(control.now(), burst=1).day
    query = select(HOSTS.c.host, HOSTS.c.spent).where(HOSTS.c.day == today, HOSTS.c.spent > 0)
    with control.read() as connection:
        return {row.host: row.spent for row in connection.execute(query.order_by(HOSTS.c.host))}
