"""Jobs as bytes: what polling and the event stream both send.

A job that has ended never changes, so its document is rendered once and kept; its row is still
read each time, because a job may expire or be erased.
"""

import asyncio
import threading
from collections import OrderedDict
from dataclasses import dataclass

from anyio.to_thread import run_sync

from api.responses.envelope import Rendered, render
from api.services.job_document import to_job_document
from pipelines.scan.service.service import Scan, ScanDesk
from warehouse.records.jobs import FINAL, Job

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
        self._looks: dict[str, asyncio.Future[Shown]] = {}

    async def now(self, desk: ScanDesk, job_id: str) -> Shown:
        """The job now. Whoever asks while a look is under way shares it, so that a crowd of
        pollers costs one read and none of them waits for a thread of its own.

        Raises:
            JobNotFoundError: There is none, or its retention is over.
            WarehouseUnavailableError: It is completed, but its result cannot be read.
        """
        look = self._looks.get(job_id)
        if look is None:
            look = asyncio.ensure_future(run_sync(self.of, desk, job_id))
            self._looks[job_id] = look
            look.add_done_callback(lambda ended: self._end(job_id, ended))
        return await asyncio.shield(look)  # who leaves does not end the look of the others

    def forget(self, job_id: str) -> None:
        """The job was changed: who asks from now on has a look of its own."""
        self._looks.pop(job_id, None)

    def _end(self, job_id: str, ended: asyncio.Future[Shown]) -> None:
        if self._looks.get(job_id) is ended:
            del self._looks[job_id]
        if not ended.cancelled():
            ended.exception()  # told to those who wait; nobody may be left

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
