"""Rate limits and daily budgets of upstream hosts, shared by all processes.

One token bucket per host, and pauses that a host asked for. The arithmetic is in `token_bucket`.
"""

from datetime import UTC, datetime

from sqlalchemy import Executable, func, select, update

from warehouse.control.database import Database, first_or_created
from warehouse.control.hosts.token_bucket import Bucket, full_bucket, take
from warehouse.control.records import TokenGrant
from warehouse.control.schema import HOSTS


class HostBudgetRows:
    """Rate limits of upstream hosts in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_token(
        self, host: str, *, rate_per_s: float, burst: float, daily_budget: int
    ) -> TokenGrant:
        """Reserve one request to a host: all processes together stay below `rate_per_s`."""
        row = HOSTS.c.host == host
        with self._database.writing() as connection:
            # Read under the lock: after a wait for it, an earlier time would refill too little.
            now = self._database.now()
            columns = (HOSTS.c.tokens, HOSTS.c.filled_at, HOSTS.c.day, HOSTS.c.spent)
            found = first_or_created(
                connection,
                select(*columns).where(row).with_for_update(),
                lambda: self._new_host(host, full_bucket(now, burst=burst)),
            )
            after, grant = take(
                Bucket(**found._mapping),  # noqa: SLF001  # public in spite of its name
                now,
                rate_per_s=rate_per_s,
                burst=burst,
                daily_budget=daily_budget,
            )
            connection.execute(update(HOSTS).where(row).values(_columns(after)))
            return grant

    def pause_host(self, host: str, until: datetime) -> None:
        """Pause all requests to a host until this time. A longer pause is kept."""
        moment = until.timestamp()
        with self._database.writing() as connection:
            first_or_created(
                connection,
                select(HOSTS.c.host).where(HOSTS.c.host == host),
                lambda: self._new_host(host, full_bucket(self._database.now(), burst=1)),
            )
            longer = func.coalesce(HOSTS.c.paused_until, 0) < moment
            connection.execute(
                update(HOSTS).where(HOSTS.c.host == host, longer).values(paused_until=moment)
            )

    def host_paused_until(self, host: str) -> datetime | None:
        """Return until when a host is paused, or None if it is not."""
        query = select(HOSTS.c.paused_until).where(HOSTS.c.host == host)
        with self._database.reading() as connection:
            moment = connection.execute(query).scalar()
        if moment is None or moment <= self._database.now():
            return None
        return datetime.fromtimestamp(moment, UTC)

    def spent_today(self) -> dict[str, int]:
        """Return today's requests (UTC) per host; hosts without requests are absent."""
        today = full_bucket(self._database.now(), burst=1).day
        query = select(HOSTS.c.host, HOSTS.c.spent).where(HOSTS.c.day == today, HOSTS.c.spent > 0)
        with self._database.reading() as connection:
            return {row.host: row.spent for row in connection.execute(query.order_by(HOSTS.c.host))}

    def _new_host(self, host: str, bucket: Bucket) -> Executable:
        values = {"host": host, **_columns(bucket)}
        return self._database.insert(HOSTS).values(values).on_conflict_do_nothing()


def _columns(bucket: Bucket) -> dict[str, float]:
    return {
        "tokens": bucket.tokens,
        "filled_at": bucket.filled_at,
        "day": bucket.day,
        "spent": bucket.spent,
    }
