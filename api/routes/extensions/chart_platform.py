"""Chart songs compared with the platform, and manual links between songs and music ids."""

from typing import Annotated

from fastapi import Depends, Path

from api.params.chart import ChartLinkBody, ChartLinksQuery
from api.routes.dependencies import SourcesDep, built_from
from api.routes.operations import OperationRoutes
from api.schemas.extensions import chart_platform
from api.schemas.responses import READ_ERRORS, WRITE_ERRORS
from api.services.chart_songs import PATH, ChartSongService

operations = OperationRoutes()

SongKey = Annotated[
    str,
    Path(description="`song_key` of a song in the chart history. 歌曲标识"),
]


async def _chart_song_service(sources: SourcesDep) -> ChartSongService:
    return built_from(
        sources, lambda chosen: ChartSongService(chosen.engine, is_demo=chosen.is_demo)
    )


ChartSongServiceDep = Annotated[ChartSongService, Depends(_chart_song_service)]


@operations.act(
    "POST",
    f"{PATH}/links",
    "Link a chart song to a music id",
    "Song with the new decision",
    "not_found",
    *WRITE_ERRORS,
)
def sametrack_chart_link(
    body: ChartLinkBody, songs: ChartSongServiceDep
) -> chart_platform.ChartSongComparison:
    """Store a manual link. It overrides the rules until it is withdrawn. 人工映射，可撤回."""
    return songs.decide_link(
        body.song_key,
        body.music_id,
        body.said,
        said_by=body.said_by,
        note=body.note,
        origin="api",
    )


@operations.read(
    f"{PATH}/songs/{{song_key}}",
    "Chart song compared with the platform",
    "Song",
    *READ_ERRORS,
    "not_found",
)
def sametrack_chart_song(
    song_key: SongKey, songs: ChartSongServiceDep
) -> chart_platform.ChartSongComparison:
    """Return chart positions, linked music ids with reasons, engagement curve, and lead or lag.

    Reads stored observations only.
    歌曲在榜单与平台上的对照：名次、音乐 ID 映射及理由、作品曲线、领先或滞后.
    """
    return songs.song(song_key)


@operations.act(
    "POST",
    f"{PATH}/judge",
    "Judge the links of all chart songs again",
    "Counts of songs and links",
    "unknown_parameter",
    *WRITE_ERRORS,
)
def sametrack_chart_judge(songs: ChartSongServiceDep) -> chart_platform.SongLinkUpdate:
    """Link all stored songs to music ids again, from stored data only. 重新判定歌曲关联."""
    return songs.judge()


@operations.read(
    f"{PATH}/links",
    "Manual links of chart songs",
    "Manual decisions",
    "invalid_parameter",
    *READ_ERRORS,
)
def sametrack_chart_links(
    query: ChartLinksQuery, songs: ChartSongServiceDep
) -> chart_platform.LinkDecisionList:
    """Return every manual link, withdrawn ones included, oldest first. 人工映射记录."""
    return songs.links(query.song_key)
