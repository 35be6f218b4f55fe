"""The Dagster UI behind the access policy of the service.

The UI has no authentication of its own: everybody who reaches it can start runs, end them and wipe
assets. `dagster-webserver` listens on TCP, so a proxy in front of it would leave a second, open
port on the machine. Therefore this process serves its application unchanged, behind the policy.
The module is in `api.cli` because only `api.cli` may load Dagster. Import it only in the process
that serves the UI.
"""

import signal
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, override

import uvicorn
from dagster import DagsterInstance
from dagster_webserver.app import create_app_from_workspace_process_context

from api.cli.processes.child_processes import is_accepting, is_listening
from api.cli.processes.dagster_access import protect_dagster
from api.server.access.sessions import SessionsInMemory, SessionStore
from api.server.listener import server_options
from api.settings import ApiSettings
from pipelines.logs import configure_process_logging
from pipelines.open_stores import open_chosen_home, open_control_of
from pipelines.orchestration.dagster_compat import GrpcServerTarget, WorkspaceProcessContext
from warehouse.control.sessions import StoredSessions
from warehouse.records.errors import ProfileNotChosenError

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
