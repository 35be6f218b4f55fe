"""SQL of users: the library of queries, the tables, and read-only statements."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Request
from starlette.responses import Response

from api.params.sql import SqlBody, SqlExportBody
from api.responses import envelope
from api.responses.errors import NO_CONTENT
from api.routes.dependencies import SqlDep, check_query
from api.schemas import responses
from api.schemas.extensions.sql import QueryLibrary, SqlAnswer, TableList
from api.server.json_body import JsonRoute
from api.services.sql.runner import QueryCancelledError, StatementTicket
from api.services.sql.service import PATH, SqlService

router = APIRouter(tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(check_query)])

_ERRORS = (*responses.STORE_ERRORS, "query_limit_exceeded", "capacity_exhausted")


@router.get(
    "/api/v1/sametrack/queries",
    summary="Library of named queries",
    responses=responses.read_responses(
        QueryLibrary, "All named queries", "unknown_parameter", "profile_not_chosen"
    ),
)
async def sametrack_queries(request: Request, sql: SqlDep) -> Response:
    """Return all named queries with their parameters and statements. 常用查询列表."""
    return envelope.conditional_response(request.scope, sql.library())


@router.get(
    "/api/v1/sametrack/tables",
    summary="Tables and columns",
    responses=responses.read_responses(
        TableList, "All tables with their columns", "unknown_parameter", "profile_not_chosen"
    ),
)
async def sametrack_tables(request: Request, sql: SqlDep) -> Response:
    """Return the tables that a statement can read, as in the data dictionary. 数据表与字段."""
    return envelope.conditional_response(request.scope, sql.tables())


@router.post(
    PATH,
    summary="Run a read-only statement",
    responses=responses.action_responses(
        SqlAnswer, "The first rows of the statement", *responses.BODY_ERRORS, *_ERRORS
    ),
)
async def sametrack_sql(
    request: Request, body: Annotated[SqlBody, Body()], sql: SqlDep
) -> Response:
    """Run one read-only statement, or a named query, and return its first rows. 执行 SQL 查询.

    Only the tables of the warehouse can be read: no files, URLs, extensions or settings. Statements
    run one at a time, with limits of time and memory; closing the connection cancels one.
    """
    envelope.record_parameters(request.scope, body.model_dump())
    rows = await _run(request, sql, partial(sql.rows, body))
    return _cancelled() if rows is None else envelope.success_response(request.scope, rows)


@router.post(
    f"{PATH}/export",
    summary="Export the rows of a statement",
    responses={
        **responses.exported_file("All rows of the statement", {"type": "object"}),
        **responses.error_responses(*responses.BODY_ERRORS, *_ERRORS),
    },
    response_class=Response,
)
async def sametrack_sql_export(
    request: Request, body: Annotated[SqlExportBody, Body()], sql: SqlDep
) -> Response:
    """Run a statement and return all rows as CSV, XLSX, Parquet or JSON. 导出 SQL 查询结果.

    A file is complete: beyond 100,000 rows the request is refused. JSON, Parquet and XLSX contain
    the statement. What a format cannot hold is text in it; a column of Parquet that has such a
    value is text.
    """
    envelope.record_parameters(request.scope, body.model_dump())
    call = envelope.request_info(request.scope)
    stamp = call.moment.astimezone(call.time_zone).strftime("%Y%m%d-%H%M%S")
    file = await _run(request, sql, partial(sql.file, body, stamp=stamp))
    if file is None:
        return _cancelled()
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.body, media_type=file.media_type, headers=headers)


async def _run[Answer](
    request: Request, sql: SqlService, run: Callable[[StatementTicket], Answer]
) -> Answer | None:
    """Run a statement in a thread; None if the client has gone, which cancels it."""
    ticket = sql.runner.open_ticket()

    # A statement may run for a minute; without a client, it would only keep others waiting.
    async def cancel_on_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        ticket.cancel()

    watcher = asyncio.create_task(cancel_on_disconnect())
    try:
        return await run_sync(run, ticket)
    except QueryCancelledError:
        return None
    finally:
        watcher.cancel()


def _cancelled() -> Response:
    """Return an empty response; its client has gone, so nobody reads it."""
    return Response(status_code=NO_CONTENT)
