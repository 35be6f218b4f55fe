"""Notes and tags that users put on tracks, videos and pairs: one note each, the last one counts."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select

from warehouse.control.database import Database
from warehouse.control.notes.records import Note, NoteKind
from warehouse.control.schema import NOTES


class NoteRows:
    """Notes in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def notes(self, *, kind: NoteKind | None = None, limit: int) -> list[Note]:
        """Return notes, the newest first."""
        query = select(NOTES).order_by(NOTES.c.updated_at.desc(), NOTES.c.entity_id).limit(limit)
        if kind is not None:
            query = query.where(NOTES.c.kind == kind)
        with self._database.reading() as connection:
            return [
                Note(
                    kind=row["kind"],
                    entity_id=row["entity_id"],
                    text=row["note"],
                    tags=tuple(json.loads(row["tags"])),
                    updated_at=datetime.fromtimestamp(row["updated_at"], UTC),
                )
                for row in connection.execute(query).mappings()
            ]

    def write_note(
        self, kind: NoteKind, entity_id: str, *, text: str | None, tags: Sequence[str]
    ) -> None:
        """Replace the note on something; without text and tags it is deleted."""
        values = {
            "kind": kind,
            "entity_id": entity_id,
            "note": text,
            "tags": json.dumps(list(tags), ensure_ascii=False),
            "updated_at": self._database.now(),
        }
        this = (NOTES.c.kind == kind, NOTES.c.entity_id == entity_id)
        with self._database.writing() as connection:
            connection.execute(delete(NOTES).where(*this))
            if text or tags:
                connection.execute(insert(NOTES).values(values))
