"""Endpoint 9: related videos of a track, with the outcome of every candidate."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.discovery import DiscoveryQuery
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import ScanServiceDep, SyncJobTimeoutDep, no_repeated_parameters
from api.schemas.responses import DISCOVERY_RESPONSES
from api.services.job_document import to_discovery
from api.services.job_wait import wait_for_job

router = APIRouter(tags=["Music"], dependencies=[Depends(no_repeated_parameters)])


@router.get(
    "/api/v1/vidplat/app/v3/discover_music_related_videos",
    summary="Related videos of a track",
    response_model=None,
    responses=DISCOVERY_RESPONSES,
)
async def discover_music_related_videos(
    request: Request,
    query: Annotated[DiscoveryQuery, Query()],
    scan_service: ScanServiceDep,
    max_wait_s: SyncJobTimeoutDep,
) -> Response:
    """Scan the authors of a track, then match candidates by audio. 发现关联作品.

    `aweme_list` holds verified matches only; `candidates` lists every text candidate with its
    reason. The request waits for the result; repeating it joins the running job.
    """
    parameters = query.to_parameters()
    record_parameters(request.scope, {"music_id": query.music_input, **parameters.to_document()})
    asked = partial(scan_service.discover, query.music_input, parameters, origin="api")
    scan = await wait_for_job(scan_service, await run_sync(asked), max_wait_s=max_wait_s)
    return conditional_response(request.scope, to_discovery(scan))
