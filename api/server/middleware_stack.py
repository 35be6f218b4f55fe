"""The layers around the routes, from the outside: request context, guard, rate limit, token,
compression, answers from memory, body limit.

Composition only: each layer has a file of its own.
"""

import time
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from starlette.types import ASGIApp

from api.responses.envelope import failure
from api.server.middleware.auth import TokenCheck, TokenDoor
from api.server.middleware.compression import Compression
from api.server.middleware.guard import BodyLimit, Guard
from api.server.middleware.rate_limit import RateLimit
from api.server.middleware.response_cache import AnswerCache
from api.server.request_context import Note, Observe, RequestContext
from api.services.entity_changes import Changes
from api.settings import TOOLS_PATH, ApiSettings

API_ROOT = "/api/"
PRIVATE = (API_ROOT, "/metrics", TOOLS_PATH)
MEGABYTE = 1024 * 1024


def wrap(
    app: ASGIApp,
    *,
    settings: ApiSettings,
    clock: Callable[[], datetime],
    monotonic: Callable[[], float] = time.monotonic,
    changes: Changes | None = None,
    observe: Observe | None = None,
    note: Note | None = None,
) -> ASGIApp:
    """The door around the routes.

    Args:
        app: The routes.
        settings: Of the front door.
        clock: Now, in UTC.
        monotonic: Seconds that only grow, by which the rate is limited.
        changes: None: nothing is kept that a capture could end.
        observe: Hears of each request that has been answered.
        note: Writes the log line of a request.
    """
    app = BodyLimit(app, limit=settings.body_limit_bytes, reject=failure)
    app = AnswerCache(app, changes=changes, max_bytes=settings.answer_cache_mb * MEGABYTE)
    app = Compression(app)
    if settings.own_api_token is not None:
        check = TokenCheck(settings.own_api_token.get_secret_value())
        app = TokenDoor(app, check=check, reject=failure, is_private=is_private)
    if settings.rate_limit_per_s > 0:
        per_s, burst = settings.rate_limit_per_s, settings.rate_limit_burst
        app = RateLimit(app, per_s=per_s, burst=burst, reject=failure, clock=monotonic)
    app = Guard(app, allowed_hosts=settings.served_hosts, reject=failure, is_private=is_private)
    zone = ZoneInfo(settings.time_zone)
    return RequestContext(app, time_zone=zone, clock=clock, observe=observe, note=note)


def is_private(path: str) -> bool:
    """Everything that answers data; some of its reads start work, so other sites may not."""
    return path.startswith(PRIVATE)
