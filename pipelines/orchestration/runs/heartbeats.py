"""Heartbeats that a busy machine does not stop, and the judgement of those who send none.

A thread sends them, whatever the loop of its process is busy with. Not here: what follows from a
loss (`worker.py`).
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

import structlog

from pipelines.background_thread import background_thread
from warehouse.records.jobs import Job

LOOKS = 3
"""So many looks in a row find a lost job silent."""
log = structlog.get_logger(__name__)

type Sign = tuple[str, int, datetime | None]


class SilenceWatch:
    """Counts the checks in a row that found a job without a new heartbeat.

    One check proves nothing on a starved machine or one that slept: the checker was held up, too.
    A checker that gets little processor time checks rarely, and so leaves more time to the others.
    """

    def __init__(self) -> None:
        self._looks: Counter[Sign] = Counter()

    def lost(self, silent: Sequence[Job]) -> list[Job]:
        """Return those jobs that `LOOKS` checks in a row have found silent, this one included."""
        signs = [(job.job_id, job.run_number, job.heartbeat_at) for job in silent]
        # Built anew each time: a job that sent a heartbeat meanwhile has another sign, and starts
        # at one.
        self._looks = Counter({sign: self._looks[sign] + 1 for sign in signs})
        return [job for job, sign in zip(silent, signs, strict=True) if self._looks[sign] >= LOOKS]


def heartbeats(beat: Callable[[], object], *, every_s: float) -> AbstractContextManager[None]:
    """Repeat `beat` in a thread until this is left; what fails is tried again next time."""

    def run(stop: threading.Event) -> None:
        while True:
            try:
                beat()
            except Exception as error:  # noqa: BLE001  # a full disk, a database that restarts
                log.warning("heartbeat not stored", error=repr(error))
            if stop.wait(every_s):
                return

    return background_thread("heartbeat", run)
