"""Encoded job documents for polling and for event streams, and waiting for a job.

A finished job does not change, so its document is encoded once and cached. Its row is still read
every time, because a job may expire or be erased. The worker runs the job: a client that
disconnects only ends the wait, and a repeated request joins the job.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import override

from anyio.to_thread import run_sync

from api.responses.envelope import EncodedData, encode_data
from api.services.job_document import to_job_document
from pipelines.scan.service.service import ScanJob, ScanService
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES, Job
from warehouse.records.values import ReadOnlyDocument

MAX_CACHED_JOBS = 32  # a ranking of 500 videos takes about one megabyte
POLL_INTERVAL_S = 0.1
NO_WORKER_S = 1.5  # how long a queued job waits for a worker that may be starting


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """The current state of a job with its encoded document."""

    job: Job
    data: EncodedData

    @property
    def is_final(self) -> bool:
        """True if the job has finished."""
        return self.job.status in FINAL_STATUSES


class JobResponses:
    """Encodes job documents as their own parameters ask for. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, EncodedData] = OrderedDict()
        self._lock = threading.Lock()
        self._looks: dict[str, asyncio.Future[JobSnapshot]] = {}

    async def now(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job. Concurrent callers share one read, and none needs a thread of its
        own.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        look = self._looks.get(job_id)
        if look is None:
            look = asyncio.ensure_future(run_sync(self.of, scan_service, job_id))
            self._looks[job_id] = look
            look.add_done_callback(lambda ended: self._end(job_id, ended))
        return await asyncio.shield(look)  # a cancelled caller must not cancel the shared read

    def forget(self, job_id: str) -> None:
        """Start a new read for later callers, because the job was changed."""
        self._looks.pop(job_id, None)

    def _end(self, job_id: str, ended: asyncio.Future[JobSnapshot]) -> None:
        if self._looks.get(job_id) is ended:
            del self._looks[job_id]
        if not ended.cancelled():
            ended.exception()  # mark the exception as retrieved; all callers may be gone

    def of(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        scan = scan_service.job(job_id)
        if scan.job.status not in FINAL_STATUSES:
            return JobSnapshot(scan.job, _render(scan_service, scan))
        with self._lock:
            found = self._kept.get(job_id)
            if found is not None:
                self._kept.move_to_end(job_id)
        return JobSnapshot(scan.job, found or self._keep(job_id, _render(scan_service, scan)))

    def _keep(self, job_id: str, data: EncodedData) -> EncodedData:
        with self._lock:
            self._kept[job_id] = data
            while len(self._kept) > MAX_CACHED_JOBS:
                self._kept.popitem(last=False)
        return data


def _render(scan_service: ScanService, scan: ScanJob) -> EncodedData:
    return encode_data(to_job_document(scan, is_demo=scan_service.world.is_demo))


class AwaitedJobError(SametrackError):
    """The awaited job failed; `type` and `upstream` are those of the job's error."""

    def __init__(self, document: ReadOnlyDocument, *, job_id: str) -> None:
        super().__init__(
            str(document.get("detail") or "The job failed"),
            hint=f"{document.get('hint') or 'Try again later'} (job {job_id})",
            retry_after=document.get("retry_after"),
        )
        self.type = str(document.get("type") or "internal_error")  # type: ignore[misc]  # the type of the job's error
        self._upstream = document.get("upstream")

    @override
    def to_document(self) -> dict[str, object]:
        return super().to_document() | {"upstream": self._upstream}


async def wait_for_job(scan_service: ScanService, scan: ScanJob, *, max_wait_s: float) -> ScanJob:
    """Wait until the job is completed and return it with its result.

    Raises:
        AwaitedJobError: The job failed.
        WorkerUnavailableError: No worker runs, or the job was cancelled, or has not finished in
            time.
        WarehouseUnavailableError: The result cannot be read.
    """
    job_id, now = scan.job.job_id, time.monotonic()
    until, without_worker_until = now + max_wait_s, now + NO_WORKER_S
    while scan.job.status not in FINAL_STATUSES:
        if scan.job.status == "queued" and time.monotonic() > without_worker_until:
            if not await run_sync(scan_service.has_worker):
                raise WorkerUnavailableError(
                    "No worker is running, so the job waits in the queue",
                    hint="Start one with `sametrack worker`, then repeat the request to join job "
                    f"{job_id}",
                    retry_after=5,
                )
            without_worker_until = time.monotonic() + NO_WORKER_S
        if time.monotonic() > until:
            raise WorkerUnavailableError(
                f"The job did not finish within {max_wait_s:.0f} s",
                hint=f"Repeat the request to join job {job_id}; check that `sametrack worker` runs",
                retry_after=1,
            )
        await asyncio.sleep(POLL_INTERVAL_S)
        scan = await run_sync(scan_service.job, job_id)
    if scan.job.error is not None:
        raise AwaitedJobError(scan.job.error, job_id=job_id)
    if scan.result is None:
        raise WorkerUnavailableError(
            f"Job {job_id} was cancelled", hint="Repeat the request to start it again"
        )
    return scan
