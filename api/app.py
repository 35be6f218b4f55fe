"""Composition root of the API process: builds the application from services passed as arguments.

The middleware around the routes is in `middleware_stack.py`.
"""

import functools
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import replace
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
from api.routes.dependencies import Services
from api.server.access.tokens import holder_of
from api.server.middleware.validation_errors import to_service_error
from api.server.middleware_stack import tools_role, wrap
from api.server.request_context import RequestLogger
from api.services.job_feed import JobBroadcaster
from api.settings import SERVICE_VERSION, ApiSettings
from warehouse.records.errors import SametrackError

if TYPE_CHECKING:
    from api.mcp.mounting import InternalApp

type Handler = Callable[[Request, Any], Coroutine[object, object, Response]]  # Any: its exception


def create_app(
    services: Services,
    *,
    settings: ApiSettings,
    note: RequestLogger | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ASGIApp:
    """Build the whole service as one ASGI application. `note` writes the log line of a request."""
    app = build_routes(
        replace(
            services,
            feed=services.feed or JobBroadcaster(limit=settings.event_streams_max),
            sync_job_timeout=settings.sync_job_timeout,
        )
    )
    # the tools call the service with a token of this process, whose role is theirs
    tool_token = secrets.token_urlsafe()
    inside = _mount_tools(app, settings, tool_token) if settings.mcp_http else None
    wrapped = wrap(
        app,
        settings=settings,
        sessions=services.sessions,
        clock=clock,
        changes=services.changes,
        observe=services.metrics.observe,
        note=note,
        internal_tokens=() if inside is None else (holder_of(tool_token, tools_role(settings)),),
    )
    if inside is not None:
        inside.app = wrapped
    return wrapped


def _mount_tools(app: FastAPI, settings: ApiSettings, token: str) -> "InternalApp":
    from api.mcp.mounting import mount_tools  # noqa: PLC0415 -- loads the protocol, 0.7 s

    return mount_tools(app, token=token, may_start_jobs=settings.mcp_may_start_jobs)


def build_routes(services: Services) -> FastAPI:
    """Build the routes with their error handlers, without the middleware around them."""
    app = FastAPI(
        title="Sametrack",
        version=SERVICE_VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        # only spans; metrics and logs have their own format
        telemetry={"metrics": False, "logs": False},
        exception_handlers=_HANDLERS,
        routes=list(_routes()),
    )
    app.state.services = services
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
    return error_response(request.scope, gone)


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
