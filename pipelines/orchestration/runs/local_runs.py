"""Run scans in warm processes of this machine (`RUNS=local`)."""

import os
import time

import structlog
from pebble import ProcessFuture, ProcessPool

from pipelines.forked_processes import forking_context
from pipelines.orchestration.runs.scan_runs import run_scan, warm
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.settings import Settings

SCANS_PER_PROCESS = 3
"""A process is replaced after so many scans, because it grows with them.

With one scan 0.23 GB are its own, with eight 0.31; the next process takes 1 s of processor time,
and its decoders as much again.
"""
log = structlog.get_logger(__name__)


class BrokenPoolError(RuntimeError):
    """A killed process broke the pool, and its scan is lost."""


class LocalScanHandle:
    """A scan running in a process of the pool."""

    def __init__(self, future: ProcessFuture[ScanEnd], pool: ProcessPool) -> None:
        self._future = future
        self._pool = pool

    def done(self) -> bool:
        """Whether the scan has ended, or its process or the whole pool is gone."""
        return bool(self._future.done()) or not self._pool.active

    def result(self) -> ScanEnd:
        """Return the end of the scan; raise the error that ended its process."""
        if not self._future.done():
            raise BrokenPoolError("the pool of scan processes broke")
        return self._future.result()

    def abandon(self) -> None:
        """Kill its process."""
        self._future.cancel()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped

    def needs_heartbeat(self) -> bool:
        """Return True: a scan process sends no heartbeat itself."""
        return True

    def has_begun(self) -> bool:
        """Whether a process has started the scan."""
        return bool(self._future.running() or self._future.done())


class LocalScanRunner:
    """A pool of warm processes, each running one scan at a time."""

    outlive_worker = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = _build_pool(settings)

    def launch_scan(
        self, job_id: str, *, run_number: int, waited_for: str | None = None
    ) -> LocalScanHandle:
        """Start a scan in a free process; replace the pool if a killed process broke it."""
        if not self._pool.active:
            log.error("the pool of scan processes broke; creating a new one")
            self.close()
            self._pool = _build_pool(self._settings)
        future = self._pool.schedule(run_scan, args=[job_id, run_number, waited_for])
        return LocalScanHandle(future, self._pool)

    def close(self) -> None:
        """Kill all processes."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped
        self._pool.join()


def _build_pool(settings: Settings) -> ProcessPool:
    pool = ProcessPool(
        max_workers=settings.worker_runs,
        max_tasks=SCANS_PER_PROCESS,
        initializer=warm,
        initargs=(settings, os.getpid()),
        context=forking_context(),
    )
    for _ in range(settings.worker_runs):
        pool.schedule(_warm_up)
    return pool


def _warm_up() -> None:
    """Occupy a process briefly, so that the pool starts all of them at once."""
    time.sleep(0.2)
