"""What hosts sent for later requests: cache validators and robots files.

Bodies of responses are in the lake; parsing a robots file is in `pipelines.platform.http.robots`.
"""

from datetime import UTC, datetime
from typing import get_args

from sqlalchemy import delete, select

from warehouse.control.database import Database
from warehouse.control.records import (
    CacheValidators,
    RobotsDecision,
    RobotsVerdict,
    StoredRobotsFile,
)
from warehouse.control.schema import CACHE_VALIDATORS, ROBOTS, ROBOTS_FILES

KEPT_S = 30 * 86_400.0


class HostMemoryRows:
    """Cache validators and robots files in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_validators(self, address: str, answer: CacheValidators) -> None:
        """Store the cache validators of a URL; `address` is a hash of it."""
        now = self._database.now()
        values = {**answer._asdict(), "kept_at": now}
        insert = self._database.insert(CACHE_VALIDATORS).values(address=address, **values)
        with self._database.writing() as connection:
            connection.execute(
                delete(CACHE_VALIDATORS).where(CACHE_VALIDATORS.c.kept_at < now - KEPT_S)
            )
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[CACHE_VALIDATORS.c.address], set_=values
                )
            )

    def read_validators(self, address: str) -> CacheValidators | None:
        """Return the cache validators of a URL, or None."""
        columns = (
            CACHE_VALIDATORS.c.etag,
            CACHE_VALIDATORS.c.last_modified,
            CACHE_VALIDATORS.c.payload_sha256,
        )
        query = select(*columns).where(CACHE_VALIDATORS.c.address == address)
        with self._database.reading() as connection:
            found = connection.execute(query).first()
        return None if found is None else CacheValidators(*found)

    def save_robots_file(self, host: str, *, status: int | None, body: str) -> None:
        """Store the robots file of a host, or that there was no response."""
        values = {"status": status, "body": body, "fetched_at": self._database.now()}
        insert = self._database.insert(ROBOTS_FILES).values(host=host, **values)
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=[ROBOTS_FILES.c.host], set_=values)
            )

    def robots_file(self, host: str, *, max_age_s: float) -> StoredRobotsFile | None:
        """Return the robots file of a host if it is recent enough."""
        oldest = self._database.now() - max_age_s
        query = select(ROBOTS_FILES).where(
            ROBOTS_FILES.c.host == host, ROBOTS_FILES.c.fetched_at > oldest
        )
        with self._database.reading() as connection:
            found = connection.execute(query).first()
        if found is None:
            return None
        return StoredRobotsFile(found.status, found.body or "", _time(found.fetched_at))

    def record_robots(
        self, host: str, surface: str, *, decision: RobotsVerdict, reason: str
    ) -> None:
        """Store what the robots file of a host says about a surface."""
        values = {"decision": decision, "reason": reason, "decided_at": self._database.now()}
        insert = self._database.insert(ROBOTS).values(host=host, surface=surface, **values)
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[ROBOTS.c.host, ROBOTS.c.surface], set_=values
                )
            )

    def robots_decisions(self) -> list[RobotsDecision]:
        """Return all decisions, by host and surface."""
        query = select(ROBOTS).order_by(ROBOTS.c.host, ROBOTS.c.surface)
        with self._database.reading() as connection:
            return [
                RobotsDecision(
                    row.host, row.surface, _verdict(row.decision), row.reason, _time(row.decided_at)
                )
                for row in connection.execute(query)
            ]


def _verdict(word: str) -> RobotsVerdict:
    known: tuple[RobotsVerdict, ...] = get_args(RobotsVerdict)
    return next((verdict for verdict in known if verdict == word), "unknown")


def _time(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC)
