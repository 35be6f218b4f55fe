"""The middleware around the routes, outermost first.

Request context, guard, rate limit, body timeout, sign-in, access, compression, response cache, body
limit. Composition only: each middleware has its own file.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import structlog
from asgi_correlation_id import CorrelationIdMiddleware, correlation_id
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from api.responses.envelope import RequestInfo, error_response
from api.server.access.policy import AccessMiddleware, AccessPolicy, RequiredRole
from api.server.access.roles import Role, required_role
from api.server.access.sessions import SessionStore
from api.server.access.sign_in import SignIn
from api.server.access.tokens import Holder
from api.server.middleware import guard
from api.server.middleware.response_cache import ResponseCache
from api.services.entity_changes import EntityChanges
from api.settings import MCP_PATH, ApiSettings
from warehouse.records.errors import SametrackError

# The outermost middleware: request id, log line, security headers and the last error handler.
#
# It wraps the finished application, so that even a crash of another middleware gets an envelope
# with the request id.

_log = structlog.get_logger("api")
_UTC = ZoneInfo("UTC")

type RequestLogger = Callable[[dict[str, object]], None]
"""Writes a log line of these fields."""
type RequestObserver = Callable[[Scope, int, float], None]
"""Called for each finished request with its scope, status and duration in seconds."""


def with_request_id(app: ASGIApp) -> ASGIApp:
    """Give each request an id of its own, and its response the header `X-Request-ID`."""
    return CorrelationIdMiddleware(
        app,
        validator=None,
        transformer=lambda _id: str(uuid4()),  # an id that the client sends is ignored
        update_request_header=False,
    )


@dataclass(frozen=True, eq=False)
class RequestContext:
    """Creates the `RequestInfo` of each request and writes its log line.

    Attributes:
        app: The finished application.
        time_zone: Zone of `time` in responses.
        clock: Returns the current time in UTC.
        observe: Called for each finished request.
        note: Writes the log line of a request. Default: the structlog logger, which takes several
            times as long.
    """

    app: ASGIApp
    time_zone: ZoneInfo
    clock: Callable[[], datetime]
    observe: RequestObserver | None = None
    note: RequestLogger | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one request, then count and log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        call = new_request_info(scope, moment=self.clock(), time_zone=self.time_zone)
        scope.setdefault("state", {})["call"] = call
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Bytes instead of Starlette's headers: this runs for every cached response.
                headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                if not names >= guard.SECURITY_HEADER_NAMES:
                    headers += [pair for pair in guard.RAW_SECURITY_HEADERS if pair[0] not in names]
                message["headers"] = headers
            await send(message)

        try:
            await self.app(scope, receive, stamped)
        except Exception:
            log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
            log.exception("request failed")
            # Once a response has begun, no other can be sent.
            if status == 0:
                error = SametrackError("An unexpected error occurred while handling the request")
                await error_response(scope, error)(scope, receive, stamped)
        spent_s = time.perf_counter() - started
        if self.observe is not None:
            self.observe(scope, status, spent_s)
        line: dict[str, Any] = {
            "request_id": call.request_id,
            "method": scope["method"],
            "path": call.path,
            "status": status,
            "ms": round(spent_s * 1000, 1),
            "event": "request",
        }
        if self.note is None:
            _log.info(**line)
        else:
            self.note(line)


def new_request_info(scope: Scope, *, moment: datetime, time_zone: ZoneInfo = _UTC) -> RequestInfo:
    """Return the info of a request that arrived at `moment`, with the id of `with_request_id`."""
    path: str = scope["path"]
    # The path is in the response, and JSON cannot hold half of a surrogate pair.
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return RequestInfo(correlation_id.get() or "", moment, time_zone, path)


API_ROOT = "/api/"
PRIVATE = (API_ROOT, "/metrics", MCP_PATH)
MEGABYTE = 1024 * 1024
MIN_COMPRESSED_BYTES = 600

# An event stream is not compressed: each event is sent at once.
remove_compress_type("text/event-stream")
add_compress_type("text/csv")


def wrap(
    app: ASGIApp,
    *,
    settings: ApiSettings,
    sessions: SessionStore,
    clock: Callable[[], datetime],
    changes: EntityChanges | None = None,
    observe: RequestObserver | None = None,
    note: RequestLogger | None = None,
    internal_tokens: tuple[Holder, ...] = (),
) -> ASGIApp:
    """Wrap the routes in all middleware. The innermost comes first, so read from the bottom up.

    Args:
        app: The routes.
        settings: Settings of the HTTP service.
        sessions: Keeps the open sessions of browsers.
        clock: Returns the current time in UTC.
        changes: Tracks changed entities. None: responses that depend on captures are not cached.
        observe: Called for each finished request.
        note: Writes the log line of a request.
        internal_tokens: Tokens with which the service calls itself.
    """
    # The cache stores plain responses, because each client accepts another compression.
    app = guard.BodyLimit(app, limit=settings.body_limit_bytes, reject=error_response)
    app = ResponseCache(app, changes=changes, max_bytes=settings.answer_cache_mb * MEGABYTE)
    app = compressed(app)
    # Who may come in. Nobody is refused while no token is configured, but the pages of signing in
    # are served all the same.
    policy = AccessPolicy.of_settings(
        settings,
        store=sessions,
        clock=lambda: clock().timestamp(),
        internal_tokens=internal_tokens,
    )
    if not policy.is_open:
        required = service_role(settings)
        app = AccessMiddleware(app, policy=policy, reject=error_response, required=required)
    app = SignIn(
        app,
        policy=policy,
        reject=error_response,
        dagster_url=settings.dagster_url,
        shows_pictures=settings.pictures,
    )
    app = guard.BodyTimeout(app, settings.request_timeout_s)
    # Outside of access, so that guessing tokens is limited too.
    if settings.rate_limit_per_s > 0:
        per_s, burst = settings.rate_limit_per_s, settings.rate_limit_burst
        app = guard.RateLimit(app, per_s=per_s, burst=burst, reject=error_response)
    app = guard.Guard(
        app, allowed_hosts=settings.served_hosts, reject=error_response, is_private=is_private
    )
    zone = ZoneInfo(settings.time_zone)
    return with_request_id(
        RequestContext(app, time_zone=zone, clock=clock, observe=observe, note=note)
    )


def compressed(app: ASGIApp) -> ASGIApp:
    """Compress text for clients that accept zstd or gzip."""
    # The fastest levels: compression runs on the event loop, and higher ones gain little.
    return CompressMiddleware(
        app, minimum_size=MIN_COMPRESSED_BYTES, zstd_level=1, gzip_level=1, brotli=False
    )


def service_role(settings: ApiSettings) -> RequiredRole:
    """Return the rule of the service: health, description and the console's files need no role."""
    tools = tools_role(settings)

    def required(scope: Scope) -> Role | None:
        path: str = scope["path"]
        return required_role(scope["method"], path, tools=tools) if is_private(path) else None

    return required


def tools_role(settings: ApiSettings) -> Role:
    """Return the role of the tools for assistants: the highest that any of them needs."""
    return Role.SCAN if settings.mcp_may_start_jobs else Role.READ


def is_private(path: str) -> bool:
    """Return True for paths that return data.

    Pages of other sites may not read them either: some of these reads start work.
    """
    return path.startswith(PRIVATE)
