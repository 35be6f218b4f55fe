"""Endpoint 9: related videos of a track, with the outcome of every candidate."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.discovery import DiscoveryQuery
from api.responses.envelope import read, understood
from api.routes.dependencies import Desk, Patience, no_repeats
from api.schemas import DISCOVERY_ANSWERS
from api.services.job_document import to_discovery
from api.services.job_wait import wait_for_job

router = APIRouter(tags=["Music"], dependencies=[Depends(no_repeats)])


@router.get(
    "/api/v1/vidplat/app/v3/discover_music_related_videos",
    summary="Related videos of a track",
    response_model=None,
    responses=DISCOVERY_ANSWERS,
)
async def discover_music_related_videos(
    request: Request,
    query: Annotated[DiscoveryQuery, Query()],
    desk: Desk,
    patience_s: Patience,
) -> Response:
    """Scan the authors of a track, then match candidates by audio. 发现关联作品.

    `aweme_list` holds verified matches only; `candidates` lists every text candidate with its
    reason. The request waits for the result; repeating it joins the running job.
    """
    parameters = query.to_parameters()
    understood(request.scope, {"music_id": query.music_input, **parameters.to_document()})
    asked = partial(desk.discover, query.music_input, parameters, origin="api")
    scan = await wait_for_job(desk, await run_sync(asked), patience_s=patience_s)
    return read(request.scope, to_discovery(scan))
