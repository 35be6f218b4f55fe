"""The worker: claims jobs from the queue, prepares them, starts their runs, requeues lost ones.

A run does everything else itself, wherever it executes (`runs/run_session.py`). The worker sends
the heartbeats of a job until its run has begun, puts the jobs of lost runs back into the queue, and
reconciles job rows with runs. Not here: the two ways to execute a run (`runs/local.py`,
`runs/remote.py`).
"""

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

import structlog
from dagster import DagsterInstance

from pipelines.background_thread import background_thread
from pipelines.catalog.background import run_requested_catalogs
from pipelines.logs import configure_process_logging
from pipelines.orchestration.failures import ResourceWait, awaited_resource, is_outage
from pipelines.orchestration.runs import reconciliation
from pipelines.orchestration.runs.local import LocalExecutor
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.runs.reconciliation import run_id
from pipelines.orchestration.runs.remote import RemoteExecutor
from pipelines.orchestration.runs.run_session import SilenceWatch, heartbeats
from pipelines.orchestration.worker.asset_catalog import report_assets
from pipelines.orchestration.worker.launch import JobLauncher, Launched, LaunchedRun
from pipelines.orchestration.worker.maintenance import run_maintenance
from pipelines.scan.runtime import open_runtime
from pipelines.scan.service.service import ASK_AGAIN, WORKER_GONE, end_lost_run
from pipelines.settings import Settings
from warehouse.control import ControlStore, jobs
from warehouse.files import free_megabytes
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES

CLAIM_EVERY_S = 0.1
WAITERS_EVERY_S = 0.5
RECONCILE_EVERY_S = 15.0
HANGS_AFTER_S = 300.0
"""A worker whose loop takes no step for so long sends no heartbeat, and counts as lost."""

OUTAGE_LIMIT_S = 300.0
"""A worker ends when its stores have been away for longer, so that operators notice it."""

OUTAGE_PAUSE_S = 1.0

CANCEL_GRACE_S = 30.0
"""A cancelled scan stops within seconds; after this time it hangs, and its process is killed."""

THREAD_WAIT_S = 5.0
"""Wait for each thread at the end; the next worker does what it leaves undone."""

SPACE_EVERY_S = 5.0
PROCESS_GONE = "The process that ran this scan ended unexpectedly"

log = structlog.get_logger(__name__)


class Launcher(Protocol):
    """Prepares a claimed job and starts its run; `runs_outlive_worker` if that goes on alone."""

    runs_outlive_worker: bool

    def launch(
        self, job_id: str, run_number: int, *, waited_for: str | None = None
    ) -> Future[Launched]: ...


class IntervalTimer:
    """A timer that is due at most once per interval."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._last = float("-inf")

    def is_due(self, now: float) -> bool:
        """Whether the interval has passed since the last time this was True."""
        if now - self._last < self._every_s:
            return False
        self._last = now
        return True


@dataclass(slots=True)
class HeldJob:
    """A job that this worker has claimed.

    It is being prepared (`launched` is not done), waits for an equal job (`waits_for`), or has a
    run. `overdue_since` is when a run that should have ended was first noticed.
    """

    job_id: str
    run_number: int
    launched: Future[Launched]
    waits_for: str | None = None
    run: LaunchedRun | None = None
    overdue_since: float | None = None

    @property
    def run_id(self) -> str:
        """The id of its run in Dagster."""
        return run_id(self.job_id, self.run_number)

    @property
    def needs_heartbeat(self) -> bool:
        """Whether nobody else sends its heartbeats: its run has not begun."""
        return self.run is None or not self.run.has_begun()


@dataclass(slots=True)
class Worker:
    """One worker process; `run_worker` calls `step` until it is stopped, and `beat` in a thread."""

    worker_id: str
    settings: Settings
    control: ControlStore
    instance: DagsterInstance
    launcher: Launcher
    clock: Callable[[], float] = time.monotonic
    utc: Callable[[], datetime] = lambda: datetime.now(UTC)
    held: dict[str, HeldJob] = field(default_factory=dict)
    has_space: Callable[[], bool] = lambda: True
    _is_full: bool = True  # until the first check: an earlier worker may have marked jobs
    _stepped_at: float | None = None
    _outage_began_at: float | None = None
    _beating: tuple[str, ...] = ()
    _silence: SilenceWatch = field(default_factory=SilenceWatch)
    _timers: dict[str, IntervalTimer] = field(default_factory=dict)

    def step(self) -> None:
        """Follow the jobs that are held, claim others, requeue those whose run was lost."""
        self._stepped_at = self.clock()
        checks_waiters = self._is_due("waiters", WAITERS_EVERY_S)
        # Follow ended jobs first: they free places for the waiting and the queued ones.
        for held in list(self.held.values()):
            if held.run is not None:
                self._follow_run(held, held.run)
            elif held.waits_for is None:
                self._follow_launch(held)
            elif checks_waiters:
                self._follow_waiting(held, held.waits_for)
        self._claim()
        # Replaced as a whole, never changed: the heartbeat thread reads it without a lock.
        self._beating = tuple(held.job_id for held in self.held.values() if held.needs_heartbeat)
        if self._is_due("others", self.settings.heartbeat_s):
            self._requeue_lost()
            # A run that has not begun notices nothing itself.
            reconciliation.cancel_jobs_of_terminated_runs(
                self.instance,
                self.control,
                [held.run_id for held in self.held.values() if held.run is not None],
                expires_at=self._kept_until(),
            )
            self._kill_hanging_runs()
        if self._is_due("reconcile", RECONCILE_EVERY_S):
            ended = reconciliation.end_orphaned_runs(self.instance, self.control, now=self.utc())
            # Other machines may use Dagster's storage in PostgreSQL.
            if not self.settings.dagster_storage_url:
                ended += reconciliation.end_unserved_runs(self.instance)
            for ended_id in ended:
                log.info("run ended that nothing executes", run_id=ended_id)

    def try_step(self) -> bool:
        """Take a step; return False while a store is away. A later step does what is left undone.

        A job that had just been claimed or had just ended may then be without heartbeats, and goes
        on as a lost one.

        Raises:
            Exception: The step failed for another reason, or a store has been away for
                `OUTAGE_LIMIT_S`.
        """
        try:
            self.step()
        except Exception as error:
            now = self.clock()
            if self._outage_began_at is None:
                self._outage_began_at = now
            if not is_outage(error) or now - self._outage_began_at >= OUTAGE_LIMIT_S:
                raise
            log.warning("a store is away; running scans go on", error=repr(error))
            return False
        self._outage_began_at = None
        return True

    def beat(self) -> None:
        """Send the heartbeat of the worker and of jobs whose run has not begun, from any thread.

        Sends nothing while the worker's loop hangs.

        Raises:
            WarehouseError: The control store refuses it.
        """
        stepped_at = self._stepped_at
        # Before its first step the worker is starting, which is no hang.
        if stepped_at is None or self.clock() - stepped_at < HANGS_AFTER_S:
            jobs.beat(self.control, self.worker_id, self._beating)

    def hand_back_all(self, why: str) -> None:
        """Kill the local runs and put their jobs back into the queue, when the worker stops.

        This costs no attempt: the next worker goes on at once.
        """
        for held in list(self.held.values()):
            if held.run is not None and self.launcher.runs_outlive_worker:
                del self.held[held.job_id]
                continue
            if held.run is not None:
                held.run.kill()
            self._hand_back(held, why)

    def _claim(self) -> None:
        while self._free_places():
            if self._is_due("space", SPACE_EVERY_S):
                was_full, self._is_full = self._is_full, not self.has_space()
                # Mark the queued jobs as waiting for the disk, also those that are added meanwhile,
                # and remove the marks when it has space again.
                if self._is_full or was_full:
                    jobs.set_queue_waiting_for_disk(self.control, self._is_full)
            if self._is_full:
                return
            job = jobs.claim(self.control, self.worker_id)
            if job is None:
                return
            log.info("job claimed", job_id=job.job_id, input=job.input, attempt=job.attempt)
            launched = self.launcher.launch(job.job_id, job.run_number)
            self.held[job.job_id] = HeldJob(job.job_id, job.run_number, launched)

    def _free_places(self) -> int:
        """Return how many more runs may be under way; jobs that wait for an equal one need none."""
        running = sum(held.waits_for is None for held in self.held.values())
        return self.settings.worker_runs - running

    def _follow_launch(self, held: HeldJob) -> None:
        """Read the result of a launch, if it is there."""
        if not held.launched.done():
            return
        error = held.launched.exception()
        if error is None:
            launched = held.launched.result()
            held.run, held.waits_for = launched.run, launched.waits_for
            if held.waits_for is not None:
                jobs.set_waiting_for(self.control, held.job_id, "lease")
            elif held.run is None:
                self._give_up(held, "The run ended without a status")
            return
        log.error("job not launched", job_id=held.job_id, fault=repr(error))
        wait = awaited_resource(error)
        if wait is not None:
            self._hand_back(held, "A store was away", wait=wait)
            return
        # The next attempt would fail in the same way.
        job = jobs.get(self.control, held.job_id)
        if job is not None:
            reason = WorkerUnavailableError("The scan failed unexpectedly", hint=ASK_AGAIN)
            jobs.finish(
                self.control,
                held.job_id,
                "cancelled" if job.cancel_requested else "failed",
                error=reason.to_document(),
                expires_at=self._kept_until(),
                run_number=held.run_number,
            )
        del self.held[held.job_id]

    def _follow_run(self, held: HeldJob, run: LaunchedRun) -> None:
        """Drop a job whose run is over; write its end if a killed process could not."""
        if not run.is_over():
            return
        may_write = self.launcher.runs_outlive_worker and run.has_begun()
        if may_write and not jobs.is_cancel_requested(self.control, held.job_id):
            # The run writes its end itself; if it does not, its heartbeats stop and it is lost.
            del self.held[held.job_id]
        else:
            self._give_up(held, PROCESS_GONE)

    def _follow_waiting(self, held: HeldJob, twin_id: str) -> None:
        """Launch a job whose equal job has ended; it comes before newly claimed ones."""
        # The result of its twin may serve this job, or the twin has failed and this job scans.
        twin = jobs.get(self.control, twin_id)
        if jobs.is_cancel_requested(self.control, held.job_id):
            self._give_up(held, "Cancelled while it waited")
        elif (twin is None or twin.status in FINAL_STATUSES) and self._free_places():
            held.launched = self.launcher.launch(held.job_id, held.run_number, waited_for=twin_id)
            held.waits_for = None

    def _requeue_lost(self) -> None:
        silent = jobs.lost(self.control, self.settings.worker_lost_after_s)
        for job in self._silence.lost(silent):
            held = self.held.get(job.job_id)
            # A job that this worker still acts for is not lost, however late its heartbeat is.
            if held and held.needs_heartbeat and held.run_number == job.run_number:
                continue
            self._lose(job.job_id, job.run_number, WORKER_GONE)

    def _kill_hanging_runs(self) -> None:
        """Kill cancelled runs that do not stop or have not begun, and processes of ended runs."""
        now = self.clock()
        for held in self.held.values():
            if held.run is None:
                continue
            should_end = jobs.is_cancel_requested(self.control, held.job_id)
            if not should_end and not reconciliation.is_finished(self.instance, held.run_id):
                held.overdue_since = None
                continue
            held.overdue_since = now if held.overdue_since is None else held.overdue_since
            if not held.run.has_begun():
                held.run.kill()
            elif now - held.overdue_since >= CANCEL_GRACE_S:
                log.error("scan does not stop", job_id=held.job_id)
                held.run.kill()

    def _hand_back(self, held: HeldJob, why: str, *, wait: ResourceWait | None = None) -> None:
        """Put a job back into the queue; this costs no attempt."""
        wait = wait or ResourceWait("worker", 0.0)
        run = self.instance.get_run_by_id(held.run_id)
        has_result = run is not None and run.is_success  # its end was not written yet
        if has_result or not jobs.requeue(
            self.control,
            held.job_id,
            run_number=held.run_number,
            costs_attempt=False,
            waiting_for=wait.resource,
            wait_s=wait.seconds,
        ):
            self._lose(held.job_id, held.run_number, why)  # it has ended, or is to be cancelled
        else:
            log.info("job handed back", job_id=held.job_id, waiting_for=wait.resource)
            if run is not None:
                reconciliation.end_run(self.instance, run, jobs.get(self.control, held.job_id))
        del self.held[held.job_id]  # last: while a store is away, each step tries again

    def _give_up(self, held: HeldJob, why: str) -> None:
        """Drop a job, and requeue or end it if it is still held by its run."""
        self._lose(held.job_id, held.run_number, why)
        del self.held[held.job_id]

    def _lose(self, job_id: str, number: int, why: str) -> None:
        """Requeue or end a job whose run was lost, if that run still holds it."""
        job = jobs.get(self.control, job_id)
        if job is None or job.run_number != number or job.status != "running":
            return
        # A run that has succeeded has stored its result: the job is completed, not repeated.
        run = self.instance.get_run_by_id(run_id(job_id, number))
        status = end_lost_run(
            self.control,
            job,
            why,
            has_result=run is not None and run.is_success,
            expires_at=self._kept_until(),
        )
        if status is None:
            return
        log.warning("run lost", job_id=job_id, attempt=job.attempt, reason=why, job_is_now=status)
        if run is not None:
            reconciliation.end_run(self.instance, run, jobs.get(self.control, job_id))

    def _kept_until(self) -> datetime:
        return self.utc() + timedelta(days=self.settings.job_retention_days)

    def _is_due(self, name: str, every_s: float) -> bool:
        return self._timers.setdefault(name, IntervalTimer(every_s)).is_due(self.clock())


def run_worker(settings: Settings) -> int:
    """Run the worker until SIGTERM or SIGINT; return the exit status."""
    configure_process_logging()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with ExitStack() as stack:
        runtime = open_runtime(settings, stack)
        instance = stack.enter_context(open_instance(runtime.home))
        executor = (
            RemoteExecutor(settings, instance)
            if settings.runs == "remote"
            else LocalExecutor(settings)
        )
        worker = Worker(
            # Host and process id repeat: after a restart, and in containers.
            worker_id=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
            settings=settings,
            control=runtime.control,
            instance=instance,
            launcher=JobLauncher(runtime, instance, executor),
            has_space=lambda: free_megabytes(runtime.home.root) >= settings.min_free_disk_mb,
        )
        for name, run in (
            ("maintenance", partial(run_maintenance, settings)),
            ("assets", partial(report_assets, settings, worker.worker_id)),
            ("catalogues", partial(run_requested_catalogs, settings)),
        ):
            stack.enter_context(background_thread(name, run, wait_s=THREAD_WAIT_S))
        log.info("worker ready", worker_id=worker.worker_id, runs=settings.worker_runs)
        with heartbeats(worker.beat, every_s=settings.heartbeat_s):
            pause_s = CLAIM_EVERY_S
            while not stop.wait(pause_s):
                pause_s = CLAIM_EVERY_S if worker.try_step() else OUTAGE_PAUSE_S
        worker.hand_back_all("The worker was stopped")
        # After the last heartbeat: another one would register the worker again.
        jobs.retire(worker.control, worker.worker_id)
    return 0
