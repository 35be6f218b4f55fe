"""Composition root of the API process: builds the application from services passed as arguments.

The middleware around the routes is in `middleware_stack.py`.
"""

import functools
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

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
from api.server.access.tokens import Holder, holder_of
from api.server.middleware import RequestLogger
from api.server.middleware_stack import tools_role, wrap
from api.server.validation_errors import to_service_error
from api.services.job_feed import JobBroadcaster
from api.settings import SERVICE_VERSION, ApiSettings
from warehouse.records.errors import SametrackError

if TYPE_CHECKING:
    from api.mcp.mounting import InternalApp


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
    internal_app: InternalApp | None = None
    internal_tokens: tuple[Holder, ...] = ()
    if settings.mcp_http:
        from api.mcp.mounting import mount_tools  # noqa: PLC0415 -- loads the protocol, 0.7 s

        # The tools call the service with a token that only this process has, and that has the
        # highest role that any of them needs.
        token = secrets.token_urlsafe()
        internal_app = mount_tools(app, token=token, may_start_jobs=settings.mcp_may_start_jobs)
        internal_tokens = (holder_of(token, tools_role(settings)),)
    wrapped = wrap(
        app,
        settings=settings,
        sessions=services.sessions,
        clock=clock,
        changes=services.changes,
        observe=services.metrics.observe,
        note=note,
        internal_tokens=internal_tokens,
        read_shared_page=None if services.shared_links is None else services.shared_links.page,
    )
    if internal_app is not None:
        internal_app.app = wrapped  # the tools call the service through all of its middleware
    return wrapped


def build_routes(services: Services) -> FastAPI:
    """Build the routes with their error handlers, without the middleware around them."""
    app = FastAPI(
        title="Sametrack",
        version=SERVICE_VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        # Spans only; metrics and logs have their own format.
        telemetry={"metrics": False, "logs": False},
        exception_handlers=dict.fromkeys(
            (
                SametrackError,
                RequestValidationError,
                HTTPException,
                ClientDisconnect,
                Exception,
            ),
            _handle_error,
        ),
        routes=list(_routes()),
    )
    app.state.services = services
    describe(app)
    return app


@functools.cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return the routes that every application of this process shares."""
    # The framework derives validators from the route signatures at the first request, which takes
    # a third of a second. Shared routes cost that once per process, not once per application.
    bare = FastAPI(openapi_url=None)
    for router in ROUTERS:
        bare.include_router(router)
    return tuple(bare.routes)


async def _handle_error(request: Request, error: Exception) -> Response:
    """Return the envelope of an error of an operation or of the framework."""
    headers: dict[str, str] = {}
    match error:
        case SametrackError():
            reported = error
        case RequestValidationError():
            names = parameter_names(request.scope.get("route"))
            reported = to_service_error(error.errors(), names=names)
        case HTTPException():
            headers = dict(error.headers or {})
            if error.status_code == METHOD_NOT_ALLOWED:
                headers["Allow"] = allowed_methods(request.url.path) or headers.get("Allow", "")
            reported = error_of_status(error.status_code)
        case ClientDisconnect():
            # Nobody reads this response, but the metrics count it.
            reported = MalformedRequestError(
                "The connection ended before the whole body had arrived"
            )
        case _:
            # The framework raises the exception again, and the outermost middleware logs it.
            reported = SametrackError("An unexpected error occurred while handling the request")
    return error_response(request.scope, reported, headers=headers)
