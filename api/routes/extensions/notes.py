"""Notes and tags on tracks, videos and pairs."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Query, Request
from starlette.responses import Response

from api.params.notes import MAX_NOTES, NoteBody, NotesQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import SourcesDep, no_query_parameters, no_repeated_parameters
from api.schemas.extensions.notes import (
    NOTE_WRITTEN_RESPONSES,
    NOTES_RESPONSES,
    NoteDocument,
    NoteList,
)
from api.server.middleware.json_body import JsonRoute
from api.services.reads.sources import Sources
from pipelines.documents.videos import to_time
from warehouse.control.notes import Note, NoteKind

PATH = "/api/v1/sametrack/notes"

listing = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])
writing = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)


@listing.get(PATH, summary="Notes and tags", response_model=None, responses=NOTES_RESPONSES)
async def sametrack_notes(
    request: Request, query: Annotated[NotesQuery, Query()], sources: SourcesDep
) -> Response:
    """Return notes and tags, the newest first. 备注与标签."""
    record_parameters(request.scope, query.model_dump(exclude_none=True))
    data = await run_sync(partial(_notes, sources, query.kind, limit=query.limit))
    return conditional_response(request.scope, data)


@writing.post(PATH, summary="Write a note", response_model=None, responses=NOTE_WRITTEN_RESPONSES)
async def sametrack_note(
    request: Request, body: Annotated[NoteBody, Body()], sources: SourcesDep
) -> Response:
    """Replace the note and the tags of a track, a video or a pair. 保存备注与标签.

    Without `note` and `tags` the stored ones are deleted. A note changes no verdict and no result.
    """
    record_parameters(request.scope, body.model_dump())

    def write() -> NoteList:
        text = (body.note or "").strip() or None
        sources.control.write_note(body.kind, body.id, text=text, tags=body.tags)
        return _notes(sources, body.kind, limit=MAX_NOTES)

    return success_response(request.scope, await run_sync(write))


def _notes(sources: Sources, kind: NoteKind | None, *, limit: int) -> NoteList:
    notes = [_document(note) for note in sources.control.notes(kind=kind, limit=limit)]
    return {"notes": notes, "returned_count": len(notes), "is_demo_data": sources.is_demo}


def _document(note: Note) -> NoteDocument:
    return {
        "kind": note.kind,
        "id": note.entity_id,
        "note": note.text,
        "tags": list(note.tags),
        "updated_at": to_time(note.updated_at),
    }
