"""The worker: claim jobs from the queue, start their runs.

It also reconciles job rows with runs, and puts jobs of lost workers back into the queue. Not here:
executing a job (`job_run.py`), the processes (`runs/local_runs.py`).
"""

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

import structlog
from dagster import DagsterInstance
from pebble import ProcessExpired

from pipelines.background_thread import background_thread
from pipelines.catalog.background import run_requested_catalogs
from pipelines.logs import configure_process_logging
from pipelines.orchestration.outages import ResourceWait, awaited_resource, is_outage
from pipelines.orchestration.runs.local_runs import BrokenPoolError, LocalScanRunner
from pipelines.orchestration.runs.lost_runs import end_unserved_runs
from pipelines.orchestration.runs.reconciliation import (
    cancel_jobs_of_terminated_runs,
    end_orphaned_runs,
    end_run,
    is_finished,
)
from pipelines.orchestration.runs.remote_runs import RemoteScanRunner
from pipelines.orchestration.runs.run_identity import run_id
from pipelines.orchestration.runs.scan_runs import open_instance
from pipelines.orchestration.storage import dagster_server
from pipelines.orchestration.worker.catalog import report_assets
from pipelines.orchestration.worker.heartbeats import SilenceWatch, heartbeats
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.orchestration.worker.maintenance_rounds import run_maintenance
from pipelines.platform.providers import choose_profile
from pipelines.scan.runtime import open_control_store
from pipelines.scan.service.job_endings import ASK_AGAIN, WORKER_GONE, end_lost_run
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.home.disk_space import free_megabytes
from warehouse.home.folder import open_home
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES, JobStatus

CLAIM_EVERY_S = 0.05
WAITERS_EVERY_S = 0.5
RECONCILE_EVERY_S = 15.0
HANGS_AFTER_S = 300.0
"""A loop without a step for so long hangs: its worker sends no heartbeat and is given up."""

OUTAGE_LIMIT_S = 300.0
"""A worker whose stores have been away for longer ends, so that it does not go unnoticed."""

OUTAGE_PAUSE_S = 1.0

CANCEL_GRACE_S = 30.0
"""A cancelled scan stops within seconds; after this time it hangs, and its process is killed."""

THREAD_WAIT_S = 5.0
"""What a thread of the worker leaves undone at the end, the next worker finds again."""

SPACE_EVERY_S = 5.0
PROCESS_GONE = "The process that ran this scan ended unexpectedly"
_LOST_PROCESS = (ProcessExpired, BrokenPoolError, CancelledError)

log = structlog.get_logger(__name__)


class ScanHandle(Protocol):
    """A scan in progress."""

    def done(self) -> bool:
        """Whether the scan has ended for this worker."""

    def result(self) -> ScanEnd:
        """Return the end of the scan; raise the error that ended it otherwise."""

    def abandon(self) -> None:
        """Kill the scan."""

    def needs_heartbeat(self) -> bool:
        """Whether the worker must send heartbeats for the scan."""

    def has_begun(self) -> bool:
        """Whether a process runs the scan; before that, nothing checks for its cancellation."""


class ScanRunner(Protocol):
    """Launches scans; with `outlive_worker` they continue when the worker stops."""

    outlive_worker: bool

    def launch_scan(
        self, job_id: str, *, run_number: int, waited_for: str | None = None
    ) -> ScanHandle: ...

    def close(self) -> None: ...


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
class Worker:
    """One worker process; `run_worker` calls `step` until it is stopped, and `beat` in a thread.

    `waiting` maps jobs to the equal job that already scans for them; they hold no process. `claims`
    has the number of the run of each job that runs or waits here.
    """

    worker_id: str
    settings: Settings
    control: ControlStore
    instance: DagsterInstance
    runs: ScanRunner
    clock: Callable[[], float] = time.monotonic
    utc: Callable[[], datetime] = lambda: datetime.now(UTC)
    running: dict[str, ScanHandle] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    claims: dict[str, int] = field(default_factory=dict)
    has_space: Callable[[], bool] = lambda: True
    _is_full: bool = True  # until the first look: jobs may be marked by an earlier worker
    _stepped_at: float | None = None
    _outage_began_at: float | None = None
    _beating: tuple[str, ...] = ()
    _silence: SilenceWatch = field(default_factory=SilenceWatch)
    _asked_at: dict[str, float] = field(default_factory=dict)
    _restarted: set[str] = field(default_factory=set)
    _timers: dict[str, IntervalTimer] = field(default_factory=dict)

    def step(self) -> None:
        """Handle ended scans, claim jobs, requeue jobs of lost workers."""
        self._stepped_at = self.clock()
        # Ended scans come first: they free the places that waiting and queued jobs then get.
        self._handle_ended_scans()
        if self._is_due("waiters", WAITERS_EVERY_S):
            self._check_waiting_jobs()
        self._claim()
        mine = (name for name, ending in self.running.items() if ending.needs_heartbeat())
        # Replaced as a whole, never changed: the heartbeat thread reads it without a lock.
        self._beating = (*mine, *self.waiting)
        if self._is_due("others", self.settings.heartbeat_s):
            self._requeue_lost()
            runs = [run_id(job_id, self.claims[job_id]) for job_id in self.running]
            cancel_jobs_of_terminated_runs(
                self.instance, self.control, runs, expires_at=self._kept_until()
            )
            self._kill_hanging_scans()
        if self._is_due("reconcile", RECONCILE_EVERY_S):
            self._reconcile()

    def try_step(self) -> bool:
        """Take a step; False while a store is away. What a step leaves undone, a later one does.

        A job that had just been claimed, or had just ended, sends no heartbeat any more, and so
        goes on as a lost one.

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
        """Send the heartbeat of the worker and of its jobs, unless its loop hangs. From any thread.

        Raises:
            WarehouseError: The control store refuses it.
        """
        stepped_at = self._stepped_at
        # Before its first step the worker is starting, which is no hang.
        if stepped_at is None or self.clock() - stepped_at < HANGS_AFTER_S:
            self.control.beat(self.worker_id, self._beating)

    def hand_back_all(self, why: str) -> None:
        """Put the jobs that still run here back into the queue, when the worker stops.

        Their processes are killed first. This costs no attempt: the next worker goes on at once.
        """
        # Remote runs go on without this worker, so their jobs stay as they are.
        left = [] if self.runs.outlive_worker else list(self.running)
        self.runs.close()
        for job_id in (*left, *self.waiting):
            self._hand_back(job_id, why)
        self.running.clear()
        self.waiting.clear()

    def _hand_back(self, job_id: str, why: str, *, wait: ResourceWait | None = None) -> None:
        number, wait = self.claims[job_id], wait or ResourceWait("worker", 0.0)
        run = self.instance.get_run_by_id(run_id(job_id, number))
        has_result = run is not None and run.is_success  # its end was not handled yet
        if has_result or not self.control.requeue(
            job_id, run_number=number, costs_attempt=False,
            waiting_for=wait.resource, wait_s=wait.seconds,
        ):  # fmt: skip
            self._lose(job_id, number, why)  # it has ended, or its cancellation was requested
        else:
            log.info("job handed back", job_id=job_id, waiting_for=wait.resource)
            if run is not None:
                end_run(self.instance, run, self.control.job(job_id))
        del self.claims[job_id]

    def _claim(self) -> None:
        while len(self.running) < self.settings.worker_runs and self._may_claim():
            job = self.control.claim(self.worker_id)
            if job is None:
                return
            log.info("job claimed", job_id=job.job_id, input=job.input, attempt=job.attempt)
            self.claims[job.job_id] = job.run_number
            self._launch(job.job_id)

    def _may_claim(self) -> bool:
        """Whether there is space for another scan; if not, the queued jobs say so."""
        if self._is_due("space", SPACE_EVERY_S):
            was_full, self._is_full = self._is_full, not self.has_space()
            if self._is_full or was_full:  # once more when it is over; jobs are added meanwhile
                self.control.set_queue_waiting_for_disk(self._is_full)
        return not self._is_full

    def _launch(self, job_id: str, *, waited_for: str | None = None) -> None:
        self.running[job_id] = self.runs.launch_scan(
            job_id, run_number=self.claims[job_id], waited_for=waited_for
        )

    def _handle_ended_scans(self) -> None:
        for job_id, ending in list(self.running.items()):
            if not ending.done():
                continue
            # It stays among the running ones, with its heartbeats, until its end is written: while
            # a store is away, each step tries again.
            self._write_end(job_id, ending)
            if self.running[job_id] is ending:  # it was not started again
                del self.running[job_id]
            self._asked_at.pop(job_id, None)

    def _write_end(self, job_id: str, ending: ScanHandle) -> None:
        try:
            end = ending.result()
        except BrokenProcessPool as fault:
            self._restart_scan(job_id, fault)
        except BaseException as fault:  # noqa: BLE001  # also a cancelled future's
            log.error("scan process ended", job_id=job_id, fault=repr(fault))  # noqa: TRY400
            self._end_broken(job_id, fault)
        else:
            self._handle_end(job_id, end)

    def _restart_scan(self, job_id: str, fault: BrokenProcessPool) -> None:
        """Start the scan once more: its process was gone before the scan began."""
        log.error("scan process was gone", job_id=job_id, fault=repr(fault))
        if job_id in self._restarted:
            self._lose(job_id, self.claims[job_id], PROCESS_GONE)
            self._restarted.remove(job_id)
            del self.claims[job_id]
        else:
            self._restarted.add(job_id)
            self._launch(job_id)

    def _end_broken(self, job_id: str, fault: BaseException) -> None:
        """A fault in the scan would come again; a scan that lost its process goes on elsewhere."""
        number, wait = self.claims[job_id], awaited_resource(fault)
        if isinstance(fault, _LOST_PROCESS):
            self._lose(job_id, number, PROCESS_GONE)
        elif wait is not None:
            self._hand_back(job_id, "A store was away", wait=wait)
            return
        else:
            self._fail(job_id, number, "The scan failed unexpectedly")
        del self.claims[job_id]

    def _handle_end(self, job_id: str, end: ScanEnd) -> None:
        # A scan that began has used a working process: it may be restarted once more.
        self._restarted.discard(job_id)
        if end.waits_for is not None:
            self.waiting[job_id] = end.waits_for
            self.control.set_waiting_for(job_id, "lease")
        elif end.status == "unwritten":
            self._hand_back(job_id, "A store was away", wait=end.wait)
        else:  # no effect if it has an end, or is in the queue again
            self._lose(job_id, self.claims[job_id], "The run ended without a status")
            del self.claims[job_id]

    def _check_waiting_jobs(self) -> None:
        """Restart jobs whose equal job has ended, before claiming new ones; end cancelled ones."""
        for job_id, twin_id in list(self.waiting.items()):
            twin = self.control.job(twin_id)
            is_cancelled = self.control.is_cancel_requested(job_id)
            if is_cancelled:
                self._lose(job_id, self.claims.pop(job_id), "Cancelled while it waited")
            elif twin is not None and twin.status not in FINAL_STATUSES:
                continue
            elif len(self.running) < self.settings.worker_runs:
                self._launch(job_id, waited_for=twin_id)
            else:
                continue
            del self.waiting[job_id]

    def _requeue_lost(self) -> None:
        silent = self.control.lost_jobs(self.settings.worker_lost_after_s)
        for job in self._silence.lost(silent):
            ending = self.running.get(job.job_id)
            # A job that this worker still supervises is not lost, however late its heartbeat is.
            is_kept = job.job_id in self.waiting or (ending and ending.needs_heartbeat())
            if is_kept and self.claims.get(job.job_id) == job.run_number:
                continue
            self._lose(job.job_id, job.run_number, WORKER_GONE)

    def _kill_hanging_scans(self) -> None:
        """Kill cancelled scans that do not stop, scans whose run is over, and unstarted ones.

        Waiting for an unstarted scan would take long: preparing a process takes seconds.
        """
        now = self.clock()
        for job_id in list(self.running):
            if not self._should_have_ended(job_id):
                self._asked_at.pop(job_id, None)
                continue
            asked_at = self._asked_at.setdefault(job_id, now)
            if not self.running[job_id].has_begun():
                self.running[job_id].abandon()
            elif now - asked_at >= CANCEL_GRACE_S:
                log.error("scan does not stop", job_id=job_id)
                self.running[job_id].abandon()

    def _should_have_ended(self, job_id: str) -> bool:
        if self.control.is_cancel_requested(job_id):
            return True
        return is_finished(self.instance, run_id(job_id, self.claims[job_id]))

    def _reconcile(self) -> None:
        for ended in end_orphaned_runs(self.instance, self.control, now=self.utc()):
            log.info("run ended after its job", run_id=ended)

    def _lose(self, job_id: str, number: int, why: str) -> None:
        """Write what becomes of a job whose run was lost, if that run still holds it."""
        job = self.control.job(job_id)
        if job is None or job.run_number != number or job.status != "running":
            return
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
            end_run(self.instance, run, self.control.job(job_id))

    def _fail(self, job_id: str, number: int, why: str) -> None:
        """Fail a job whose scan has a fault."""
        job = self.control.job(job_id)
        if job is None:
            return
        error = WorkerUnavailableError(why, hint=ASK_AGAIN).to_document()
        status: JobStatus = "cancelled" if job.cancel_requested else "failed"
        if not self.control.finish(
            job_id, status, error=error, expires_at=self._kept_until(), run_number=number
        ):
            return
        run = self.instance.get_run_by_id(run_id(job_id, number))
        if run is not None:
            end_run(self.instance, run, self.control.job(job_id))

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
        worker = _build_worker(settings, stack)
        if dagster_server() is None:  # a server has runs of other machines, too
            for ended in end_unserved_runs(worker.instance):
                log.info("run ended that a killed code server has left", run_id=ended)
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
        worker.control.retire(worker.worker_id)
    return 0


def _build_worker(settings: Settings, stack: ExitStack) -> Worker:
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    control = open_control_store(settings)  # first: a process of the pool could not say what fails
    runs: ScanRunner = (
        RemoteScanRunner(settings) if settings.runs == "remote" else LocalScanRunner(settings)
    )
    stack.callback(runs.close)
    return Worker(
        # Host and process id repeat: after a restart, and in containers.
        worker_id=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
        settings=settings,
        control=control,
        instance=stack.enter_context(open_instance(home)),
        runs=runs,
        has_space=lambda: free_megabytes(home.root) >= settings.min_free_disk_mb,
    )
