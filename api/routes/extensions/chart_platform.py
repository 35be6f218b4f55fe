"""Chart songs compared with the platform, and manual links between songs and music ids."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.chart import ChartLinkBody, ChartLinksQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import SourcesDep, no_query_parameters, no_repeated_parameters
from api.schemas.extensions.chart_platform import (
    CHART_JUDGE_RESPONSES,
    CHART_LINK_RESPONSES,
    CHART_LINKS_RESPONSES,
    CHART_SONG_RESPONSES,
)
from api.server.middleware.json_body import JsonRoute
from api.services.chart_songs import PATH, ChartSongService

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
listing = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])
writing = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)

SongKey = Annotated[
    str,
    Path(description="`song_key` of a song in the chart history. 歌曲标识"),
]


async def _chart_song_service(sources: SourcesDep) -> ChartSongService:
    return ChartSongService(sources.engine, is_demo=sources.is_demo)


ChartSongServiceDep = Annotated[ChartSongService, Depends(_chart_song_service)]


@router.get(
    f"{PATH}/songs/{{song_key}}",
    summary="Chart song compared with the platform",
    response_model=None,
    responses=CHART_SONG_RESPONSES,
)
async def sametrack_chart_song(
    request: Request, song_key: SongKey, songs: ChartSongServiceDep
) -> Response:
    """Return chart positions, linked music ids with reasons, engagement curve, and lead or lag.

    Reads stored observations only.
    歌曲在榜单与平台上的对照：名次、音乐 ID 映射及理由、作品曲线、领先或滞后.
    """
    record_parameters(request.scope, {"song_key": song_key})
    return conditional_response(request.scope, await run_sync(songs.song, song_key))


@listing.get(
    f"{PATH}/links",
    summary="Manual links of chart songs",
    response_model=None,
    responses=CHART_LINKS_RESPONSES,
)
async def sametrack_chart_links(
    request: Request, query: Annotated[ChartLinksQuery, Query()], songs: ChartSongServiceDep
) -> Response:
    """Return every manual link, withdrawn ones included, oldest first. 人工映射记录."""
    record_parameters(request.scope, query.model_dump())
    return conditional_response(request.scope, await run_sync(songs.links, query.song_key))


@writing.post(
    f"{PATH}/links",
    summary="Link a chart song to a music id",
    response_model=None,
    responses=CHART_LINK_RESPONSES,
)
async def sametrack_chart_link(
    request: Request, body: Annotated[ChartLinkBody, Body()], songs: ChartSongServiceDep
) -> Response:
    """Store a manual link. It overrides the rules until it is withdrawn. 人工映射，可撤回."""
    record_parameters(request.scope, body.model_dump())
    data = await run_sync(
        lambda: songs.say(
            body.song_key,
            body.music_id,
            body.said,
            said_by=body.said_by,
            note=body.note,
            origin="api",
        )
    )
    return success_response(request.scope, data)


@router.post(
    f"{PATH}/judge",
    summary="Judge the links of all chart songs again",
    response_model=None,
    responses=CHART_JUDGE_RESPONSES,
)
async def sametrack_chart_judge(request: Request, songs: ChartSongServiceDep) -> Response:
    """Link all stored songs to music ids again, from stored data only. 重新判定歌曲关联."""
    record_parameters(request.scope, {})
    return success_response(request.scope, await run_sync(songs.judge))
