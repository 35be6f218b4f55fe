"""Everything that is used of Dagster's private modules, with reasons; no other file imports them.

Dagster may change these names in any release: `pyproject.toml` holds its minor version, and a new
one is tried by the tests of the modules named here. Whatever has a public name is imported from
`dagster` instead. Assets and definitions do not load this module: it loads the storages.

`python -m pipelines.orchestration.dagster_compat` is Dagster's daemon: its module is private too,
and its script is missing where packages were linked instead of installed. `running_daemon` and
`running_code_server` are daemon and code server in a process that does something else, too.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

import structlog
from dagster import DagsterEventType, DagsterInstance

# `storage.py` subclasses the storages to keep their connections open: by default each event opens,
# checkpoints and closes the file, a third of a scan's own time. The rest is what they are built of.
from dagster._config import UserConfigSchema
from dagster._core.code_pointer import ModuleCodePointer

# A scan runs in a warm process, in a run record that exists already: `execute_in_process` would
# create one of its own without a code location, which the timeline of the UI does not show.
from dagster._core.definitions.job_base import InMemoryJob

# The type of what `define_asset_job` returns.
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.execution.api import execute_run_iterator

# The launcher hands runs to another launcher, whose type and argument have no public names.
from dagster._core.launcher import LaunchRunContext, RunLauncher

# Runs name their code location, so that the UI files them there and the daemon can launch them.
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

# A class in here is replaced below.
from dagster._core.storage import sql as storage_sql
from dagster._core.storage.compute_log_manager import CapturedLogContext
from dagster._core.storage.event_log import ConsolidatedSqliteEventLogStorage, SqlEventLogStorage
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    SqlEventLogStorageTable,
)

# What steps print is kept in the home of a world.
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.root import LocalArtifactStorage
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS

# The code server that launched a run, to know whether it is still there.
from dagster._core.storage.tags import GRPC_INFO_TAG

# The UI is served behind our access policy, with what a caller may do as Dagster's own permissions.
from dagster._core.workspace.context import WorkspaceProcessContext, WorkspaceRequestContext
from dagster._core.workspace.load_target import GrpcServerTarget
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from sqlalchemy import func, select

from pipelines.freed_memory import give_back_memory
from pipelines.logs import configure_process_logging

__all__ = [
    "GRPC_INFO_TAG",
    "SQLITE_BUSY_TIMEOUT_SECONDS",
    "AssetCheckExecutionsTable",
    "CapturedLogContext",
    "ConfigurableClass",
    "ConfigurableClassData",
    "ConsolidatedSqliteEventLogStorage",
    "GrpcServerTarget",
    "InMemoryJob",
    "JobPythonOrigin",
    "LaunchRunContext",
    "LocalArtifactStorage",
    "LocalComputeLogManager",
    "ModuleCodePointer",
    "RegisteredCodeLocationOrigin",
    "RemoteRepositoryOrigin",
    "RepositoryPythonOrigin",
    "RunLauncher",
    "SqlPollingEventWatcher",
    "SqliteRunStorage",
    "SqliteScheduleStorage",
    "UnresolvedAssetJobDefinition",
    "UserConfigSchema",
    "WorkspaceProcessContext",
    "WorkspaceRequestContext",
    "delete_runless_materializations",
    "execute_run_iterator",
    "load_for_instances",
    "running_code_server",
    "running_daemon",
]

LOADED_WHEN_OPENED = (
    "dagster._core.instance.factory",
    "dagster._core.secrets.env_file",
    "dagster._core.storage.legacy_storage",
    "upath.implementations.local",
)
_NO_RUN = ""  # the run id of events that no run reported
_CHECK_DAEMON_EVERY_S = 5.0
_CODE_SERVER_ENDS_IN_S = 2.0
log = structlog.get_logger(__name__)


def delete_runless_materializations(instance: DagsterInstance, before: datetime) -> int:
    """Delete materializations that no run reported, but the newest of each asset; return how many.

    Dagster deletes events only together with their run, so these would stay for ever.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return 0
    events = SqlEventLogStorageTable
    is_runless = (events.c.run_id == _NO_RUN) & (
        events.c.dagster_event_type == DagsterEventType.ASSET_MATERIALIZATION.value
    )
    newest = select(func.max(events.c.id)).where(is_runless).group_by(events.c.asset_key)
    is_old = events.c.timestamp < before.astimezone(UTC).replace(tzinfo=None)  # as Dagster stores
    with storage.index_connection() as connection:
        deleted = connection.execute(
            events.delete().where(is_runless & is_old & events.c.id.not_in(newest))
        )
    return int(deleted.rowcount)


class _AlembicConfig(Protocol):
    def get_main_option(self, name: str, /) -> str | None: ...


class _SharedScripts:
    """The migration scripts of Dagster's storages, read once by a process.

    Dagster reads all of them for each of three storages, to compare their newest with the file's.
    """

    _read = vars(storage_sql)["ScriptDirectory"]

    @classmethod
    def from_config(cls, config: _AlembicConfig) -> object:
        return cls.of(config.get_main_option("script_location"))

    @classmethod
    @cache
    def of(cls, location: str | None) -> object:
        """Read the scripts at a location, and order them."""
        config = storage_sql.get_alembic_config(storage_sql.__file__, script_location=location)
        scripts = cls._read.from_config(config)
        scripts.as_revision_number("head")
        return scripts


vars(storage_sql)["ScriptDirectory"] = _SharedScripts


def load_for_instances() -> None:
    """Load what an instance loads when it is opened, before processes are forked that open one."""
    for name in LOADED_WHEN_OPENED:
        with suppress(ImportError):  # another version of Dagster does without
            import_module(name)
    _SharedScripts.of(storage_sql.ALEMBIC_SCRIPTS_LOCATION)


@contextmanager
def running_code_server(definitions: str, *, location: str, socket: Path) -> Iterator[None]:
    """Serve the definitions of a module as a code location, until the block ends.

    Its runs are processes of their own, as always. The module is loaded with the first request.
    """
    from dagster._core.types.loadable_target_origin import LoadableTargetOrigin  # noqa: PLC0415 -- only here
    from dagster._core.utils import FuturesAwareThreadPoolExecutor  # noqa: PLC0415 -- as above
    from dagster._grpc.server import DagsterApiServer, DagsterGrpcServer  # noqa: PLC0415 -- as above

    is_over, pool = Event(), FuturesAwareThreadPoolExecutor()
    logger = logging.getLogger("dagster.code_server")
    origin = LoadableTargetOrigin(
        executable_path=sys.executable, module_name=definitions, working_directory=str(Path.cwd())
    )
    servicer = DagsterApiServer(
        server_termination_event=is_over,
        logger=logger,
        loadable_target_origin=origin,
        lazy_load_user_code=True,
        location_name=location,
        server_threadpool_executor=pool,
    )
    server = DagsterGrpcServer(
        server_termination_event=is_over,
        dagster_api_servicer=servicer,
        logger=logger,
        threadpool_executor=pool,
        socket=str(socket),
    )
    thread = Thread(target=server.serve, name="code-server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(_CODE_SERVER_ENDS_IN_S)


@contextmanager
def running_daemon(instance: DagsterInstance, target: GrpcServerTarget) -> Iterator[None]:
    """Run schedules, sensors and automation of a code location, until the block ends.

    If one of its threads ends before, this process gets SIGTERM: whoever supervises it restarts it.
    """
    from dagster._daemon.controller import daemon_controller_from_instance  # noqa: PLC0415 -- only here

    is_over = Event()
    # Until our handler has replaced its own: else its first line would have another form.
    with daemon_controller_from_instance(instance, target, log_level="warning") as controller:
        configure_process_logging()  # instead of its own handlers, which have other fields

        def check() -> None:
            refreshed = time.time()  # Dagster compares it with this clock
            is_over.wait(_CHECK_DAEMON_EVERY_S)
            give_back_memory()  # what starting took
            while not is_over.wait(_CHECK_DAEMON_EVERY_S):
                try:
                    controller.check_daemon_threads()
                    refreshed = controller.check_workspace_freshness(refreshed)
                except Exception:
                    log.exception("Dagster's daemon has stopped")
                    os.kill(os.getpid(), signal.SIGTERM)
                    return

        Thread(target=check, name="check-daemon", daemon=True).start()
        try:
            yield
        finally:
            is_over.set()


if __name__ == "__main__":
    from dagster._daemon.cli import main

    main()
