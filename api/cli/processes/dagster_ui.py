"""The Dagster UI behind the access policy of the service.

The UI has no authentication of its own: whoever reaches it can start runs, end them and wipe
assets. It is in `api.cli` because only `api.cli` may load Dagster. Import it only in the process
that serves the UI.
"""

import signal
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self, override

import uvicorn
from dagster import DagsterInstance
from dagster_webserver.app import create_app_from_workspace_process_context
from pipelines.orchestration.runs.lost_runs import end_unserved_runs
from pipelines.orchestration.storage import dagster_server
from starlette.requests import HTTPConnection

from api.cli.processes.child_processes import is_listening
from api.cli.processes.dagster_access import protect_dagster
from api.server.access.policy import caller_role
from api.server.access.roles import Role
from api.server.access.sessions import SessionsInMemory, SessionStore
from api.server.listener import server_options
from api.settings import ApiSettings
from pipelines.logs import configure_process_logging
from pipelines.open_stores import open_chosen_home, open_control_of
from pipelines.orchestration.dagster_compat import (
    GrpcServerTarget,
    WorkspaceProcessContext,
    WorkspaceRequestContext,
    running_code_server,
    running_daemon,
)
from warehouse.control.sessions import StoredSessions
from warehouse.records.errors import ProfileNotChosenError

LOCATION = "sametrack"
DEFINITIONS = "pipelines.definitions"
STOP_GRACE_S = 2


class RoleWorkspace(WorkspaceProcessContext):
    """A workspace that lets a request change something only if its caller may.

    This is Dagster's own check, behind ours; it also makes the UI show its buttons as disabled.
    """

    @override
    def create_request_context(self, source: object | None = None) -> WorkspaceRequestContext:
        may_operate = isinstance(source, HTTPConnection) and (
            caller_role(source.scope) >= Role.OPERATE
        )
        return WorkspaceRequestContext(
            instance=self.instance,
            current_workspace=self.get_current_workspace(),
            process_context=self,
            version=self.version,
            source=source,
            read_only=not may_operate,
        )


@dataclass(frozen=True, slots=True)
class CodeServer:
    """Where the code server listens: a socket file, or a host and a port."""

    socket: Path | None = None
    host: str = "localhost"
    port: int | None = None

    @classmethod
    def of_address(cls, address: str) -> Self:
        """Read `host:port`.

        Raises:
            ValueError: It is no such address.
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
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.socket))
        except OSError:
            return False
        return True


def serve_dagster_ui(
    *,
    code_server: CodeServer,
    settings: ApiSettings,
    port: int,
    host: str = "127.0.0.1",
    all_in_one: bool = False,
) -> None:
    """Serve the UI until SIGTERM; `all_in_one`: and run code server and daemon in this process."""
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
        if all_in_one:
            assert code_server.socket is not None, "it serves on a socket"
            stack.enter_context(
                running_code_server(DEFINITIONS, location=LOCATION, socket=code_server.socket)
            )
        instance = stack.enter_context(DagsterInstance.get())
        workspace = stack.enter_context(RoleWorkspace(instance, target))
        if all_in_one:
            stack.enter_context(running_daemon(instance, target))
        app = create_app_from_workspace_process_context(workspace)
        uvicorn.run(
            protect_dagster(app, settings, sessions=_open_sessions(settings, stack)),
            host=host,
            port=port,
            timeout_graceful_shutdown=STOP_GRACE_S,
            log_config=None,
            **server_options(settings),
        )


def _open_sessions(settings: ApiSettings, stack: ExitStack) -> SessionStore:
    """Open the sessions that this listener shares with the service."""
    try:
        home = open_chosen_home(settings)
    except ProfileNotChosenError:
        return SessionsInMemory()
    return StoredSessions(stack.enter_context(open_control_of(settings, home)))


def prepare_instance(*, ends_lost_runs: bool = False) -> None:
    """Create the files of the instance, so that processes that share it do not race to do so.

    `ends_lost_runs`: also end the runs that a killed `sametrack up` has left. A storage on a server
    may have runs of other machines, so it is left alone.
    """
    with DagsterInstance.get() as instance:
        instance.get_runs_count()
        instance.all_asset_keys()
        if ends_lost_runs and dagster_server() is None:
            end_unserved_runs(instance)
