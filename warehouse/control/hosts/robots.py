"""Robots files of hosts and what they say; they are parsed in `pipelines.platform.http.robots`."""

from datetime import UTC, datetime
from typing import Literal, NamedTuple, get_args

from sqlalchemy import select

from warehouse.control.database import ControlStore
from warehouse.control.schema import ROBOTS, ROBOTS_FILES

RobotsVerdict = Literal["allowed", "disallowed", "unknown"]
_VERDICTS: tuple[RobotsVerdict, ...] = get_args(RobotsVerdict)


class StoredRobotsFile(NamedTuple):
    """The robots file of a host. `status` None: no response; `body` is empty if there is none."""

    status: int | None
    body: str
    fetched_at: datetime


class RobotsDecision(NamedTuple):
    """What the robots file of a host says about a surface."""

    host: str
    surface: str
    decision: RobotsVerdict
    reason: str
    decided_at: datetime


def save_file(control: ControlStore, host: str, *, status: int | None, body: str) -> None:
    """Store the robots file of a host, or that there was no response."""
    now = control.now()
    values = {"host": host, "status": status, "body": body, "fetched_at": now}
    with control.write() as connection:
        connection.execute(control.upsert(ROBOTS_FILES, values))


def read_file(control: ControlStore, host: str, *, max_age_s: float) -> StoredRobotsFile | None:
    """Return the robots file of a host if it is recent enough."""
    oldest = control.now() - max_age_s
    query = select(ROBOTS_FILES).where(
        ROBOTS_FILES.c.host == host, ROBOTS_FILES.c.fetched_at > oldest
    )
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None:
        return None
    return StoredRobotsFile(row.status, row.body or "", datetime.fromtimestamp(row.fetched_at, UTC))


def record_decision(
    control: ControlStore, host: str, surface: str, *, decision: RobotsVerdict, reason: str
) -> None:
    """Store what the robots file of a host says about a surface."""
    values = {
        "host": host,
        "surface": surface,
        "decision": decision,
        "reason": reason,
        "decided_at": control.now(),
    }
    with control.write() as connection:
        connection.execute(control.upsert(ROBOTS, values))


def decisions(control: ControlStore) -> list[RobotsDecision]:
    """Return all decisions, by host and surface."""
    query = select(ROBOTS).order_by(ROBOTS.c.host, ROBOTS.c.surface)
    with control.read() as connection:
        return [
            RobotsDecision(
                row.host,
                row.surface,
                # A verdict of a newer release is unknown to this one.
                row.decision if row.decision in _VERDICTS else "unknown",
                row.reason,
                datetime.fromtimestamp(row.decided_at, UTC),
            )
            for row in connection.execute(query)
        ]
