"""Send heartbeats from a thread, and detect jobs whose heartbeats have stopped.

The thread sends them however busy its process is. Not here: what the worker does about a lost job
(`worker/worker.py`).
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

import structlog

from pipelines.background_thread import background_thread
from warehouse.records.jobs import Job

SILENT_CHECKS = 3
"""A job that so many checks in a row find silent is lost."""
log = structlog.get_logger(__name__)

type Heartbeat = tuple[str, int, datetime | None]
"""Job, run number and time of the last heartbeat."""


class SilenceWatch:
    """Counts the checks in a row that found a job without a new heartbeat.

    One check proves nothing on a machine that was overloaded or suspended: the checker was held up,
    too. A checker with little processor time checks rarely, and so waits longer for the others.
    """

    def __init__(self) -> None:
        self._counts: Counter[Heartbeat] = Counter()

    def lost(self, silent: Sequence[Job]) -> list[Job]:
        """Count one more check; return the jobs that `SILENT_CHECKS` in a row found silent."""
        last = [(job.job_id, job.run_number, job.heartbeat_at) for job in silent]
        # A job that has sent a heartbeat meanwhile has another key, and starts at one again.
        self._counts = Counter({key: self._counts[key] + 1 for key in last})
        counts = [self._counts[key] for key in last]
        return [job for job, count in zip(silent, counts, strict=True) if count >= SILENT_CHECKS]


def heartbeats(beat: Callable[[], object], *, every_s: float) -> AbstractContextManager[None]:
    """Repeat `beat` in a thread while the context is open; a failed one is logged."""

    def run(stop: threading.Event) -> None:
        while True:
            try:
                beat()
            except Exception as error:  # noqa: BLE001  # a full disk, a database that restarts
                log.warning("heartbeat not stored", error=repr(error))
            if stop.wait(every_s):
                return

    return background_thread("heartbeat", run)
