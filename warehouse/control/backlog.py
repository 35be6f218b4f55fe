"""The backlog: requested captures that are made later, outside the request.

Stores what to capture, which process claimed it until when, and how often it was tried. It survives
restarts; items of a process that died are claimed by the next one. Capturing is not here.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import orjson
from sqlalchemy import ColumnElement, and_, delete, func, select, update

from warehouse.control.database import Database
from warehouse.control.records import BacklogItem
from warehouse.control.schema import BACKLOG


class BacklogRows:
    """The backlog of captures in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_to_backlog(self, surface: str, wanted: Mapping[str, Mapping[str, object]]) -> None:
        """Add captures to the backlog, by entity, with the document needed to make them.

        Captures already in the backlog keep their position.
        """
        if not wanted:
            return
        now = self._database.now()
        rows = [
            {
                "surface": surface,
                "entity_id": entity_id,
                "document": orjson.dumps(document).decode(),
                "tries": 0,
                "asked_at": now,
                "due_at": now,
            }
            for entity_id, document in sorted(wanted.items())
        ]
        insert = self._database.insert(BACKLOG).values(rows)
        with self._database.writing() as connection:
            connection.execute(insert.on_conflict_do_nothing())

    def claim_backlog(self, surface: str, *, limit: int, hold_s: float) -> list[BacklogItem]:
        """Claim the oldest due captures for `hold_s` seconds; each is given to one caller only."""
        now = self._database.now()
        oldest = (
            select(BACKLOG.c.entity_id)
            .where(BACKLOG.c.surface == surface, BACKLOG.c.due_at <= now)
            .order_by(BACKLOG.c.asked_at, BACKLOG.c.entity_id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.writing() as connection:
            ids = list(connection.execute(oldest).scalars())
            taken = connection.execute(
                update(BACKLOG)
                .where(BACKLOG.c.surface == surface, BACKLOG.c.entity_id.in_(ids))
                .values(due_at=now + hold_s, tries=BACKLOG.c.tries + 1)
                .returning(BACKLOG.c.entity_id, BACKLOG.c.document, BACKLOG.c.tries)
            ).all()
        found = {row.entity_id: BacklogItem(row[0], orjson.loads(row[1]), row[2]) for row in taken}
        return [found[entity_id] for entity_id in ids]

    def remove_from_backlog(self, surface: str, entity_ids: Sequence[str]) -> None:
        """Remove captures that are finished or given up."""
        with self._database.writing() as connection:
            connection.execute(delete(BACKLOG).where(_rows_of(surface, entity_ids)))

    def postpone_backlog(self, surface: str, entity_ids: Sequence[str], *, wait_s: float) -> None:
        """Make captures due again after `wait_s` seconds."""
        due_at = self._database.now() + wait_s
        with self._database.writing() as connection:
            connection.execute(
                update(BACKLOG).where(_rows_of(surface, entity_ids)).values(due_at=due_at)
            )

    def next_backlog_due_at(self, surface: str) -> datetime | None:
        """Return when the next capture is due, or None if the backlog is empty."""
        query = select(func.min(BACKLOG.c.due_at)).where(BACKLOG.c.surface == surface)
        with self._database.reading() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else datetime.fromtimestamp(found, UTC)


def _rows_of(surface: str, entity_ids: Sequence[str]) -> ColumnElement[bool]:
    return and_(BACKLOG.c.surface == surface, BACKLOG.c.entity_id.in_(entity_ids))
