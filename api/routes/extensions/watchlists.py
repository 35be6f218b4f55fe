"""Watchlists, their runs and digests. No operation here starts a scan or waits for one."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.watchlists import WatchlistBody, WatchlistChange, WatchRunsQuery
from api.responses.envelope import read, success, understood
from api.routes.dependencies import Reads, no_query, no_repeats
from api.schemas.extensions.watchlists import (
    CHANGE_ANSWERS,
    CREATE_ANSWERS,
    DELETE_ANSWERS,
    DIGESTS_ANSWERS,
    LIST_ANSWERS,
    READ_ANSWERS,
    RUN_ANSWERS,
    RUN_NOW_ANSWERS,
    RUNS_ANSWERS,
)
from api.server.middleware.json_body import JsonRoute
from api.services.watchlists.service import PATH, WatchBook

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query)])
listing = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeats)])
writing = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query)])

WatchlistName = Annotated[str, Path(description="name of a watchlist. 监控清单名称")]
RunId = Annotated[str, Path(description="id of a run. 运行 ID")]


async def _book(sources: Reads) -> WatchBook:
    return WatchBook(
        sources.control, find_target=sources.profile.find_target, is_demo=sources.is_demo
    )


Book = Annotated[WatchBook, Depends(_book)]


@router.get(PATH, summary="List watchlists", response_model=None, responses=LIST_ANSWERS)
async def sametrack_watchlists(request: Request, book: Book) -> Response:
    """Return all watchlists with their last run and next due time. 监控清单列表."""
    return read(request.scope, await run_sync(book.listed))


@writing.post(
    PATH,
    summary="Create a watchlist",
    response_model=None,
    responses=CREATE_ANSWERS,
)
async def sametrack_watchlist_create(
    request: Request, body: Annotated[WatchlistBody, Body()], book: Book
) -> Response:
    """Create a watchlist. Its first run is due at the next scheduled time. 创建监控清单."""
    plan = body.to_plan()
    understood(request.scope, plan.to_document())
    return success(request.scope, await run_sync(book.create, plan))


@router.get(
    f"{PATH}/{{name}}",
    summary="Get a watchlist",
    response_model=None,
    responses=READ_ANSWERS,
)
async def sametrack_watchlist(request: Request, name: WatchlistName, book: Book) -> Response:
    """Return a watchlist. 查询监控清单."""
    understood(request.scope, {"name": name})
    return read(request.scope, await run_sync(book.read, name))


@writing.patch(
    f"{PATH}/{{name}}",
    summary="Change a watchlist",
    response_model=None,
    responses=CHANGE_ANSWERS,
)
async def sametrack_watchlist_change(
    request: Request,
    name: WatchlistName,
    body: Annotated[WatchlistChange, Body()],
    book: Book,
) -> Response:
    """Replace the given fields. A new schedule starts now. 修改监控清单."""
    fields = body.to_fields()
    understood(request.scope, {"name": name, **fields})
    return success(request.scope, await run_sync(book.change, name, fields))


@router.delete(
    f"{PATH}/{{name}}",
    summary="Delete a watchlist",
    response_model=None,
    responses=DELETE_ANSWERS,
)
async def sametrack_watchlist_delete(request: Request, name: WatchlistName, book: Book) -> Response:
    """Delete a watchlist and its runs. Observations are kept. 删除监控清单."""
    understood(request.scope, {"name": name})
    return success(request.scope, await run_sync(book.delete, name))


@router.post(
    f"{PATH}/{{name}}/runs",
    summary="Run a watchlist now",
    response_model=None,
    responses=RUN_NOW_ANSWERS,
)
async def sametrack_watchlist_run(request: Request, name: WatchlistName, book: Book) -> Response:
    """Request a run now, or return the run in progress. 立即执行监控清单.

    The orchestrator's sensor starts it within half a minute.
    """
    understood(request.scope, {"name": name})
    data = await run_sync(lambda: book.run(name, origin="api"))
    return success(request.scope, data)


@listing.get(
    f"{PATH}/{{name}}/runs",
    summary="Runs of a watchlist",
    response_model=None,
    responses=RUNS_ANSWERS,
)
async def sametrack_watchlist_runs(
    request: Request, name: WatchlistName, query: Annotated[WatchRunsQuery, Query()], book: Book
) -> Response:
    """Return the newest runs with due time and outcome. 监控清单的运行记录."""
    understood(request.scope, {"name": name, **query.model_dump()})
    return read(request.scope, await run_sync(lambda: book.runs(name, limit=query.limit)))


@router.get(
    f"{PATH}/{{name}}/runs/{{run_id}}",
    summary="Run of a watchlist",
    response_model=None,
    responses=RUN_ANSWERS,
)
async def sametrack_watchlist_run_of(
    request: Request, name: WatchlistName, run_id: RunId, book: Book
) -> Response:
    """Return a run with the outcome of each entry and, once finished, its digest. 单次运行详情."""
    understood(request.scope, {"name": name, "run_id": run_id})
    return read(request.scope, await run_sync(book.run_of, name, run_id))


@listing.get(
    f"{PATH}/{{name}}/digests",
    summary="Digests of a watchlist",
    response_model=None,
    responses=DIGESTS_ANSWERS,
)
async def sametrack_watchlist_digests(
    request: Request, name: WatchlistName, query: Annotated[WatchRunsQuery, Query()], book: Book
) -> Response:
    """Return the changes per entry with their numbers, newest first. 监控清单摘要."""
    understood(request.scope, {"name": name, **query.model_dump()})
    return read(request.scope, await run_sync(lambda: book.digests(name, limit=query.limit)))
