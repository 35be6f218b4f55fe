"""Prepare a claimed job and start its run, in a thread of the worker.

Stored results and equal jobs need no run, so they are found here.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import structlog
from dagster import DagsterInstance

from pipelines.orchestration.dagster_compat import create_run
from pipelines.orchestration.definitions import LOCATION, build_definitions
from pipelines.orchestration.failures import awaited_resource
from pipelines.orchestration.partitions import partition_key, tracks
from pipelines.orchestration.runs.reconciliation import run_id_of, tags_of
from pipelines.orchestration.runs.run_session import ScanOutcome, end_job
from pipelines.scan.runtime import Runtime
from pipelines.scan.service.preparation import prepare_scan
from warehouse.control import jobs
from warehouse.records.errors import RunCancelledError, SametrackError
from warehouse.records.jobs import JOB_KINDS

CODE = (LOCATION, "pipelines.definitions", "defs")
"""Where the code of a run is: code location, module, attribute."""
QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""Run events are in Dagster's event log; stderr stays readable."""


class LaunchedRun(Protocol):
    """A run that was started."""

    def has_begun(self) -> bool:
        """Whether it sends its own heartbeats, or is given up as lost."""

    def is_over(self) -> bool:
        """Whether it has ended, or does not exist any more."""

    def kill(self) -> None:
        """End it without waiting for it."""


class Executor(Protocol):
    """A way to execute runs; if `outlives_worker`, they continue when the worker stops."""

    outlives_worker: bool

    def start(self, run_id: str) -> LaunchedRun: ...


@dataclass(frozen=True, slots=True)
class Launched:
    """The result of a launch: the job waits for an equal job, has a run, or has ended."""

    waits_for: str | None = None
    run: LaunchedRun | None = None


class JobLauncher:
    """Prepares jobs and starts their runs by an executor."""

    def __init__(self, runtime: Runtime, instance: DagsterInstance, executor: Executor) -> None:
        self._runtime = runtime
        self._instance = instance
        self._executor = executor
        self.runs_outlive_worker = executor.outlives_worker
        # Built once for all runs, because resolving the jobs of all assets takes long.
        definitions = build_definitions()
        self._jobs = {kind: definitions.resolve_job_def(kind) for kind in JOB_KINDS}

    def launch(
        self, job_id: str, run_number: int, *, waited_for: str | None = None
    ) -> Future[Launched]:
        """Launch a claimed job in a thread, because preparing it may read the platform.

        `waited_for` is the equal job whose end this job has waited for.
        """
        return in_thread(lambda: self._launch(job_id, run_number, waited_for))

    def _launch(self, job_id: str, run_number: int, waited_for: str | None) -> Launched:
        job = jobs.get(self._runtime.control, job_id)
        if job is None or job.run_number != run_number:
            return Launched()  # another worker has it
        structlog.contextvars.bind_contextvars(job_id=job_id)
        try:
            prepared = prepare_scan(self._runtime, job, waited_for=waited_for)
            if prepared.waits_for is not None:
                return Launched(waits_for=prepared.waits_for)
            if not prepared.is_served:
                partition = partition_key(job.kind, prepared.music_id or job.target)
                # Dagster refuses a run whose partition does not exist yet.
                self._instance.add_dynamic_partitions(str(tracks.name), [partition])
                run = create_run(
                    self._instance,
                    self._jobs[job.kind],
                    run_id=run_id_of(job),
                    tags=tags_of(job, partition),
                    run_config=QUIET,
                    code=CODE,
                )
                return Launched(run=self._executor.start(run.run_id))
            outcome = ScanOutcome("completed")
        except RunCancelledError:
            outcome = ScanOutcome("cancelled")
        except SametrackError as error:
            outcome = ScanOutcome("failed", error, awaited_resource(error))
        end_job(self._runtime, job, outcome)
        return Launched()


def in_thread[T](work: Callable[[], T]) -> Future[T]:
    """Do some work in a daemon thread, which does not keep a stopped process alive.

    A `ThreadPoolExecutor` would wait for its threads at exit.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 -- raised where the result is read
            future.set_exception(error)

    threading.Thread(target=run, name="launch", daemon=True).start()
    return future
