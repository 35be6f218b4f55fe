"""Read-only links: a row from creation to revocation, or until the link has expired.

A revoked link leaves no row, so that nothing tells it from one that never existed. How the address
of a link is signed is not known here.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

import sqlalchemy as sa

from warehouse.control.database import ControlStore, to_time
from warehouse.control.schema import JOBS, SHARED_LINKS

SharedLinkKind = Literal["result", "track"]
SHARED_LINK_KINDS: tuple[SharedLinkKind, ...] = get_args(SharedLinkKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLink:
    """A link to one thing, for whoever has its address.

    Attributes:
        link_id: A random id.
        kind: What it shows.
        entity_id: Its id: of a result, that of the job; of a track, its music id.
        created_by: Who created it; None: no token was set.
        created_at: When.
        expires_at: When it ends.
        last_used_at: When the page was last opened; None: not yet.
    """

    link_id: str
    kind: SharedLinkKind
    entity_id: str
    created_by: str | None
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None


def add(control: ControlStore, link: SharedLink) -> None:
    """Add a link, and keep the job of a result until it ends; delete links that have expired."""
    ends_at = link.expires_at.timestamp()
    shown_job = sa.update(JOBS).where(JOBS.c.job_id == link.entity_id, JOBS.c.expires_at < ends_at)
    with control.write() as connection:
        connection.execute(
            sa.delete(SHARED_LINKS).where(SHARED_LINKS.c.expires_at <= control.now())
        )
        connection.execute(
            sa.insert(SHARED_LINKS).values(
                link_id=link.link_id,
                kind=link.kind,
                entity_id=link.entity_id,
                created_by=link.created_by,
                created_at=link.created_at.timestamp(),
                expires_at=ends_at,
            )
        )
        if link.kind == "result":
            connection.execute(shown_job.values(expires_at=ends_at))


def newest(
    control: ControlStore, *, kind: SharedLinkKind | None = None, entity_id: str | None = None
) -> list[SharedLink]:
    """Return the links that have not expired, newest first: all, or those of one thing."""
    query = sa.select(SHARED_LINKS).order_by(
        SHARED_LINKS.c.created_at.desc(), SHARED_LINKS.c.link_id
    )
    if kind is not None:
        query = query.where(SHARED_LINKS.c.kind == kind)
    if entity_id is not None:
        query = query.where(SHARED_LINKS.c.entity_id == entity_id)
    return _read(control, query)


def find(control: ControlStore, link_id: str) -> SharedLink | None:
    """Return a link, or None if it is unknown, revoked or expired."""
    links = _read(control, sa.select(SHARED_LINKS).where(SHARED_LINKS.c.link_id == link_id))
    return links[0] if links else None


def record_use(control: ControlStore, link_id: str) -> None:
    """Store that the page of a link was opened now."""
    use = sa.update(SHARED_LINKS).where(SHARED_LINKS.c.link_id == link_id)
    with control.write() as connection:
        connection.execute(use.values(last_used_at=control.now()))


def revoke(control: ControlStore, link_id: str) -> bool:
    """End a link. False if there is none."""
    with control.write() as connection:
        revoked = sa.delete(SHARED_LINKS).where(SHARED_LINKS.c.link_id == link_id)
        return connection.execute(revoked).rowcount > 0


def revoke_all(control: ControlStore) -> None:
    """End all links."""
    with control.write() as connection:
        connection.execute(sa.delete(SHARED_LINKS))


def _read(control: ControlStore, query: sa.Select[tuple[object, ...]]) -> list[SharedLink]:
    unexpired = query.where(SHARED_LINKS.c.expires_at > control.now())
    with control.read() as connection:
        return [
            SharedLink(
                link_id=row.link_id,
                kind=row.kind,
                entity_id=row.entity_id,
                created_by=row.created_by,
                created_at=datetime.fromtimestamp(row.created_at, UTC),
                expires_at=datetime.fromtimestamp(row.expires_at, UTC),
                last_used_at=to_time(row.last_used_at),
            )
            for row in connection.execute(unexpired)
        ]
