"""Execute one scan as one Dagster run in a warm process.

`warm` prepares a process once; the worker's pool calls `run_scan` for each job. A process runs one
scan at a time: two Dagster runs in threads of one process deadlock.
"""

import fcntl
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial

import structlog
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, JobDefinition

from pipelines.fork_server import exit_with_parent
from pipelines.logs import configure_process_logging
from pipelines.orchestration.dagster_compat import (
    InMemoryJob,
    RegisteredCodeLocationOrigin,
    RemoteRepositoryOrigin,
    execute_run_iterator,
)
from pipelines.orchestration.definitions import LOCATION, build_definitions
from pipelines.orchestration.instance import INSTANCE_FOLDER
from pipelines.orchestration.outages import awaited_resource
from pipelines.orchestration.partitions import partition_key, tracks
from pipelines.orchestration.resources import CurrentScan
from pipelines.orchestration.runs.run_identity import run_id_of, tags_of
from pipelines.orchestration.worker.job_run import ScanEnd, ScanOutcome, execute_job
from pipelines.scan.runtime import Runtime, open_runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.settings import Settings
from warehouse.home.folder import Home
from warehouse.records.jobs import JOB_KINDS, SCAN, Job

QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""Run events are in Dagster's event log; the worker's stderr stays readable."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class RunProcess:
    """The resources that a warm process keeps between scans."""

    runtime: Runtime
    instance: DagsterInstance
    current_scan: CurrentScan
    jobs: Mapping[str, JobDefinition]


_process: RunProcess | None = None
_open = ExitStack()


def open_instance(home: Home) -> DagsterInstance:
    """Open the Dagster instance of this world, configured by the project's `dagster.yaml`."""
    os.environ["SAMETRACK_DAGSTER_DIR"] = str(home.dagster_dir)
    # Processes that create the tables of a new home concurrently would hit a locked database.
    with (home.dagster_dir / "opening.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return DagsterInstance.from_config(str(INSTANCE_FOLDER))


@cache
def scan_jobs() -> tuple[CurrentScan, Mapping[str, JobDefinition]]:
    """Return Dagster's jobs of this process by kind, and the scan that their steps belong to."""
    current_scan = CurrentScan()
    definitions = build_definitions(scan=current_scan)
    return current_scan, {kind: definitions.resolve_job_def(kind) for kind in JOB_KINDS}


def warm(settings: Settings) -> None:
    """Open everything a scan needs; called once per process."""
    configure_process_logging()
    global _process  # noqa: PLW0603  # a pool initializer can pass its result on only this way
    # Before any other thread starts, since threads inherit the blocked signals.
    _end_at_once_when_asked()
    exit_with_parent()
    runtime = open_runtime(settings, _open)
    current_scan, jobs = scan_jobs()
    instance = _open.enter_context(open_instance(runtime.home))
    _process = RunProcess(runtime, instance, current_scan, jobs)


def _end_at_once_when_asked() -> None:
    """End on SIGTERM whatever runs, and leave Ctrl-C to the worker.

    Dagster's handlers would turn both into an error of the step, and so into a failed job, which
    the worker could not hand back any more. A thread takes them instead, so no handler runs.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))

    def wait() -> None:
        signal.sigwait([signal.SIGTERM])
        os._exit(1)

    threading.Thread(target=wait, name="end-when-asked", daemon=True).start()


def run_scan(job_id: str, run_number: int, waited_for: str | None = None) -> ScanEnd:
    """Run the scan of a claimed job and write its end."""
    assert _process is not None, "`warm` runs first in every process"
    process = _process
    process.current_scan.clear()
    try:
        return execute_job(
            process.runtime,
            job_id,
            partial(_run, process),
            run_number=run_number,
            waited_for=waited_for,
        )
    except Exception as error:
        wait = awaited_resource(error)
        if wait is None:
            raise
        log.warning("a store went away during the scan", job_id=job_id, error=repr(error))
        return ScanEnd("unwritten", wait=wait)


def _run(process: RunProcess, job: Job, music_id: str) -> ScanOutcome:
    if job.kind == SCAN:
        process.runtime.listening.start()
    with ScanRun(process.runtime, job, music_id=music_id) as session:
        run = _create_run(process, job, partition_key(job.kind, session.subject))
        session.on_canceling = lambda: process.instance.report_run_canceling(run)
        process.current_scan.session = session
        try:
            for _event in execute_run_iterator(
                InMemoryJob(process.jobs[job.kind]), run, process.instance
            ):
                pass
        finally:
            process.current_scan.session = None
    return _outcome(process, run)


def _create_run(process: RunProcess, job: Job, partition: str) -> DagsterRun:
    """Create a run record with a code location, so that the UI's timeline shows it too."""
    # Dagster refuses a run whose partition does not exist yet.
    process.instance.add_dynamic_partitions(str(tracks.name), [partition])
    origin = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")
    return process.instance.create_run_for_job(
        process.jobs[job.kind],
        run_id=run_id_of(job),
        run_config=QUIET,
        tags=tags_of(job, partition),
        remote_job_origin=origin.get_job_origin(job.kind),
    )


def _outcome(process: RunProcess, run: DagsterRun) -> ScanOutcome:
    ended = process.instance.get_run_by_id(run.run_id)
    if ended is not None and ended.status == DagsterRunStatus.SUCCESS:
        return ScanOutcome("completed")
    return process.current_scan.outcome()
