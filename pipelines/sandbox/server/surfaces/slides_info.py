"""Second source of details: JSON of videos or photo posts by id.

Route name: `slides_info`. The plain form returns videos, `request_source=200` photo posts.
"""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.documents.videos import Document, detail_video, filtered_video
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.surfaces.paging import with_status

_PHOTOS = "200"


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the route."""

    async def slides_info(request: Request) -> Response:
        if "a_bogus" in request.query_params:  # a made-up signature gives an empty body
            return Response(b"", media_type="application/json")
        ids = _ids(request.query_params.get("aweme_ids", ""))
        wants_photos = request.query_params.get("request_source") == _PHOTOS
        details, hidden = _read(platform, ids, wants_photos=wants_photos)
        answer = with_status(aweme_details=details or None, filter_list=hidden)
        return JSONResponse(answer)

    return [Route("/web/api/v2/aweme/slidesinfo/", slides_info, name="slides_info")]


def _ids(text: str) -> list[str]:
    """Parse ids in brackets, as numbers or as text."""
    try:
        values = json.loads(text)
    except ValueError:
        return []
    return [str(value) for value in values] if isinstance(values, list) else []


def _read(
    platform: SandboxPlatform, ids: list[str], *, wants_photos: bool
) -> tuple[list[Document], list[Document]]:
    details, hidden = [], []
    for aweme_id in ids:
        work = platform.world.video_of_id(aweme_id)
        if work is None or not platform.world.is_public(work):
            hidden.append(filtered_video(aweme_id, work))
        elif work.is_photo == wants_photos:
            details.append(detail_video(platform, work))
        elif wants_photos:  # the form for photo posts filters videos
            hidden.append({**filtered_video(aweme_id, None), "filter_reason": "item_type"})
    return details, hidden
