"""The middleware around the routes, outermost first.

Request context, guard, sign-in, compression, read-only links, access, response cache, body limit.
Composition only: what each of them does is in `middleware.py`, `access` and `response_cache.py`.
"""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from starlette.types import ASGIApp, Scope
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from api.responses.envelope import error_response
from api.server import middleware
from api.server.access.policy import AccessMiddleware, AccessPolicy, RequiredRole
from api.server.access.roles import Role, required_role
from api.server.access.sessions import SessionStore
from api.server.access.shared_pages import ReadSharedPage, SharedPages
from api.server.access.sign_in import SignIn
from api.server.access.tokens import Holder
from api.server.response_cache import EntityChanges, ResponseCache
from api.settings import MCP_PATH, ApiSettings

API_ROOT = "/api/"
PRIVATE = (API_ROOT, "/metrics", MCP_PATH)
"""Beginnings of the paths that return data."""
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
    observe: middleware.RequestObserver | None = None,
    note: middleware.RequestLogger | None = None,
    internal_tokens: tuple[Holder, ...] = (),
    read_shared_page: ReadSharedPage | None = None,
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
        read_shared_page: Returns the page of a read-only link. None: there are no links.
    """
    # The cache stores plain responses, because each client accepts another compression.
    app = ResponseCache(app, changes=changes, max_bytes=settings.answer_cache_mb * MEGABYTE)
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
    app = compressed(SharedPages(app, read_page=read_shared_page, reject=error_response))
    app = SignIn(
        app,
        policy=policy,
        reject=error_response,
        dagster_url=settings.dagster_url,
        shows_pictures=settings.pictures,
    )
    rate_limit = None
    if settings.rate_limit_per_s > 0:
        rate_limit = middleware.RateLimit(
            per_s=settings.rate_limit_per_s, burst=settings.rate_limit_burst
        )
    app = middleware.Guard(
        app,
        allowed_hosts=settings.served_hosts,
        reject=error_response,
        private_paths=PRIVATE,
        rate_limit=rate_limit,
        body=middleware.BodyLimits(settings.body_limit_bytes, settings.request_timeout_s),
    )
    zone = ZoneInfo(settings.time_zone)
    return middleware.with_request_id(
        middleware.RequestContext(app, time_zone=zone, clock=clock, observe=observe, note=note)
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
        if not path.startswith(PRIVATE):
            return None
        return required_role(scope["method"], path, tools=tools)

    return required


def tools_role(settings: ApiSettings) -> Role:
    """Return the role of the tools for assistants: the highest that any of them needs."""
    return Role.SCAN if settings.mcp_may_start_jobs else Role.READ
