"""Leases: names that one process at a time holds, until it releases them or they expire."""

from datetime import datetime

from sqlalchemy import delete, or_, select

from warehouse.control.database import ControlStore
from warehouse.control.schema import LEASES, LINKS, WORKERS

_DAY_S = 86_400


def acquire(control: ControlStore, name: str, owner: str, ttl_s: float) -> bool:
    """Hold `name` exclusively for `ttl_s` seconds, or renew the hold.

    Returns False if another owner holds it.
    """
    now = control.now()
    values = {"name": name, "owner": owner, "expires_at": now + ttl_s}
    is_free = or_(LEASES.c.owner == owner, LEASES.c.expires_at <= now)
    # One statement: of two processes that see the lease free, one gets it.
    lease = control.upsert(LEASES, values, where=is_free)
    with control.write() as connection:
        return connection.execute(lease.returning(LEASES.c.name)).first() is not None


def holder(control: ControlStore, name: str) -> str | None:
    """Return the current holder of `name`, or None."""
    query = select(LEASES.c.owner).where(LEASES.c.name == name, LEASES.c.expires_at > control.now())
    with control.read() as connection:
        owner: str | None = connection.execute(query).scalar()
    return owner


def holders(control: ControlStore, prefix: str) -> dict[str, str]:
    """Return the current holders of all names that begin with a prefix, by name."""
    begins = LEASES.c.name.startswith(prefix, autoescape=True)
    query = select(LEASES.c.name, LEASES.c.owner).where(begins, LEASES.c.expires_at > control.now())
    with control.read() as connection:
        return {row.name: row.owner for row in connection.execute(query)}


def release(control: ControlStore, name: str, owner: str) -> None:
    """Release a lease; another owner's lease stays."""
    with control.write() as connection:
        connection.execute(delete(LEASES).where(LEASES.c.name == name, LEASES.c.owner == owner))


def release_all(control: ControlStore, owner: str) -> None:
    """Release all leases of an owner."""
    with control.write() as connection:
        connection.execute(delete(LEASES).where(LEASES.c.owner == owner))


def delete_expired(control: ControlStore, now: datetime) -> int:
    """Delete expired leases and links, and workers silent for a day; return how many."""
    moment = now.timestamp()
    statements = (
        delete(LINKS).where(LINKS.c.expires_at <= moment),
        delete(LEASES).where(LEASES.c.expires_at <= moment),
        delete(WORKERS).where(WORKERS.c.heartbeat_at <= moment - _DAY_S),
    )
    with control.write() as connection:
        return sum(connection.execute(statement).rowcount for statement in statements)
