"""Notes and tags that users put on tracks, videos and pairs: one note each, the last note counts.

They change no verdict and no result.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from sqlalchemy import delete, insert, select

from warehouse.control.database import ControlStore
from warehouse.control.schema import NOTES

NoteKind = Literal["track", "video", "pair"]
NOTE_KINDS: tuple[NoteKind, ...] = get_args(NoteKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note on a track, a video or a compared pair; `text` is None if it has only tags."""

    kind: NoteKind
    entity_id: str
    text: str | None
    tags: tuple[str, ...]
    updated_at: datetime


def newest(
    control: ControlStore,
    *,
    kind: NoteKind | None = None,
    entity_id: str | None = None,
    limit: int,
) -> list[Note]:
    """Return notes, newest first; of one kind and one entity if they are given."""
    query = select(NOTES).order_by(NOTES.c.updated_at.desc(), NOTES.c.entity_id).limit(limit)
    if kind is not None:
        query = query.where(NOTES.c.kind == kind)
    if entity_id is not None:
        query = query.where(NOTES.c.entity_id == entity_id)
    with control.read() as connection:
        return [
            Note(
                kind=row.kind,
                entity_id=row.entity_id,
                text=row.note,
                tags=tuple(json.loads(row.tags)),
                updated_at=datetime.fromtimestamp(row.updated_at, UTC),
            )
            for row in connection.execute(query)
        ]


def write(
    control: ControlStore, kind: NoteKind, entity_id: str, *, text: str | None, tags: Sequence[str]
) -> None:
    """Replace the note on an entity; without text and tags it is deleted."""
    values = {
        "kind": kind,
        "entity_id": entity_id,
        "note": text,
        "tags": json.dumps(list(tags), ensure_ascii=False),
        "updated_at": control.now(),
    }
    same = (NOTES.c.kind == kind, NOTES.c.entity_id == entity_id)
    with control.write() as connection:
        connection.execute(delete(NOTES).where(*same))
        if text or tags:
            connection.execute(insert(NOTES).values(values))
