"""Composition root of the API process: builds the application from services passed as arguments.

The middleware around the routes is in `middleware_stack.py`.
"""

import functools
import secrets
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from api.openapi.description import describe, parameter_names
from api.responses.envelope import error_response
from api.responses.errors import METHOD_NOT_ALLOWED, MalformedRequestError, error_of_status
from api.routes import ROUTERS, allowed_methods
from api.server.access.tokens import holder_of
from api.server.health import Readiness
from api.server.metrics import Metrics
from api.server.middleware.validation_errors import to_service_error
from api.server.middleware_stack import tools_role, wrap
from api.server.request_context import REFUSAL, RequestLogger
from api.services.annotations import AnnotationService
from api.services.entity_changes import EntityChanges
from api.services.evidence.service import EvidenceService
from api.services.job_feed import JobBroadcaster
from api.services.job_responses import JobResponses
from api.services.pictures.service import PictureService
from api.services.reads.chart import ChartHistoryReader
from api.services.reads.sources import Sources
from api.services.sql.service import SqlService
from api.settings import SERVICE_VERSION, ApiSettings
from pipelines.scan.service.service import ScanService
from warehouse.records.errors import SametrackError

if TYPE_CHECKING:
    from api.mcp.mounting import InternalApp

type Handler = Callable[[Request, Any], Coroutine[object, object, Response]]  # Any: its exception


def create_app(
    *,
    settings: ApiSettings,
    scan_service: ScanService | None,
    readiness: Readiness,
    evidence: EvidenceService | None = None,
    feed: JobBroadcaster | None = None,
    annotations: AnnotationService | None = None,
    sources: Sources | None = None,
    chart: ChartHistoryReader | None = None,
    sql: SqlService | None = None,
    pictures: PictureService | None = None,
    changes: EntityChanges | None = None,
    metrics: Metrics | None = None,
    note: RequestLogger | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    monotonic: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """Build the whole service as one ASGI application.

    `scan_service` is None while no platform profile is chosen; operations that need one then
    answer 503.
    """
    feed = JobBroadcaster(limit=settings.event_streams_max) if feed is None else feed
    metrics = Metrics() if metrics is None else metrics
    app = build_routes(
        scan_service=scan_service,
        readiness=readiness,
        evidence=evidence,
        feed=feed,
        annotations=annotations,
        sources=sources,
        chart=chart,
        sql=sql,
        pictures=pictures,
        sync_job_timeout=settings.sync_job_timeout,
        metrics=metrics,
    )
    # the tools call the service with a token of this process, whose role is theirs
    tool_token = secrets.token_urlsafe()
    inside = _mount_tools(app, settings, tool_token) if settings.mcp_http else None
    wrapped = wrap(
        app,
        settings=settings,
        clock=clock,
        monotonic=monotonic,
        changes=changes,
        observe=metrics.observe,
        note=note,
        internal_tokens=() if inside is None else (holder_of(tool_token, tools_role(settings)),),
    )
    if inside is not None:
        inside.app = wrapped
    return wrapped


def _mount_tools(app: FastAPI, settings: ApiSettings, token: str) -> "InternalApp":
    from api.mcp.mounting import mount_tools  # noqa: PLC0415 -- importing takes a second

    return mount_tools(app, token=token, may_start_jobs=settings.mcp_may_start_jobs)


def build_routes(
    *,
    scan_service: ScanService | None,
    readiness: Readiness,
    feed: JobBroadcaster,
    evidence: EvidenceService | None = None,
    annotations: AnnotationService | None = None,
    sources: Sources | None = None,
    chart: ChartHistoryReader | None = None,
    sql: SqlService | None = None,
    pictures: PictureService | None = None,
    sync_job_timeout: float = 120.0,
    metrics: Metrics | None = None,
) -> FastAPI:
    """Build the routes with their error handlers, without the middleware around them."""
    app = FastAPI(
        title="Sametrack",
        version=SERVICE_VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        telemetry={
            "metrics": False,
            "logs": False,
        },  # only spans; metrics and logs have their own format
        exception_handlers=_HANDLERS,
        routes=list(_routes()),
    )
    app.state.scan_service = scan_service
    app.state.readiness = readiness
    app.state.evidence = evidence
    app.state.annotations = annotations
    app.state.sources = sources
    app.state.chart = chart
    app.state.sql = sql
    app.state.pictures = pictures
    app.state.metrics = metrics
    app.state.answers = JobResponses()
    app.state.feed = feed
    app.state.sync_job_timeout = sync_job_timeout
    describe(app)
    return app


@functools.cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return the routes that every application of this process shares.

    The framework derives validators from the route signatures at the first request, which takes a
    third of a second. Sharing the routes pays that once per process, not once per application.
    """
    bare = FastAPI(openapi_url=None)
    for router in ROUTERS:
        bare.include_router(router)
    return tuple(bare.routes)


async def _service_error(request: Request, error: SametrackError) -> Response:
    return error_response(request.scope, error)


async def _validation_error(request: Request, error: RequestValidationError) -> Response:
    known = parameter_names(request.scope.get("route"))
    return error_response(request.scope, to_service_error(error.errors(), known=known))


async def _framework_error(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    if error.status_code == METHOD_NOT_ALLOWED:
        headers["Allow"] = allowed_methods(request.url.path) or headers.get("Allow", "")
    return error_response(request.scope, error_of_status(error.status_code), headers=headers)


async def _client_gone(request: Request, _error: ClientDisconnect) -> Response:
    """Answer a request whose body ended early. Nobody reads it; the metrics count it."""
    gone = MalformedRequestError("The connection ended before the whole body had arrived")
    return error_response(request.scope, request.scope["state"].get(REFUSAL, gone))


async def _unexpected_error(request: Request, _error: Exception) -> Response:
    """Answer 500. The outermost middleware logs the exception, which the framework raises again."""
    return error_response(
        request.scope, SametrackError("An unexpected error occurred while handling the request")
    )


_HANDLERS: dict[int | type[Exception], Handler] = {
    SametrackError: _service_error,
    RequestValidationError: _validation_error,
    HTTPException: _framework_error,
    ClientDisconnect: _client_gone,
    Exception: _unexpected_error,
}
