"""Watchlists, their runs and digests. No operation here starts a scan or waits for one."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.watchlists import WatchlistBody, WatchlistChange, WatchlistRunsQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import SourcesDep, no_query_parameters, no_repeated_parameters
from api.schemas.extensions.watchlists import (
    CHANGE_RESPONSES,
    CREATE_RESPONSES,
    DELETE_RESPONSES,
    DIGESTS_RESPONSES,
    LIST_RESPONSES,
    READ_RESPONSES,
    RUN_NOW_RESPONSES,
    RUN_RESPONSES,
    RUNS_RESPONSES,
)
from api.server.middleware.json_body import JsonRoute
from api.services.watchlists.service import PATH, WatchlistService

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
listing = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])
writing = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)

WatchlistName = Annotated[str, Path(description="name of a watchlist. 监控清单名称")]
RunId = Annotated[str, Path(description="id of a run. 运行 ID")]


async def _watchlist_service(sources: SourcesDep) -> WatchlistService:
    return WatchlistService(
        sources.control, find_target=sources.profile.find_target, is_demo=sources.is_demo
    )


WatchlistServiceDep = Annotated[WatchlistService, Depends(_watchlist_service)]


@router.get(PATH, summary="List watchlists", response_model=None, responses=LIST_RESPONSES)
async def sametrack_watchlists(request: Request, kept_lists: WatchlistServiceDep) -> Response:
    """Return all watchlists with their last run and next due time. 监控清单列表."""
    return conditional_response(request.scope, await run_sync(kept_lists.listed))


@writing.post(
    PATH,
    summary="Create a watchlist",
    response_model=None,
    responses=CREATE_RESPONSES,
)
async def sametrack_watchlist_create(
    request: Request, body: Annotated[WatchlistBody, Body()], kept_lists: WatchlistServiceDep
) -> Response:
    """Create a watchlist. Its first run is due at the next scheduled time. 创建监控清单."""
    plan = body.to_plan()
    record_parameters(request.scope, plan.to_document())
    return success_response(request.scope, await run_sync(kept_lists.create, plan))


@router.get(
    f"{PATH}/{{name}}",
    summary="Get a watchlist",
    response_model=None,
    responses=READ_RESPONSES,
)
async def sametrack_watchlist(
    request: Request, name: WatchlistName, kept_lists: WatchlistServiceDep
) -> Response:
    """Return a watchlist. 查询监控清单."""
    record_parameters(request.scope, {"name": name})
    return conditional_response(request.scope, await run_sync(kept_lists.read, name))


@writing.patch(
    f"{PATH}/{{name}}",
    summary="Change a watchlist",
    response_model=None,
    responses=CHANGE_RESPONSES,
)
async def sametrack_watchlist_change(
    request: Request,
    name: WatchlistName,
    body: Annotated[WatchlistChange, Body()],
    kept_lists: WatchlistServiceDep,
) -> Response:
    """Replace the given fields. A new schedule starts now. 修改监控清单."""
    fields = body.to_fields()
    record_parameters(request.scope, {"name": name, **fields})
    return success_response(request.scope, await run_sync(kept_lists.change, name, fields))


@router.delete(
    f"{PATH}/{{name}}",
    summary="Delete a watchlist",
    response_model=None,
    responses=DELETE_RESPONSES,
)
async def sametrack_watchlist_delete(
    request: Request, name: WatchlistName, kept_lists: WatchlistServiceDep
) -> Response:
    """Delete a watchlist and its runs. Observations are kept. 删除监控清单."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, await run_sync(kept_lists.delete, name))


@router.post(
    f"{PATH}/{{name}}/runs",
    summary="Run a watchlist now",
    response_model=None,
    responses=RUN_NOW_RESPONSES,
)
async def sametrack_watchlist_run(
    request: Request, name: WatchlistName, kept_lists: WatchlistServiceDep
) -> Response:
    """Request a run now, or return the run in progress. 立即执行监控清单.

    The orchestrator's sensor starts it within half a minute.
    """
    record_parameters(request.scope, {"name": name})
    data = await run_sync(lambda: kept_lists.run(name, origin="api"))
    return success_response(request.scope, data)


@listing.get(
    f"{PATH}/{{name}}/runs",
    summary="Runs of a watchlist",
    response_model=None,
    responses=RUNS_RESPONSES,
)
async def sametrack_watchlist_runs(
    request: Request,
    name: WatchlistName,
    query: Annotated[WatchlistRunsQuery, Query()],
    kept_lists: WatchlistServiceDep,
) -> Response:
    """Return the newest runs with due time and outcome. 监控清单的运行记录."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    return conditional_response(
        request.scope, await run_sync(lambda: kept_lists.runs(name, limit=query.limit))
    )


@router.get(
    f"{PATH}/{{name}}/runs/{{run_id}}",
    summary="Run of a watchlist",
    response_model=None,
    responses=RUN_RESPONSES,
)
async def sametrack_watchlist_run_of(
    request: Request, name: WatchlistName, run_id: RunId, kept_lists: WatchlistServiceDep
) -> Response:
    """Return a run with the outcome of each entry and, once finished, its digest. 单次运行详情."""
    record_parameters(request.scope, {"name": name, "run_id": run_id})
    return conditional_response(request.scope, await run_sync(kept_lists.run_of, name, run_id))


@listing.get(
    f"{PATH}/{{name}}/digests",
    summary="Digests of a watchlist",
    response_model=None,
    responses=DIGESTS_RESPONSES,
)
async def sametrack_watchlist_digests(
    request: Request,
    name: WatchlistName,
    query: Annotated[WatchlistRunsQuery, Query()],
    kept_lists: WatchlistServiceDep,
) -> Response:
    """Return the changes per entry with their numbers, newest first. 监控清单摘要."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    return conditional_response(
        request.scope, await run_sync(lambda: kept_lists.digests(name, limit=query.limit))
    )
