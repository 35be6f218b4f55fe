"""Chart songs compared with the platform, and manual links between songs and music ids."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.chart import ChartLinkBody, ChartLinksQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import SourcesDep, built_from, check_query
from api.schemas import responses
from api.schemas.extensions import chart_platform
from api.server.json_body import JsonRoute
from api.services.chart_songs import PATH, ChartSongService

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

SongKey = Annotated[
    str,
    Path(description="`song_key` of a song in the chart history. 歌曲标识"),
]


async def _chart_song_service(sources: SourcesDep) -> ChartSongService:
    return built_from(
        sources, lambda chosen: ChartSongService(chosen.engine, is_demo=chosen.is_demo)
    )


ChartSongServiceDep = Annotated[ChartSongService, Depends(_chart_song_service)]


@router.post(
    f"{PATH}/links",
    summary="Link a chart song to a music id",
    responses=responses.action_responses(
        chart_platform.ChartSongComparison,
        "Song with the new decision",
        *responses.BODY_ERRORS,
        "not_found",
        *responses.WRITE_ERRORS,
    ),
)
def sametrack_chart_link(
    request: Request, body: Annotated[ChartLinkBody, Body()], songs: ChartSongServiceDep
) -> Response:
    """Store a manual link. It overrides the rules until it is withdrawn. 人工映射，可撤回."""
    record_parameters(request.scope, body.model_dump())
    song = songs.decide_link(
        body.song_key,
        body.music_id,
        body.said,
        said_by=body.said_by,
        note=body.note,
        origin="api",
    )
    return success_response(request.scope, song)


@router.get(
    f"{PATH}/songs/{{song_key}}",
    summary="Chart song compared with the platform",
    responses=responses.read_responses(
        chart_platform.ChartSongComparison, "Song", *responses.READ_ERRORS, "not_found"
    ),
)
def sametrack_chart_song(
    request: Request, song_key: SongKey, songs: ChartSongServiceDep
) -> Response:
    """Return chart positions, linked music ids with reasons, engagement curve, and lead or lag.

    Reads stored observations only.
    歌曲在榜单与平台上的对照：名次、音乐 ID 映射及理由、作品曲线、领先或滞后.
    """
    record_parameters(request.scope, {"song_key": song_key})
    return conditional_response(request.scope, songs.song(song_key))


@router.get(
    f"{PATH}/tracks",
    summary="Scanned tracks of chart songs",
    responses=responses.read_responses(
        chart_platform.ChartTrackList, "Scanned tracks", *responses.READ_ERRORS
    ),
)
def sametrack_chart_tracks(request: Request, songs: ChartSongServiceDep) -> Response:
    """Return which songs of the stored chart are tracks with a scan. 榜单歌曲中已扫描的音乐.

    Links them as the rules do now, from stored data only.
    """
    return conditional_response(request.scope, songs.scanned_tracks())


@router.post(
    f"{PATH}/judge",
    summary="Judge the links of all chart songs again",
    responses=responses.action_responses(
        chart_platform.SongLinkUpdate,
        "Counts of songs and links",
        "unknown_parameter",
        *responses.WRITE_ERRORS,
    ),
)
def sametrack_chart_judge(request: Request, songs: ChartSongServiceDep) -> Response:
    """Link all stored songs to music ids again, from stored data only. 重新判定歌曲关联."""
    return success_response(request.scope, songs.judge())


@router.get(
    f"{PATH}/links",
    summary="Manual links of chart songs",
    responses=responses.read_responses(
        chart_platform.LinkDecisionList,
        "Manual decisions",
        "invalid_parameter",
        *responses.READ_ERRORS,
    ),
)
def sametrack_chart_links(
    request: Request, query: Annotated[ChartLinksQuery, Query()], songs: ChartSongServiceDep
) -> Response:
    """Return every manual link, withdrawn ones included, oldest first. 人工映射记录."""
    record_parameters(request.scope, query.model_dump())
    return conditional_response(request.scope, songs.links(query.song_key))
