"""The worker: claims jobs from the one queue, runs them in warm processes, says that it is alive.

It owns the pool and the reconciler. What a scan does is in `pipelines/runs.py` and below.
"""

import multiprocessing
import os
import signal
import socket
import threading
import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog
from dagster import DagsterInstance
from pebble import ProcessExpired, ProcessPool

from pipelines.domain.endings import WORKER_GONE, lost_ending
from pipelines.logs import configure_logging
from pipelines.runs import open_instance, run_scan, warm
from pipelines.settings import Settings
from pipelines.upstream.providers import choose_profile
from warehouse.control import ControlStore, open_control
from warehouse.home import open_home

CLAIM_EVERY_S = 0.05
EXPIRE_EVERY_S = 600.0
log = structlog.get_logger(__name__)


class Ending(Protocol):
    """A scan under way: done or not, and the fault that ended its process, if one did."""

    def done(self) -> bool: ...

    def exception(self, timeout: float | None = None) -> BaseException | None: ...


class Runs(Protocol):
    """How scans are run. `LocalRuns` is the embedded way."""

    def launch_scan(self, job_id: str) -> Ending: ...

    def close(self) -> None: ...


class LocalRuns:
    """A pool of warm processes on this machine, one scan at a time each."""

    def __init__(self, settings: Settings) -> None:
        self._pool = ProcessPool(
            max_workers=settings.worker_runs,
            initializer=warm,
            initargs=(settings,),
            context=multiprocessing.get_context("spawn"),
        )
        for _ in range(settings.worker_runs):
            self._pool.schedule(_warm_up)

    def launch_scan(self, job_id: str) -> Ending:
        """Start a scan in a free process."""
        return self._pool.schedule(run_scan, args=[job_id])

    def close(self) -> None:
        """End all processes now."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped
        self._pool.join()


def _warm_up() -> None:
    """Keep a process busy for a moment, so that the pool starts all of them at once."""
    time.sleep(0.2)


@dataclass(slots=True)
class Worker:
    """One worker process. `step` is one look around; `run_worker` calls it until told to stop."""

    worker_id: str
    settings: Settings
    control: ControlStore
    instance: DagsterInstance
    runs: Runs
    running: dict[str, Ending] = field(default_factory=dict)
    _beaten_at: float = 0.0
    _expired_at: float = 0.0

    def step(self) -> None:
        """Note what ended, claim what fits, say that we are alive, clean up after the dead."""
        self._note_endings()
        while len(self.running) < self.settings.worker_runs:
            job = self.control.claim(self.worker_id)
            if job is None:
                break
            log.info("job claimed", job_id=job.job_id, input=job.input)
            self.running[job.job_id] = self.runs.launch_scan(job.job_id)
        now = time.monotonic()
        if now - self._beaten_at >= self.settings.heartbeat_s:
            self._beaten_at = now
            self.control.beat(self.worker_id, list(self.running))
            self._fail_lost()
        if now - self._expired_at >= EXPIRE_EVERY_S:
            self._expired_at = now
            self.control.delete_expired(datetime.now(UTC))

    def fail_all(self, why: str) -> None:
        """Fail what still runs here; used when the worker stops."""
        for job_id in self.running:
            self._fail(job_id, why)
        self.running.clear()

    def _note_endings(self) -> None:
        for job_id, ending in list(self.running.items()):
            if not ending.done():
                continue
            del self.running[job_id]
            fault = ending.exception()
            if fault is not None:
                log.error("scan process ended", job_id=job_id, fault=repr(fault))
                self._fail(job_id, _why(fault))

    def _fail_lost(self) -> None:
        for job in self.control.lost_jobs(self.settings.worker_lost_after_s):
            if job.job_id not in self.running:
                self._fail(job.job_id, WORKER_GONE)

    def _fail(self, job_id: str, why: str) -> None:
        job = self.control.job(job_id)
        if job is None:
            return
        status, error = lost_ending(job, why)
        kept = timedelta(days=self.settings.job_retention_days)
        until = datetime.now(UTC) + kept
        if not self.control.finish(job_id, status, error=error, expires_at=until):
            return
        run = self.instance.get_run_by_id(job_id)
        if run is not None and not run.is_finished:
            self.instance.report_run_failed(run, message=why)


def _why(fault: BaseException) -> str:
    if isinstance(fault, ProcessExpired):
        return "The process that ran this scan ended unexpectedly"
    return "The scan ended by an unexpected fault"


def run_worker(settings: Settings) -> int:
    """Work until SIGTERM or SIGINT; returns the exit status."""
    configure_logging()
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    with ExitStack() as stack:
        worker = _build_worker(settings, stack)
        log.info("worker ready", worker_id=worker.worker_id, runs=settings.worker_runs)
        while not stop.wait(CLAIM_EVERY_S):
            worker.step()
        worker.fail_all("The worker was stopped")
    return 0


def _build_worker(settings: Settings, stack: ExitStack) -> Worker:
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    runs = LocalRuns(settings)
    stack.callback(runs.close)
    return Worker(
        worker_id=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
        settings=settings,
        control=open_control(settings.control_url or home.control_url, world=home.world),
        instance=stack.enter_context(open_instance(home)),
        runs=runs,
    )
