"""Jobs as bytes: what polling and the event stream both send.

A job that has ended never changes, so its document is rendered once and kept; its row is still
read each time, because a job may expire or be erased.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from api.envelope import Rendered, render
from api.job_document import to_job_document
from pipelines.desk import Scan, ScanDesk
from pipelines.domain.jobs import FINAL, Job

KEPT_ANSWERS = 32  # a ranking of 500 works has about a megabyte


@dataclass(frozen=True, slots=True)
class Shown:
    """A job now, with its document as bytes."""

    job: Job
    data: Rendered

    @property
    def is_final(self) -> bool:
        """True when nothing more will happen to it."""
        return self.job.status in FINAL


class JobAnswers:
    """The documents of jobs in the form that their own parameters ask for. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Rendered] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, desk: ScanDesk, job_id: str) -> Shown:
        """The job now.

        Raises:
            JobNotFoundError: There is none, or its retention is over.
            WarehouseUnavailableError: It is completed, but its result cannot be read.
        """
        scan = desk.job(job_id)
        if scan.job.status not in FINAL:
            return Shown(scan.job, _render(desk, scan))
        with self._lock:
            found = self._kept.get(job_id)
            if found is not None:
                self._kept.move_to_end(job_id)
        return Shown(scan.job, found or self._keep(job_id, _render(desk, scan)))

    def _keep(self, job_id: str, data: Rendered) -> Rendered:
        with self._lock:
            self._kept[job_id] = data
            while len(self._kept) > KEPT_ANSWERS:
                self._kept.popitem(last=False)
        return data


def _render(desk: ScanDesk, scan: Scan) -> Rendered:
    return render(to_job_document(scan, is_demo=desk.world.is_demo))
