"""Endpoints 10 and 11: several videos by id. The body is a top-level array."""

from typing import Annotated, ClassVar, override

from fastapi import APIRouter, Body, Depends, Request
from pydantic import Field, StrictStr
from starlette.responses import Response

from api.responses.envelope import record_parameters, success_response
from api.responses.errors import MalformedJsonError
from api.routes.dependencies import DeadlineDep, SourcesDep, check_query
from api.schemas.lists import ManyVideos
from api.schemas.responses import PLATFORM_ERRORS, action_responses
from api.server.json_body import JsonRoute, parse_json
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


_RESPONSES = action_responses(
    ManyVideos,
    "Videos that were read, and reasons for the others",
    "invalid_video_ids",
    "unknown_parameter",
    "body_too_large",
    "unsupported_media_type",
    *PLATFORM_ERRORS,
)


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


web_videos = APIRouter(tags=["Video"], route_class=_IdsRoute, dependencies=[Depends(check_query)])
app_videos = APIRouter(
    tags=["Video"], route_class=_AppIdsRoute, dependencies=[Depends(check_query)]
)


@web_videos.post(
    "/api/v1/vidplat/web/fetch_multi_video", summary="Up to 50 videos by id", responses=_RESPONSES
)
async def fetch_multi_video_web(
    request: Request, aweme_ids: WebIds, sources: SourcesDep, deadline: DeadlineDep
) -> Response:
    """Read up to 50 videos with their four counts. 批量获取视频详情（最多 50 个）.

    Videos that could not be read are in `filter_list` with the reason; nothing is filled in.
    """
    record_parameters(request.scope, {"aweme_ids": aweme_ids})
    videos = await read_videos(sources, aweme_ids, deadline=deadline)
    return success_response(request.scope, videos)


@app_videos.post(
    "/api/v1/vidplat/app/v3/fetch_multi_video",
    summary="Up to 10 videos by id",
    responses=_RESPONSES,
)
async def fetch_multi_video(
    request: Request, aweme_ids: AppIds, sources: SourcesDep, deadline: DeadlineDep
) -> Response:
    """Read up to 10 videos with their four counts. 批量获取视频详情（最多 10 个）.

    Videos that could not be read are in `filter_list` with the reason; nothing is filled in.
    """
    record_parameters(request.scope, {"aweme_ids": aweme_ids})
    videos = await read_videos(sources, aweme_ids, deadline=deadline)
    return success_response(request.scope, videos)
