"""Watchlists, their runs and digests. No operation here starts a scan or waits for one."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.params.watchlists import WatchlistBody, WatchlistChange, WatchlistRunsQuery
from api.responses.envelope import record_parameters
from api.routes.dependencies import SourcesDep, built_from
from api.routes.operations import OperationRoutes
from api.schemas.extensions.watchlists import (
    WatchDigestList,
    WatchlistDeleted,
    WatchlistDocument,
    WatchlistList,
    WatchRunDetail,
    WatchRunList,
)
from api.schemas.responses import PARAMETER_ERRORS, STORE_ERRORS
from api.services.watchlists.service import PATH, WatchlistService

operations = OperationRoutes(lists_unchanged_last=True)

_ONE = f"{PATH}/{{name}}"
_LIST_ERRORS = (*PARAMETER_ERRORS, *STORE_ERRORS)
_ERRORS = (*_LIST_ERRORS, "not_found")
WatchlistName = Annotated[str, Path(description="name of a watchlist. 监控清单名称")]
RunId = Annotated[str, Path(description="id of a run. 运行 ID")]


async def _watchlist_service(sources: SourcesDep) -> WatchlistService:
    return built_from(
        sources,
        lambda chosen: WatchlistService(
            chosen.control, find_target=chosen.profile.find_target, is_demo=chosen.is_demo
        ),
    )


WatchlistsDep = Annotated[WatchlistService, Depends(_watchlist_service)]


@operations.act(
    "POST", PATH, "Create a watchlist", "New watchlist", *STORE_ERRORS, "invalid_music_input"
)
def sametrack_watchlist_create(
    request: Request, body: WatchlistBody, watchlists: WatchlistsDep
) -> WatchlistDocument:
    """Create a watchlist. Its first run is due at the next scheduled time. 创建监控清单."""
    plan = body.to_plan()
    record_parameters(request.scope, plan.to_document())
    return watchlists.create(plan)


@operations.act(
    "PATCH",
    _ONE,
    "Change a watchlist",
    "Changed watchlist",
    *STORE_ERRORS,
    "invalid_music_input",
    "not_found",
)
def sametrack_watchlist_change(
    request: Request, name: WatchlistName, body: WatchlistChange, watchlists: WatchlistsDep
) -> WatchlistDocument:
    """Replace the given fields. A new schedule starts now. 修改监控清单."""
    fields = body.to_fields()
    record_parameters(request.scope, {"name": name, **fields})
    return watchlists.change(name, fields)


@operations.read(PATH, "List watchlists", "Watchlists", *_LIST_ERRORS)
def sametrack_watchlists(watchlists: WatchlistsDep) -> WatchlistList:
    """Return all watchlists with their last run and next due time. 监控清单列表."""
    return watchlists.listed()


@operations.read(_ONE, "Get a watchlist", "Watchlist", *_ERRORS)
def sametrack_watchlist(name: WatchlistName, watchlists: WatchlistsDep) -> WatchlistDocument:
    """Return a watchlist. 查询监控清单."""
    return watchlists.read(name)


@operations.act("DELETE", _ONE, "Delete a watchlist", "Deleted watchlist", *_ERRORS)
def sametrack_watchlist_delete(name: WatchlistName, watchlists: WatchlistsDep) -> WatchlistDeleted:
    """Delete a watchlist and its runs. Observations are kept. 删除监控清单."""
    return watchlists.delete(name)


@operations.act("POST", f"{_ONE}/runs", "Run a watchlist now", "Started or joined run", *_ERRORS)
def sametrack_watchlist_run(name: WatchlistName, watchlists: WatchlistsDep) -> WatchRunDetail:
    """Request a run now, or return the run in progress. 立即执行监控清单.

    The orchestrator's sensor starts it within half a minute.
    """
    return watchlists.run(name, origin="api")


@operations.read(f"{_ONE}/runs/{{run_id}}", "Run of a watchlist", "Run", *_ERRORS)
def sametrack_watchlist_run_of(
    name: WatchlistName, run_id: RunId, watchlists: WatchlistsDep
) -> WatchRunDetail:
    """Return a run with the outcome of each entry and, once finished, its digest. 单次运行详情."""
    return watchlists.run_of(name, run_id)


@operations.read(f"{_ONE}/runs", "Runs of a watchlist", "Newest runs", *_ERRORS)
def sametrack_watchlist_runs(
    name: WatchlistName, query: WatchlistRunsQuery, watchlists: WatchlistsDep
) -> WatchRunList:
    """Return the newest runs with due time and outcome. 监控清单的运行记录."""
    return watchlists.runs(name, limit=query.limit)


@operations.read(f"{_ONE}/digests", "Digests of a watchlist", "Newest digests", *_ERRORS)
def sametrack_watchlist_digests(
    name: WatchlistName, query: WatchlistRunsQuery, watchlists: WatchlistsDep
) -> WatchDigestList:
    """Return the changes per entry with their numbers, newest first. 监控清单摘要."""
    return watchlists.digests(name, limit=query.limit)
