"""Cached targets of links, which expire."""

from typing import NamedTuple

from sqlalchemy import select

from warehouse.control.database import ControlStore
from warehouse.control.schema import LINKS


class CachedLink(NamedTuple):
    """Cached target of a link: what it points to (`video`, `user`, …), and its id."""

    kind: str
    target: str


def save(control: ControlStore, key: str, kind: str, target: str, *, ttl_s: float) -> None:
    """Cache the target of a link for `ttl_s` seconds."""
    until = control.now() + ttl_s
    values = {"key": key, "kind": kind, "target": target, "expires_at": until}
    with control.write() as connection:
        connection.execute(control.upsert(LINKS, values))


def read(control: ControlStore, key: str) -> CachedLink | None:
    """Return the cached target of a link, or None."""
    query = select(LINKS.c.kind, LINKS.c.target).where(
        LINKS.c.key == key, LINKS.c.expires_at > control.now()
    )
    with control.read() as connection:
        row = connection.execute(query).first()
    return None if row is None else CachedLink(row.kind, row.target)
