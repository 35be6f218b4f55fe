"""Endpoint 16: chart history."""

import math
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.chart import ChartQuery
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import ChartHistoryDep, SourcesDep, no_repeated_parameters
from api.schemas.responses import CHART_RESPONSES
from api.server.middleware.response_cache import cache_response
from api.services.reads.deadline import Deadline

router = APIRouter(tags=["Chart"], dependencies=[Depends(no_repeated_parameters)])


@router.get(
    "/api/v1/music/chartsrc/top500/history",
    summary="Chart history",
    response_model=None,
    responses=CHART_RESPONSES,
)
async def history(
    request: Request,
    query: Annotated[ChartQuery, Query()],
    chart: ChartHistoryDep,
    sources: SourcesDep,
) -> Response:
    """Return one issue per 10 days with its first 20 songs. 榜单历史：每 10 天一期，每期前 20 首.

    A node without songs has a `reason`. Issues that do not fit into one request are read in the
    background: retry after `Retry-After`.
    """
    record_parameters(request.scope, query.model_dump())
    deadline = Deadline(sources.settings.sync_request_timeout)
    found = await chart.read(query.to_span(), deadline=deadline)
    if found.retry_after is not None:
        headers = {"Retry-After": str(math.ceil(found.retry_after))}
        return conditional_response(request.scope, found.document, headers=headers)
    cache_response(request.scope, entities=[("chart_issues", "all")], until=found.until)
    return conditional_response(request.scope, found.document)
