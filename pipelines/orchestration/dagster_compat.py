"""Everything that is used of Dagster's private modules, with reasons; no other file imports them.

Dagster may change these names in any release: `pyproject.toml` holds its minor version, and
`tests/orchestration/test_dagster_compat.py` says what breaks. Whatever has a public name is
imported from `dagster` instead. Classes that `dagster.yaml` names are stock, too, and not imported.
"""

import sys
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from dagster import DagsterEventType, DagsterInstance, DagsterRun, JobDefinition

# What `dagster api execute_run` and Dagster's Celery worker call: executes a run that has a record.
# The public `execute_job` makes a record of its own, without our id and without a code location.
from dagster._cli.api import _execute_run_command_body

# Runs name where their code is: the daemon and Celery workers load it by that, and the UI shows the
# run beside its code location. `create_run_for_job` is public, these arguments of it are not.
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

# Events of no run, and results of checks, which Dagster itself would keep for ever.
from dagster._core.storage.event_log import SqlEventLogStorage, schema

# The UI is Dagster's own web application, served behind our access policy.
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import GrpcServerTarget
from sqlalchemy import func, select

__all__ = [
    "GrpcServerTarget",
    "WorkspaceProcessContext",
    "create_run",
    "delete_check_results",
    "delete_runless_materializations",
    "execute_run",
]
_NO_RUN = ""  # the run id of events that no run reported


def create_run(
    instance: DagsterInstance,
    job: JobDefinition,
    *,
    run_id: str,
    tags: Mapping[str, str],
    run_config: Mapping[str, object],
    code: tuple[str, str, str],
) -> DagsterRun:
    """Create the record of a run that Dagster's daemon, a Celery worker or `execute_run` executes.

    `code`: the name of the code location, the module and the attribute of its definitions.
    """
    location, module, attribute = code
    pointer = ModuleCodePointer(module, attribute, working_directory=None)
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(location), "__repository__")
    return instance.create_run_for_job(
        job,
        run_id=run_id,
        run_config=run_config,
        tags=tags,
        remote_job_origin=repository.get_job_origin(job.name),
        job_code_origin=JobPythonOrigin(job.name, RepositoryPythonOrigin(sys.executable, pointer)),
    )


def execute_run(instance: DagsterInstance, run_id: str) -> None:
    """Execute a run in this process; how it ends is in its record."""
    _execute_run_command_body(
        run_id, instance, write_stream_fn=lambda _event: None, set_exit_code_on_failure=False
    )


def delete_runless_materializations(instance: DagsterInstance, before: datetime) -> int:
    """Delete materializations that no run reported, but the newest of each asset; return how many.

    Dagster deletes events only together with their run, so these would stay for ever.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return 0
    events = schema.SqlEventLogStorageTable
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


def delete_check_results(instance: DagsterInstance, run_ids: Collection[str]) -> None:
    """Delete the results of checks of deleted runs; Dagster deletes a run without them."""
    storage = instance.event_log_storage
    if isinstance(storage, SqlEventLogStorage):
        results = schema.AssetCheckExecutionsTable
        with storage.index_connection() as connection:
            connection.execute(results.delete().where(results.c.run_id.in_(list(run_ids))))
