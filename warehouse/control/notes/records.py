"""Notes and tags of users on what was observed. They change no verdict and no result."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

NoteKind = Literal["track", "video", "pair"]
NOTE_KINDS: tuple[NoteKind, ...] = get_args(NoteKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note on a track, a video or a compared pair; `text` None: tags alone."""

    kind: NoteKind
    entity_id: str
    text: str | None
    tags: tuple[str, ...]
    updated_at: datetime
