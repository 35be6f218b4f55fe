"""Pictures of videos, tracks and accounts; notes and tags on tracks, videos and pairs."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.notes import MAX_NOTES, NoteBody, NotesQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.responses.errors import OK
from api.routes.dependencies import PicturesDep, SourcesDep, check_query
from api.schemas import responses
from api.schemas.extensions.exports import NoteDocument, NoteList
from api.server.json_body import JsonRoute
from api.services.pictures import CACHE_HEADERS, MEDIA_TYPE, PictureKind
from api.services.reads.sources import Sources
from pipelines.documents.videos import to_document
from warehouse.control import notes
from warehouse.control.notes import NoteKind

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

_NOTES = "/api/v1/sametrack/notes"
EntityId = Annotated[
    str,
    Path(max_length=200, description="id of a video, a track or an account. 作品、音乐或账号 ID"),
]


@router.get(
    "/api/v1/sametrack/pictures/{kind}/{entity_id}",
    summary="Cover or avatar (JPEG)",
    responses={
        OK: responses.file("image/jpeg", "Picture of at most 144 by 192 pixels"),
        **responses.error_responses("invalid_parameter", "unknown_parameter", "not_found"),
    },
    response_class=Response,
)
async def sametrack_picture(
    request: Request,
    kind: Annotated[PictureKind, Path(description="kind of the id. ID 的种类")],
    entity_id: EntityId,
    pictures: PicturesDep,
) -> Response:
    """Return a small copy of the cover of a video or track, or of an avatar. 封面或头像.

    It is read from the platform once and stored. Answers 404 if there is none, if the platform
    shows it no longer, or with `PICTURES=false`.
    """
    record_parameters(request.scope, {"kind": kind, "entity_id": entity_id})
    picture = await pictures.read(kind, entity_id)
    return Response(picture, media_type=MEDIA_TYPE, headers=dict(CACHE_HEADERS))


@router.get(
    _NOTES,
    summary="Notes and tags",
    responses=responses.read_responses(
        NoteList, "Notes, the newest first", "invalid_parameter", *responses.READ_ERRORS
    ),
)
def sametrack_notes(
    request: Request, query: Annotated[NotesQuery, Query()], sources: SourcesDep
) -> Response:
    """Return notes and tags, the newest first. 备注与标签."""
    record_parameters(request.scope, query.model_dump(exclude_none=True))
    note_list = _note_list(sources, query.kind, limit=query.limit)
    return conditional_response(request.scope, note_list)


@router.post(
    _NOTES,
    summary="Write a note",
    responses=responses.action_responses(
        NoteList,
        "All notes on this kind, the newest first",
        *responses.BODY_ERRORS,
        *responses.STORE_ERRORS,
    ),
)
def sametrack_note(
    request: Request, body: Annotated[NoteBody, Body()], sources: SourcesDep
) -> Response:
    """Replace the note and the tags of a track, a video or a pair. 保存备注与标签.

    Without `note` and `tags` the stored ones are deleted. A note changes no verdict and no result.
    """
    record_parameters(request.scope, body.model_dump())
    # A note of spaces is no note: it deletes the stored one.
    text = (body.note or "").strip() or None
    notes.write(sources.control, body.kind, body.id, text=text, tags=body.tags)
    note_list = _note_list(sources, body.kind, limit=MAX_NOTES)
    return success_response(request.scope, note_list)


def _note_list(sources: Sources, kind: NoteKind | None, *, limit: int) -> NoteList:
    documents = [
        to_document(NoteDocument, note, id=note.entity_id, note=note.text)
        for note in notes.newest(sources.control, kind=kind, limit=limit)
    ]
    return {"notes": documents, "returned_count": len(documents), "is_demo_data": sources.is_demo}
