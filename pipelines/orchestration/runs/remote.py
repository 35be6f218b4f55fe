"""Execute runs elsewhere (`RUNS=remote`): queue them for Dagster's daemon.

The daemon launches them by the instance's launcher: on Celery workers with `CELERY_BROKER_URL`,
else in Dagster's code server.
"""

import time
from collections.abc import Callable

from dagster import DagsterInstance, DagsterRunStatus

from pipelines.orchestration.runs.reconciliation import ENDED_STATUSES
from pipelines.settings import Settings
from warehouse.records.errors import WorkerUnavailableError

CHECK_EVERY_S = 0.5
DAEMON_TIMEOUT_S = 60.0
QUEUE_DAEMON = "QUEUED_RUN_COORDINATOR"
DAEMON_LOST_AFTER_S = 120.0  # its heartbeat comes every 30 s
START_LIMIT_S = 180.0
"""A launched run that has not begun by then is lost, unless runs wait for a Celery worker."""
_IN_QUEUE = (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.QUEUED)


class RemoteRun:
    """A run that is executed elsewhere; its state is read from its record."""

    def __init__(
        self,
        instance: DagsterInstance,
        run_id: str,
        *,
        has_waiting_runs: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._instance = instance
        self._run_id = run_id
        self._has_waiting_runs = has_waiting_runs
        self._clock = clock
        self._status: DagsterRunStatus | None = None
        self._launched_at: float | None = None
        self._read_at = float("-inf")

    def has_begun(self) -> bool:
        """Whether the run sends its own heartbeats, or is given up as lost."""
        status = self._read_status()
        if status != DagsterRunStatus.STARTING:
            return status not in _IN_QUEUE
        now = self._clock()
        if self._launched_at is None:
            self._launched_at = now
        # While runs wait for an executor, this one may be among them: start the limit again.
        if now - self._launched_at >= START_LIMIT_S and self._has_waiting_runs():
            self._launched_at = now
        return now - self._launched_at >= START_LIMIT_S

    def is_over(self) -> bool:
        """Whether the run has ended, or is gone."""
        status = self._read_status()
        return status is None or status in ENDED_STATUSES

    def kill(self) -> None:
        """Report the run as canceled without waiting for it."""
        run = self._instance.get_run_by_id(self._run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_canceled(run)

    def _read_status(self) -> DagsterRunStatus | None:
        # The worker asks ten times a second; Dagster's storage may be on another machine.
        now = self._clock()
        if now - self._read_at >= CHECK_EVERY_S:
            self._read_at = now
            run = self._instance.get_run_by_id(self._run_id)
            self._status = None if run is None else run.status
        return self._status


class RemoteExecutor:
    """Submits runs to Dagster's queue through the shared storage."""

    outlives_worker = True

    def __init__(self, settings: Settings, instance: DagsterInstance) -> None:
        self._instance = instance
        self._has_waiting_runs: Callable[[], bool] = lambda: False
        if settings.celery_broker_url is not None:
            from pipelines.orchestration.runs.celery_runs import has_waiting_runs  # noqa: PLC0415 -- an extra

            self._has_waiting_runs = lambda: has_waiting_runs(instance)

    def start(self, run_id: str) -> RemoteRun:
        """Queue a run whose record exists.

        Raises:
            WorkerUnavailableError: Dagster's daemon is not running.
        """
        check_daemon(self._instance)
        self._instance.submit_run(run_id, workspace=None)  # type: ignore[arg-type]  # the queue needs none
        return RemoteRun(self._instance, run_id, has_waiting_runs=self._has_waiting_runs)


def check_daemon(instance: DagsterInstance) -> None:
    """Wait until Dagster's daemon is alive: `sametrack up` starts it together with the worker.

    Raises:
        WorkerUnavailableError: No recent heartbeat after `DAEMON_TIMEOUT_S`.
    """
    until = time.monotonic() + DAEMON_TIMEOUT_S
    while True:
        heartbeat = instance.get_daemon_heartbeats().get(QUEUE_DAEMON)
        if heartbeat is not None and time.time() - heartbeat.timestamp < DAEMON_LOST_AFTER_S:
            return
        if time.monotonic() >= until:
            raise WorkerUnavailableError(
                "Dagster's daemon, which launches runs, is not running",
                hint="Start it (`sametrack up` does) or set RUNS=local, then retry",
            )
        time.sleep(CHECK_EVERY_S)
