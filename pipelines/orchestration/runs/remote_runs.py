"""Run scans in a Dagster deployment (`RUNS=remote`): queue them for Dagster's daemon.

Stored results and equal running jobs are detected here and need no run. A run sends heartbeats and
writes its own end (`run_session.py`).
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.dagster_compat import (
    JobPythonOrigin,
    ModuleCodePointer,
    RegisteredCodeLocationOrigin,
    RemoteRepositoryOrigin,
    RepositoryPythonOrigin,
)
from pipelines.orchestration.definitions import LOCATION, build_definitions
from pipelines.orchestration.partitions import partition_key, tracks
from pipelines.orchestration.runs.launcher import has_waiting_runs
from pipelines.orchestration.runs.run_identity import ENDED_STATUSES, run_id, run_id_of, tags_of
from pipelines.orchestration.runs.scan_runs import QUIET, open_instance
from pipelines.orchestration.worker.job_run import ScanEnd, ScanOutcome, execute_job
from pipelines.scan.runtime import Runtime, open_runtime
from pipelines.settings import Settings
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import JOB_KINDS, Job

RUN_POLL_S = 0.5
DAEMON_TIMEOUT_S = 60.0
QUEUE_DAEMON = "QUEUED_RUN_COORDINATOR"
DAEMON_LOST_AFTER_S = 120.0  # its heartbeat comes every 30 s
REPOSITORY = "__repository__"
_CODE = RepositoryPythonOrigin(
    sys.executable,
    ModuleCodePointer("pipelines.definitions", "defs", str(Path(__file__).parents[3])),
)
START_LIMIT_S = 180.0
"""A launched run that has not begun by then is lost, unless runs wait for a Celery worker."""
_IN_QUEUE = (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.QUEUED)


class RemoteScanHandle:
    """A job that is prepared here and then runs elsewhere."""

    def __init__(
        self,
        launched: str,
        prepared: Future[ScanEnd],
        instance: DagsterInstance,
        *,
        has_waiting_runs: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run_id = launched
        self._has_waiting_runs = has_waiting_runs
        self._prepared = prepared
        self._instance = instance
        self._clock = clock
        self._status: DagsterRunStatus | None = None
        self._launched_at: float | None = None
        self._looked_at = float("-inf")

    def done(self) -> bool:
        """Whether the job needed no run or its run has ended."""
        if not self._prepared.done():
            return False
        if self._prepared.exception() is not None or self._prepared.result().status != HANDED_OVER:
            return True
        status = self._look()
        return status is None or status in ENDED_STATUSES

    def result(self) -> ScanEnd:
        """Return the end of the preparation; raise its error."""
        return self._prepared.result()

    def abandon(self) -> None:
        """Report the run as canceled without waiting for it."""
        run = self._instance.get_run_by_id(self._run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_canceled(run)

    def needs_heartbeat(self) -> bool:
        """Whether the run has not begun yet and still may; then it sends its own heartbeats."""
        if not self._prepared.done():
            return True
        status = self._look()
        if status != DagsterRunStatus.STARTING:
            return status in _IN_QUEUE
        now = self._clock()
        if self._launched_at is None:
            self._launched_at = now
        if now - self._launched_at >= START_LIMIT_S and self._has_waiting_runs():
            self._launched_at = now  # more runs than executors: it may be one of those that wait
        return now - self._launched_at < START_LIMIT_S

    def has_begun(self) -> bool:
        """Return True: a remote run checks for cancellation itself."""
        return True

    def _look(self) -> DagsterRunStatus | None:
        now = self._clock()
        if now - self._looked_at >= RUN_POLL_S:
            self._looked_at = now
            run = self._instance.get_run_by_id(self._run_id)
            self._status = None if run is None else run.status
        return self._status


HANDED_OVER = "handed_over"


class RemoteScanRunner:
    """Submits scans to Dagster's queue through the shared storage; its daemon launches them."""

    outlive_worker = True

    def __init__(self, settings: Settings) -> None:
        self._stack = ExitStack()
        self._runtime: Runtime = open_runtime(settings, self._stack)
        self._instance = self._stack.enter_context(open_instance(self._runtime.home))
        definitions = build_definitions()
        self._jobs = {kind: definitions.resolve_job_def(kind) for kind in JOB_KINDS}
        self._threads = ThreadPoolExecutor(settings.worker_runs, thread_name_prefix="prepare")

    def launch_scan(
        self, job_id: str, *, run_number: int, waited_for: str | None = None
    ) -> RemoteScanHandle:
        """Prepare the job in a thread and submit its run if it needs one."""
        prepare = partial(
            execute_job,
            self._runtime,
            job_id,
            self._submit,
            run_number=run_number,
            waited_for=waited_for,
        )
        launched = run_id(job_id, run_number)
        return RemoteScanHandle(
            launched,
            self._threads.submit(prepare),
            self._instance,
            has_waiting_runs=lambda: has_waiting_runs(self._instance),
        )

    def close(self) -> None:
        """Stop submitting; remote runs continue."""
        self._threads.shutdown(cancel_futures=True)
        self._stack.close()

    def _submit(self, job: Job, music_id: str) -> ScanOutcome | None:
        """Queue a run of the job; the run writes its end itself.

        Raises:
            WorkerUnavailableError: Dagster's daemon is not running.
        """
        check_daemon(self._instance)
        partition = partition_key(job.kind, music_id or job.target)
        # Dagster refuses a run whose partition does not exist yet.
        self._instance.add_dynamic_partitions(str(tracks.name), [partition])
        location = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), REPOSITORY)
        run = self._instance.create_run_for_job(
            self._jobs[job.kind],
            run_id=run_id_of(job),
            run_config=QUIET,
            tags=tags_of(job, partition),
            remote_job_origin=location.get_job_origin(job.kind),
            job_code_origin=JobPythonOrigin(job.kind, _CODE),
        )
        self._instance.submit_run(run.run_id, workspace=None)  # type: ignore[arg-type]  # the queue needs none
        return None


def check_daemon(instance: DagsterInstance) -> None:
    """Wait until Dagster's daemon is alive.

    It waits because `sametrack up` starts worker and daemon at the same time.

    Raises:
        WorkerUnavailableError: No recent heartbeat after `DAEMON_TIMEOUT_S`.
    """
    until = time.monotonic() + DAEMON_TIMEOUT_S
    while not _is_daemon_alive(instance):
        if time.monotonic() >= until:
            raise WorkerUnavailableError(
                "Dagster's daemon, which launches runs, is not running",
                hint="Start it (`sametrack up` does) or set RUNS=local, then retry",
            )
        time.sleep(RUN_POLL_S)


def _is_daemon_alive(instance: DagsterInstance) -> bool:
    beat = instance.get_daemon_heartbeats().get(QUEUE_DAEMON)
    return beat is not None and time.time() - beat.timestamp < DAEMON_LOST_AFTER_S
