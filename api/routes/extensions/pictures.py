"""Covers of videos and tracks, and avatars of accounts, as small files."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from api.responses.envelope import record_parameters
from api.routes.dependencies import PicturesDep, no_query_parameters
from api.schemas.responses import PICTURE_RESPONSES
from api.services.pictures.service import CACHE_HEADERS, MEDIA_TYPE, PictureKind

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])

Kind = Annotated[PictureKind, Path(description="kind of the id. ID 的种类")]
EntityId = Annotated[
    str,
    Path(max_length=200, description="id of a video, a track or an account. 作品、音乐或账号 ID"),
]


@router.get(
    "/api/v1/sametrack/pictures/{kind}/{entity_id}",
    summary="Cover or avatar (JPEG)",
    response_class=Response,
    responses=PICTURE_RESPONSES,
)
async def sametrack_picture(
    request: Request, kind: Kind, entity_id: EntityId, pictures: PicturesDep
) -> Response:
    """Return a small copy of the cover of a video or track, or of an avatar. 封面或头像.

    It is read from the platform once and stored. Answers 404 if there is none, if the platform
    shows it no longer, or with `PICTURES=false`.
    """
    record_parameters(request.scope, {"kind": kind, "entity_id": entity_id})
    picture = await pictures.read(kind, entity_id)
    return Response(picture, media_type=MEDIA_TYPE, headers=dict(CACHE_HEADERS))
