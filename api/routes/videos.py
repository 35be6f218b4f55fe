"""Endpoints 10 and 11: several videos by id. The body is a top-level array."""

from typing import Annotated, ClassVar, override

from fastapi import APIRouter, Body, Depends, Request
from pydantic import Field, StrictStr
from starlette.responses import Response

from api.responses.envelope import record_parameters, success_response
from api.responses.errors import MalformedJsonError
from api.routes.dependencies import SourcesDep, no_query_parameters
from api.schemas.responses import VIDEOS_RESPONSES
from api.server.middleware.json_body import JsonRoute, parse_json
from api.services.reads.deadline import Deadline
from api.services.reads.sources import Sources
from api.services.reads.videos import read_videos
from pipelines.parameters.video_ids import APP_VIDEO_IDS, WEB_VIDEO_IDS, read_video_ids
from warehouse.records.errors import InvalidVideoIdsError
from warehouse.records.values import PLATFORM_ID

VideoId = Annotated[StrictStr, Field(pattern=f"^{PLATFORM_ID}$")]
WebIds = Annotated[
    list[VideoId],
    Body(
        min_length=1,
        max_length=WEB_VIDEO_IDS,
        description="video ids, 1 to 50, each of 5 to 30 digits. 视频 ID, 1 至 50 个",
    ),
]
AppIds = Annotated[
    list[VideoId],
    Body(
        min_length=1,
        max_length=APP_VIDEO_IDS,
        description="video ids, 1 to 10, each of 5 to 30 digits. 视频 ID, 1 至 10 个",
    ),
]


class _IdsRoute(JsonRoute):
    """Reports anything but a list of ids as the same error, malformed JSON included."""

    most: ClassVar[int] = WEB_VIDEO_IDS

    @override
    def read_document(self, body: bytes) -> object:
        try:
            document = parse_json(body)
        except MalformedJsonError as error:
            raise InvalidVideoIdsError(error.detail) from error
        return list(read_video_ids(document, most=self.most))


class _AppIdsRoute(_IdsRoute):
    most = APP_VIDEO_IDS


web = APIRouter(tags=["Video"], route_class=_IdsRoute, dependencies=[Depends(no_query_parameters)])
app = APIRouter(
    tags=["Video"], route_class=_AppIdsRoute, dependencies=[Depends(no_query_parameters)]
)


@web.post(
    "/api/v1/vidplat/web/fetch_multi_video",
    summary="Up to 50 videos by id",
    response_model=None,
    responses=VIDEOS_RESPONSES,
)
async def fetch_multi_video_web(
    request: Request, aweme_ids: WebIds, sources: SourcesDep
) -> Response:
    """Read up to 50 videos with their four counts. 批量获取视频详情（最多 50 个）.

    Videos that could not be read are in `filter_list` with the reason; nothing is filled in.
    """
    return await _answer(request, aweme_ids, sources)


@app.post(
    "/api/v1/vidplat/app/v3/fetch_multi_video",
    summary="Up to 10 videos by id",
    response_model=None,
    responses=VIDEOS_RESPONSES,
)
async def fetch_multi_video(request: Request, aweme_ids: AppIds, sources: SourcesDep) -> Response:
    """Read up to 10 videos with their four counts. 批量获取视频详情（最多 10 个）.

    Videos that could not be read are in `filter_list` with the reason; nothing is filled in.
    """
    return await _answer(request, aweme_ids, sources)


async def _answer(request: Request, aweme_ids: list[str], sources: Sources) -> Response:
    record_parameters(request.scope, {"aweme_ids": aweme_ids})
    deadline = Deadline(sources.settings.sync_request_timeout)
    return success_response(request.scope, await read_videos(sources, aweme_ids, deadline=deadline))
