"""The page of a track: all that is stored of one music id."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import SourcesDep, built_from, check_query
from api.schemas import responses
from api.schemas.extensions.tracks import TrackPage
from api.services.tracks import PATH, TrackService
from warehouse.records.values import PLATFORM_ID

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])


MusicId = Annotated[
    str,
    Path(
        pattern=f"^{PLATFORM_ID}$",
        description="music id, 5 to 30 digits. 音乐 ID, 5 至 30 位数字",
    ),
]


async def _track_service(sources: SourcesDep) -> TrackService:
    return built_from(
        sources, lambda chosen: TrackService(chosen.engine, chosen.control, is_demo=chosen.is_demo)
    )


TracksDep = Annotated[TrackService, Depends(_track_service)]


@router.get(
    f"{PATH}/{{music_id}}",
    summary="Page of a track",
    responses=responses.read_responses(
        TrackPage,
        "What is stored of the track",
        "invalid_parameter",
        *responses.READ_ERRORS,
        "not_found",
    ),
)
def sametrack_track(request: Request, music_id: MusicId, tracks: TracksDep) -> Response:
    """Return the usage count over time, all scans, creators, regions and variants of a track.

    Reads stored observations only; answers 404 if nothing is stored of the music id.
    单曲页：平台使用量走势、历次扫描的变化、创作者、地区分布与变体.
    """
    record_parameters(request.scope, {"music_id": music_id})
    return conditional_response(request.scope, tracks.page(music_id))
