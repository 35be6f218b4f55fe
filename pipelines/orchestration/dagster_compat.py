"""Everything that is used of Dagster's private modules, with reasons; no other file imports them.

Dagster may change these names in any release: `pyproject.toml` holds its minor version, and a new
one is tried by the tests of the modules named here. Whatever has a public name is imported from
`dagster` instead. Assets and definitions do not load this module: it loads the storages.
"""

from datetime import UTC, datetime

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

# The UI is served behind our access policy.
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import GrpcServerTarget
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from sqlalchemy import func, select

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
    "delete_runless_materializations",
    "execute_run_iterator",
]

_NO_RUN = ""  # the run id of events that no run reported


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
