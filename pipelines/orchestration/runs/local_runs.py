"""Run scans in warm processes of this machine (`RUNS=local`)."""

import structlog
from pebble import ProcessFuture, ProcessPool

from pipelines.fork_server import fork_server_context
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
    """A killed process broke its pool, and its scan is lost."""


class LocalScanHandle:
    """A scan running in the process of a pool."""

    def __init__(self, future: ProcessFuture[ScanEnd], pool: ProcessPool) -> None:
        self._future = future
        self._pool = pool

    def done(self) -> bool:
        """Whether the scan has ended, or its process or the whole pool is gone."""
        return bool(self._future.done()) or not self._pool.active

    def result(self) -> ScanEnd:
        """Return the end of the scan; raise the error that ended its process."""
        if not self._future.done():
            raise BrokenPoolError("the pool of the scan's process broke")
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


class _WarmProcess:
    """A pool of one process, which replaces it when it has run its scans or was killed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = self._start()
        self._scan: LocalScanHandle | None = None

    @property
    def is_free(self) -> bool:
        """Whether it runs no scan."""
        return self._scan is None or self._scan.done()

    def launch(self, job_id: str, run_number: int, waited_for: str | None) -> LocalScanHandle:
        """Start a scan; if a killed process broke the pool, in another pool."""
        if not self._pool.active:
            log.error("the pool of a scan process broke; creating a new one")
            self.close()
            self._pool = self._start()
        future = self._pool.schedule(run_scan, args=[job_id, run_number, waited_for])
        self._scan = LocalScanHandle(future, self._pool)
        return self._scan

    def close(self) -> None:
        """Kill the process."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped
        self._pool.join()

    def _start(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=1,
            max_tasks=SCANS_PER_PROCESS,
            initializer=warm,
            initargs=(self._settings,),
            context=fork_server_context(),
        )
        assert pool.active, "asking starts it"
        return pool


class LocalScanRunner:
    """Warm processes, each running one scan at a time; at most `worker_runs` of them.

    One is ready for the next scan, the others start when scans run at the same time: an idle
    process has 26 MB of its own.
    """

    outlive_worker = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes = [_WarmProcess(settings)]

    def launch_scan(
        self, job_id: str, *, run_number: int, waited_for: str | None = None
    ) -> LocalScanHandle:
        """Start a scan in a free process; if there is none, after the scan that began first."""
        process = next((one for one in self._processes if one.is_free), self._processes[0])
        # To the end: while a process is replaced after its last scan, the other one is ready.
        self._processes.remove(process)
        self._processes.append(process)
        handle = process.launch(job_id, run_number, waited_for)
        is_full = len(self._processes) >= self._settings.worker_runs
        if not is_full and not any(one.is_free for one in self._processes):
            self._processes.append(_WarmProcess(self._settings))
        return handle

    def close(self) -> None:
        """Kill all processes."""
        for process in self._processes:
            process.close()
