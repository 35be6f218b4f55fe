"""The backlog of captures that are made later.

It survives restarts; another process claims the items of a process that died.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, select, update

from warehouse.control.database import ControlStore, from_json, to_json, to_time
from warehouse.control.schema import BACKLOG


class BacklogItem(NamedTuple):
    """A capture in the backlog: the document needed to make it, and the tries so far."""

    entity_id: str
    document: dict[str, object]
    tries: int


def add(control: ControlStore, surface: str, documents: Mapping[str, Mapping[str, object]]) -> None:
    """Add captures to the backlog, by entity, with the document needed to make them.

    Captures already in the backlog keep their position.
    """
    if not documents:
        return
    now = control.now()
    rows = [
        {
            "surface": surface,
            "entity_id": entity_id,
            "document": to_json(document),
            "tries": 0,
            "asked_at": now,
            "due_at": now,
        }
        for entity_id, document in sorted(documents.items())
    ]
    with control.write() as connection:
        connection.execute(control.insert(BACKLOG).values(rows).on_conflict_do_nothing())


def claim(control: ControlStore, surface: str, *, limit: int, hold_s: float) -> list[BacklogItem]:
    """Claim the oldest due captures for `hold_s` seconds; no two callers get the same one."""
    now = control.now()
    oldest = (
        select(BACKLOG.c.entity_id)
        .where(BACKLOG.c.surface == surface, BACKLOG.c.due_at <= now)
        .order_by(BACKLOG.c.asked_at, BACKLOG.c.entity_id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    with control.write() as connection:
        ids = list(connection.execute(oldest).scalars())
        # A claimed item is due again after the hold, in case its process dies.
        rows = connection.execute(
            update(BACKLOG)
            .where(_rows_of(surface, ids))
            .values(due_at=now + hold_s, tries=BACKLOG.c.tries + 1)
            .returning(BACKLOG.c.entity_id, BACKLOG.c.document, BACKLOG.c.tries)
        ).all()
    # The update returns its rows in any order.
    items = {row.entity_id: BacklogItem(row[0], from_json(row[1]), row[2]) for row in rows}
    return [items[entity_id] for entity_id in ids]


def remove(control: ControlStore, surface: str, entity_ids: Sequence[str]) -> None:
    """Remove captures that are finished or abandoned."""
    with control.write() as connection:
        connection.execute(delete(BACKLOG).where(_rows_of(surface, entity_ids)))


def postpone(
    control: ControlStore, surface: str, entity_ids: Sequence[str], *, wait_s: float
) -> None:
    """Make captures due again after `wait_s` seconds."""
    due_at = control.now() + wait_s
    postponed = update(BACKLOG).where(_rows_of(surface, entity_ids))
    with control.write() as connection:
        connection.execute(postponed.values(due_at=due_at))


def next_due_at(control: ControlStore, surface: str) -> datetime | None:
    """Return when the next capture is due, or None if the backlog is empty."""
    query = select(func.min(BACKLOG.c.due_at)).where(BACKLOG.c.surface == surface)
    with control.read() as connection:
        return to_time(connection.execute(query).scalar())


def _rows_of(surface: str, entity_ids: Sequence[str]) -> ColumnElement[bool]:
    return and_(BACKLOG.c.surface == surface, BACKLOG.c.entity_id.in_(entity_ids))
