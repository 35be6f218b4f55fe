"""Scans in warm processes of this machine: the embedded way to run them."""

import multiprocessing
import time

from pebble import ProcessFuture, ProcessPool

from pipelines.attempts import ScanEnd
from pipelines.runs import run_scan, warm
from pipelines.settings import Settings


class LocalEnding:
    """A scan in a process of the pool."""

    def __init__(self, future: ProcessFuture[ScanEnd]) -> None:
        self._future = future

    def done(self) -> bool:
        """True when its process is free again, or gone."""
        return bool(self._future.done())

    def result(self) -> ScanEnd:
        """What came of it; raises what ended its process."""
        return self._future.result()

    def abandon(self) -> None:
        """End its process now."""
        self._future.cancel()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped

    def needs_beat(self) -> bool:
        """A scan process does not say itself that it is alive."""
        return True


class LocalRuns:
    """A pool of warm processes, one scan at a time each."""

    outlive_worker = False

    def __init__(self, settings: Settings) -> None:
        self._pool = ProcessPool(
            max_workers=settings.worker_runs,
            initializer=warm,
            initargs=(settings,),
            context=multiprocessing.get_context("spawn"),
        )
        for _ in range(settings.worker_runs):
            self._pool.schedule(_warm_up)

    def launch_scan(self, job_id: str, *, waited_for: str | None = None) -> LocalEnding:
        """Start a scan in a free process."""
        return LocalEnding(self._pool.schedule(run_scan, args=[job_id, waited_for]))

    def close(self) -> None:
        """End all processes now."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves this one untyped
        self._pool.join()


def _warm_up() -> None:
    """Keep a process busy for a moment, so that the pool starts all of them at once."""
    time.sleep(0.2)
