"""The access policy in front of Dagster's web application. Does not load Dagster.

All of it requires the role `operate`. Its requests are not parsed: every request to `/graphql`
counts as a change, whatever its method.
"""

import time
from contextlib import suppress
from datetime import UTC, datetime

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.envelope import error_response
from api.server.access.policy import AccessMiddleware, AccessPolicy
from api.server.access.roles import READING, Role
from api.server.access.sessions import SessionStore
from api.server.access.sign_in import SignIn, login_redirect
from api.server.middleware.guard import Guard, add_security_headers
from api.server.middleware.rate_limit import RateLimit
from api.server.request_context import new_request_info, with_request_id
from api.settings import ApiSettings
from warehouse.records.errors import SametrackError

GRAPHQL = "/graphql"
PRIVATE = (GRAPHQL, "/logs", "/notebook", "/dagit", "/download_debug", "/report_", "/server_info")
FRAMES = {"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff"}


def protect_dagster(app: ASGIApp, settings: ApiSettings, *, sessions: SessionStore) -> ASGIApp:
    """Wrap Dagster's application in the policy of the service: same tokens, sessions and hosts.

    Raises:
        TokenFileError: The file of tokens cannot be used.
    """
    # From the inside out, so the guard of hosts and origins is passed first.
    policy = AccessPolicy.of_settings(settings, store=sessions, clock=time.time)
    app = AccessMiddleware(
        app, policy=policy, reject=reject_request, required=lambda _: Role.OPERATE, is_read=is_read
    )
    app = SignIn(app, policy=policy, reject=reject_request, dagster_url=settings.dagster_url)
    if settings.rate_limit_per_s > 0:
        per_s, burst = settings.rate_limit_per_s, settings.rate_limit_burst
        app = RateLimit(app, per_s=per_s, burst=burst, reject=reject_request)
    allowed = settings.served_hosts
    app = Guard(
        app,
        allowed_hosts=allowed,
        reject=reject_request,
        is_private=lambda path: path.startswith(PRIVATE),
    )
    return with_request_id(UiContext(app))


def is_read(scope: Scope, _role: Role) -> bool:
    """Whether a request changes nothing: a socket may do anything, and so may GraphQL."""
    is_safe = scope["type"] == "http" and scope["method"] in READING
    return is_safe and not scope["path"].startswith(GRAPHQL)


def reject_request(scope: Scope, error: SametrackError) -> Response:
    """Return the response to a refused request: browsers are redirected to the sign-in page."""
    redirect = login_redirect(scope) if error.type == "unauthorized" else None
    response = error_response(scope, error) if redirect is None else redirect
    add_security_headers(response.headers)
    return response


class UiContext:
    """Gives each request a time for the envelope, and forbids foreign frames.

    Dagster's pages have their own policy for scripts, so the service's strict one is not added.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The envelope of an error needs the time and the id of the request.
        scope.setdefault("state", {})["call"] = new_request_info(scope, moment=datetime.now(UTC))

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in FRAMES.items():
                    headers.setdefault(name, value)
            await send(message)

        with suppress(ClientDisconnect):  # raised by Dagster's routes when the browser has gone
            await self._app(scope, receive, stamped)
