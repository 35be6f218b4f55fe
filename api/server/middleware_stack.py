"""The middleware around the routes, outermost first.

Request context, guard, rate limit, token, compression, response cache, body limit. Composition
only: each middleware has its own file.
"""

import time
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from starlette.types import ASGIApp

from api.responses.envelope import error_response
from api.server.middleware.auth import TokenCheck, TokenMiddleware
from api.server.middleware.compression import Compression
from api.server.middleware.guard import BodyLimit, Guard
from api.server.middleware.rate_limit import RateLimit
from api.server.middleware.response_cache import ResponseCache
from api.server.request_context import RequestContext, RequestLogger, RequestObserver
from api.services.entity_changes import EntityChanges
from api.settings import MCP_PATH, ApiSettings

API_ROOT = "/api/"
PRIVATE = (API_ROOT, "/metrics", MCP_PATH)
MEGABYTE = 1024 * 1024


def wrap(
    app: ASGIApp,
    *,
    settings: ApiSettings,
    clock: Callable[[], datetime],
    monotonic: Callable[[], float] = time.monotonic,
    changes: EntityChanges | None = None,
    observe: RequestObserver | None = None,
    note: RequestLogger | None = None,
) -> ASGIApp:
    """Wrap the routes in all middleware.

    Args:
        app: The routes.
        settings: Settings of the HTTP service.
        clock: Returns the current time in UTC.
        monotonic: Monotonic seconds for the rate limit.
        changes: Tracks changed entities. None: responses that depend on captures are not cached.
        observe: Called for each finished request.
        note: Writes the log line of a request.
    """
    app = BodyLimit(app, limit=settings.body_limit_bytes, reject=error_response)
    app = ResponseCache(app, changes=changes, max_bytes=settings.answer_cache_mb * MEGABYTE)
    app = Compression(app)
    if settings.own_api_token is not None:
        check = TokenCheck(settings.own_api_token.get_secret_value())
        app = TokenMiddleware(app, check=check, reject=error_response, is_private=is_private)
    if settings.rate_limit_per_s > 0:
        per_s, burst = settings.rate_limit_per_s, settings.rate_limit_burst
        app = RateLimit(app, per_s=per_s, burst=burst, reject=error_response, clock=monotonic)
    app = Guard(
        app, allowed_hosts=settings.served_hosts, reject=error_response, is_private=is_private
    )
    zone = ZoneInfo(settings.time_zone)
    return RequestContext(app, time_zone=zone, clock=clock, observe=observe, note=note)


def is_private(path: str) -> bool:
    """Return True for paths that return data. Some reads start work, so other sites may not send
    them.
    """
    return path.startswith(PRIVATE)
