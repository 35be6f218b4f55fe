"""What hosts sent for later requests: cache validators and robots files.

Bodies of responses are in the lake; parsing a robots file is in `pipelines.platform.http.robots`.
"""

from datetime import UTC, datetime
from typing import get_args

from sqlalchemy import delete, select

from warehouse.control.database import StoreRows
from warehouse.control.records import (
    CacheValidators,
    RobotsDecision,
    RobotsVerdict,
    StoredRobotsFile,
)
from warehouse.control.schema import CACHE_VALIDATORS, ROBOTS, ROBOTS_FILES

KEPT_S = 30 * 86_400.0


class HostMemoryRows(StoreRows):
    """Cache validators and robots files in the control store."""

    def save_validators(self, address: str, answer: CacheValidators) -> None:
        """Store the cache validators of a URL; `address` is a hash of it."""
        now = self._database.now()
        values = {"address": address, **answer._asdict(), "kept_at": now}
        old = delete(CACHE_VALIDATORS).where(CACHE_VALIDATORS.c.kept_at < now - KEPT_S)
        with self._database.writing() as connection:
            connection.execute(old)
            connection.execute(self._database.upsert(CACHE_VALIDATORS, values))

    def read_validators(self, address: str) -> CacheValidators | None:
        """Return the cache validators of a URL, or None."""
        columns = (
            CACHE_VALIDATORS.c.etag,
            CACHE_VALIDATORS.c.last_modified,
            CACHE_VALIDATORS.c.payload_sha256,
        )
        query = select(*columns).where(CACHE_VALIDATORS.c.address == address)
        found = self._database.first(query)
        return None if found is None else CacheValidators(*found)

    def save_robots_file(self, host: str, *, status: int | None, body: str) -> None:
        """Store the robots file of a host, or that there was no response."""
        now = self._database.now()
        values = {"host": host, "status": status, "body": body, "fetched_at": now}
        self._database.write(self._database.upsert(ROBOTS_FILES, values))

    def robots_file(self, host: str, *, max_age_s: float) -> StoredRobotsFile | None:
        """Return the robots file of a host if it is recent enough."""
        oldest = self._database.now() - max_age_s
        query = select(ROBOTS_FILES).where(
            ROBOTS_FILES.c.host == host, ROBOTS_FILES.c.fetched_at > oldest
        )
        found = self._database.first(query)
        if found is None:
            return None
        return StoredRobotsFile(found.status, found.body or "", _time(found.fetched_at))

    def record_robots(
        self, host: str, surface: str, *, decision: RobotsVerdict, reason: str
    ) -> None:
        """Store what the robots file of a host says about a surface."""
        values = {
            "host": host,
            "surface": surface,
            "decision": decision,
            "reason": reason,
            "decided_at": self._database.now(),
        }
        self._database.write(self._database.upsert(ROBOTS, values))

    def robots_decisions(self) -> list[RobotsDecision]:
        """Return all decisions, by host and surface."""
        query = select(ROBOTS).order_by(ROBOTS.c.host, ROBOTS.c.surface)
        return [
            RobotsDecision(
                row.host, row.surface, _verdict(row.decision), row.reason, _time(row.decided_at)
            )
            for row in self._database.read(query)
        ]


def _verdict(word: str) -> RobotsVerdict:
    known: tuple[RobotsVerdict, ...] = get_args(RobotsVerdict)
    return next((verdict for verdict in known if verdict == word), "unknown")


def _time(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC)
