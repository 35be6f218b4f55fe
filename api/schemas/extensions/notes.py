"""Schemas of notes and tags."""

from api.responses.documents import Envelope
from api.responses.errors import OK
from api.schemas.responses import (
    BODY_ERRORS,
    PARAMETER_ERRORS,
    STORE_ERRORS,
    ResponseSpecs,
    error_responses,
    header_specs,
    read_responses,
)
from pipelines.documents.fields import ClosedDocument, Count, Timestamp
from warehouse.control.notes import NoteKind


class NoteDocument(ClosedDocument):
    """A note on a track, a video or a compared pair."""

    kind: NoteKind
    id: str
    note: str | None
    tags: list[str]
    updated_at: Timestamp


class NoteList(ClosedDocument):
    """Notes, the newest first. They change no verdict and no result."""

    notes: list[NoteDocument]
    returned_count: Count
    is_demo_data: bool


NOTES_RESPONSES = read_responses(
    Envelope[NoteList], "Notes, the newest first",
    "invalid_parameter", "unknown_parameter", *STORE_ERRORS,
)  # fmt: skip
NOTE_WRITTEN_RESPONSES: ResponseSpecs = {
    OK: {
        "model": Envelope[NoteList],
        "description": "All notes on this kind, the newest first",
        "headers": header_specs(),
    },
    **error_responses(*PARAMETER_ERRORS, *BODY_ERRORS, *STORE_ERRORS),
}
