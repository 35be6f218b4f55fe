"""The Dagster UI behind the access policy of the service.

The UI has no authentication of its own: everybody who reaches it can start runs, end them and wipe
assets. `dagster-webserver` listens on TCP, so a proxy in front of it would leave a second, open
port on the machine. Therefore this process serves its application unchanged, behind the policy.
The module is in `api.cli` because only `api.cli` may load Dagster. Import it only in the process
that serves the UI.
"""

import signal
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, override

import uvicorn
from dagster import DagsterInstance
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.cli.processes.child_processes import is_accepting, is_listening
from api.responses.envelope import error_response
from api.server import middleware
from api.server.access.policy import AccessMiddleware, AccessPolicy
from api.server.access.roles import READING, Role
from api.server.access.sessions import SessionsInMemory, SessionStore
from api.server.access.sign_in import SignIn, login_redirect
from api.server.listener import server_options
from api.settings import ApiSettings
from pipelines.logs import configure_process_logging
from pipelines.open_stores import open_chosen_home, open_control_of
from pipelines.orchestration.dagster_compat import GrpcServerTarget, WorkspaceProcessContext
from warehouse.control.access.sessions import StoredSessions
from warehouse.records.errors import ProfileNotChosenError, SametrackError

# The access policy in front of Dagster's web application. Does not load Dagster.
#
# All of it requires the role `operate`. Its requests are not parsed: every request to `/graphql`
# counts as a change, whatever its method.

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
    rate_limit = None
    if settings.rate_limit_per_s > 0:
        rate_limit = middleware.RateLimit(
            per_s=settings.rate_limit_per_s, burst=settings.rate_limit_burst
        )
    app = middleware.Guard(
        app,
        allowed_hosts=settings.served_hosts,
        reject=reject_request,
        private_paths=PRIVATE,
        rate_limit=rate_limit,
    )
    return middleware.with_request_id(UiContext(app))


def is_read(scope: Scope, _role: Role) -> bool:
    """Whether a request changes nothing: a socket may do anything, and so may GraphQL."""
    is_safe = scope["type"] == "http" and scope["method"] in READING
    return is_safe and not scope["path"].startswith(GRAPHQL)


def reject_request(scope: Scope, error: SametrackError) -> Response:
    """Return the response to a refused request: browsers are redirected to the sign-in page."""
    redirect = login_redirect(scope) if error.type == "unauthorized" else None
    response = error_response(scope, error) if redirect is None else redirect
    middleware.add_security_headers(response.headers)
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
        scope.setdefault("state", {})["call"] = middleware.new_request_info(
            scope, moment=datetime.now(UTC)
        )

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in FRAMES.items():
                    headers.setdefault(name, value)
            await send(message)

        with suppress(ClientDisconnect):  # raised by Dagster's routes when the browser has gone
            await self._app(scope, receive, stamped)


LOCATION = "sametrack"
STOP_GRACE_S = 2


@dataclass(frozen=True, slots=True)
class CodeServer:
    """Where the code server listens: a socket file, or a host and a port."""

    socket: Path | None = None
    host: str = "localhost"
    port: int | None = None

    @classmethod
    def of_address(cls, address: str) -> Self:
        """Parse an address, for example `localhost:4000`.

        Raises:
            ValueError: It is not `host:port`.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"{address!r} is not HOST:PORT")
        return cls(host=host, port=int(port))

    @override
    def __str__(self) -> str:
        return str(self.socket) if self.port is None else f"{self.host}:{self.port}"

    def is_listening(self) -> bool:
        """Return True if a connection is accepted there now."""
        if self.port is not None:
            return is_listening(self.port, self.host)
        return self.socket is not None and is_accepting(self.socket)


def serve_dagster_ui(
    *, code_server: CodeServer, settings: ApiSettings, port: int, host: str = "127.0.0.1"
) -> None:
    """Serve the UI until SIGTERM."""
    target = GrpcServerTarget(
        host=code_server.host,
        port=code_server.port,
        socket=None if code_server.socket is None else str(code_server.socket),
        location_name=LOCATION,
    )
    # uvicorn raises the signal again when it has stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    configure_process_logging()
    with ExitStack() as stack:
        # The workspace reads the assets from the code server, now and whenever it restarts.
        instance = stack.enter_context(DagsterInstance.get())
        workspace = stack.enter_context(WorkspaceProcessContext(instance, target))
        app = create_app_from_workspace_process_context(workspace)
        # Sign-ins are shared with the service, if there is a world that can store them.
        sessions: SessionStore = SessionsInMemory()
        with suppress(ProfileNotChosenError):
            home = open_chosen_home(settings)
            sessions = StoredSessions(stack.enter_context(open_control_of(settings, home)))
        uvicorn.run(
            protect_dagster(app, settings, sessions=sessions),
            host=host,
            port=port,
            timeout_graceful_shutdown=STOP_GRACE_S,
            log_config=None,
            **server_options(settings),
        )
