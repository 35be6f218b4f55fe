"""Endpoint 16: chart history."""

import math
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.params.chart import ChartQuery
from api.responses.envelope import conditional_response, record_parameters
from api.routes.dependencies import ChartHistoryDep, DeadlineDep, check_query
from api.schemas import responses
from api.schemas.chart import ChartHistoryDocument
from api.server.response_cache import cache_response

router = APIRouter(tags=["Chart"], dependencies=[Depends(check_query)])


@router.get(
    "/api/v1/music/chartsrc/top500/history",
    summary="Chart history",
    responses=responses.read_responses(
        ChartHistoryDocument,
        "One issue per node",
        *responses.PARAMETER_ERRORS,
        "invalid_date_range",
        *responses.PLATFORM_ERRORS,
        "chart_unavailable",
        *responses.UPSTREAM_ERRORS,
        headers=("Retry-After",),
    ),
)
async def history(
    request: Request,
    query: Annotated[ChartQuery, Query()],
    chart: ChartHistoryDep,
    deadline: DeadlineDep,
) -> Response:
    """Return one issue per 10 days with its first 20 songs. 榜单历史：每 10 天一期，每期前 20 首.

    A node without songs has a `reason`. Issues that do not fit into one request are read in the
    background: retry after `Retry-After`.
    """
    record_parameters(request.scope, query.model_dump())
    span = query.to_span()  # before the chart is used, which may not be there
    result = await chart.read(span, deadline=deadline)
    if result.retry_after is not None:
        headers = {"Retry-After": str(math.ceil(result.retry_after))}
        return conditional_response(request.scope, result.document, headers=headers)
    cache_response(request.scope, entities=[("chart_issues", "all")], until=result.until)
    return conditional_response(request.scope, result.document)
