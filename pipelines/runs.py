"""One scan as one Dagster run, in a warm process. The only place that knows Dagster's run calls.

`warm` prepares a process once; `run_scan` is what the worker's pool calls for each job. A process
runs one scan at a time: two Dagster runs in threads of one process deadlock.
"""

import fcntl
import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import structlog
from dagster import DagsterInstance, DagsterRunStatus, JobDefinition
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run_iterator
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.storage.dagster_run import DagsterRun

from pipelines.definitions import LOCATION, build_definitions
from pipelines.domain.errors import RunCancelledError, SametrackError
from pipelines.domain.evidence import ALGORITHM
from pipelines.domain.jobs import KEYWORD_SEARCH, KINDS, Job
from pipelines.domain.parameters import fingerprint, scan_key, scan_parameters
from pipelines.logs import configure_logging
from pipelines.partitions import partition_key, tracks
from pipelines.resources import ScanSlot
from pipelines.runtime import Runtime, open_runtime
from pipelines.scan.session import ScanSession
from pipelines.settings import Settings
from pipelines.stored import serve_from_twin, serve_stored
from warehouse.home import Home

PARENT_LOOK_EVERY_S = 0.5
QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""Events are in the orchestrator's own log; the worker's stderr is for people."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class RunProcess:
    """What a warm process holds between scans."""

    runtime: Runtime
    instance: DagsterInstance
    slot: ScanSlot
    jobs: Mapping[str, JobDefinition]


_process: RunProcess | None = None
_open = ExitStack()


def open_instance(home: Home) -> DagsterInstance:
    """The Dagster instance of this world; its configuration is `dagster.yaml` of the project."""
    os.environ["SAMETRACK_DAGSTER_DIR"] = str(home.dagster_dir)
    # Processes that make the tables of a new home at the same time meet a locked database.
    with (home.dagster_dir / "opening.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return DagsterInstance.from_config(str(Path(__file__).parents[1]))


def warm(settings: Settings) -> None:
    """Open everything a scan needs and import what is slow; called once per process."""
    configure_logging()
    global _process  # noqa: PLW0603  # a pool initializer has no other place to leave what it opened
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the worker's to answer
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Dagster's import makes it a KeyboardInterrupt
    _follow_parent(os.getppid())
    runtime = open_runtime(settings, _open)
    slot = ScanSlot()
    definitions = build_definitions(scan=slot)
    instance = _open.enter_context(open_instance(runtime.home))
    _process = RunProcess(
        runtime, instance, slot, {kind: definitions.resolve_job_def(kind) for kind in KINDS}
    )


def _follow_parent(parent: int) -> None:
    """End this process when its worker is gone, however it went."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_LOOK_EVERY_S)
        os._exit(1)

    threading.Thread(target=watch, name="follow-parent", daemon=True).start()


def run_scan(job_id: str) -> str:
    """Run the scan of a claimed job to its end and write that end; returns the final status."""
    assert _process is not None, "the pool warms its processes first"
    runtime = _process.runtime
    job = runtime.control.job(job_id)
    if job is None:
        return "failed"
    structlog.contextvars.bind_contextvars(job_id=job_id)
    try:
        status, error = _scan(_process, job), _process.slot.error
    except RunCancelledError:
        status, error = "cancelled", None
    except SametrackError as fault:
        status, error = "failed", fault
    finish(runtime, job_id, status, error)
    runtime.control.release_leases(job_id)
    for name in runtime.lake.crowded():
        runtime.lake.compact(name)
    return status


def finish(runtime: Runtime, job_id: str, status: str, error: SametrackError | None) -> None:
    """Write how a job ended, and until when its result is kept."""
    if status == "failed" and error is None:
        error = SametrackError(
            "The scan ended by an unexpected fault before its result was complete",
            hint="Open the run of this job in the orchestrator's UI, then ask again",
        )
    kept = timedelta(days=runtime.settings.job_retention_days)
    runtime.control.finish(
        job_id,
        status,  # type: ignore[arg-type]  # one of the final states
        error=error.to_document() if error else None,
        expires_at=datetime.now(UTC) + kept,
    )
    log.info("scan ended", status=status, error=error.type if error else None)


def _scan(process: RunProcess, job: Job) -> str:
    runtime = process.runtime
    process.slot.error, process.slot.was_cancelled = None, False
    if job.kind == KEYWORD_SEARCH:
        return _run(process, job, music_id="")
    music_id = job.music_id or _resolve(runtime, job)
    parameters = scan_parameters(job.parameters)
    provider = runtime.settings.music_data_provider
    key = scan_key(music_id, runtime.world, provider, ALGORITHM, parameters)
    runtime.control.set_target(job.job_id, music_id=music_id, scan_key=key)
    # A job that came as a link is known for what it is only now: the look that the API takes.
    if job.music_id is None and serve_stored(runtime, job, key, parameters):
        return "completed"
    twin_key = fingerprint(music_id, runtime.world, provider, parameters)
    is_cancelled = partial(runtime.control.is_cancel_requested, job.job_id)
    if serve_from_twin(runtime, job, twin_key, cancelled=is_cancelled):
        return "completed"
    return _run(process, job, music_id=music_id)


def _run(process: RunProcess, job: Job, *, music_id: str) -> str:
    with ScanSession(process.runtime, job, music_id=music_id) as session:
        run = _create_run(process, job, partition_key(job.kind, session.subject))
        session.on_canceling = lambda: process.instance.report_run_canceling(run)
        process.slot.session = session
        try:
            for _event in execute_run_iterator(
                InMemoryJob(process.jobs[job.kind]), run, process.instance
            ):
                pass
        finally:
            process.slot.session = None
    return _status(process, run)


def _resolve(runtime: Runtime, job: Job) -> str:
    """Read which track a link leads to. A scan whose track is unknown has no run."""
    with ScanSession(runtime, job, music_id="") as session:
        return session.run(session.captures.resolve(job.input))


def _create_run(process: RunProcess, job: Job, partition: str) -> DagsterRun:
    """A run record with a code location, so that the timeline of the UI shows it too."""
    process.instance.add_dynamic_partitions(str(tracks.name), [partition])
    origin = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")
    return process.instance.create_run_for_job(
        process.jobs[job.kind],
        run_id=job.job_id,
        run_config=QUIET,
        tags={"dagster/partition": partition, "sametrack/origin": job.origin},
        remote_job_origin=origin.get_job_origin(job.kind),
    )


def _status(process: RunProcess, run: DagsterRun) -> str:
    ended = process.instance.get_run_by_id(run.run_id)
    if ended is not None and ended.status == DagsterRunStatus.SUCCESS:
        return "completed"
    return "cancelled" if process.slot.was_cancelled else "failed"
