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

# A ranking of 500 videos takes about one megabyte.
MAX_CACHED_JOBS = 32
POLL_INTERVAL_S = 0.1
# How long a queued job waits for a worker that may be starting.
NO_WORKER_S = 1.5


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
    """Encodes job documents in the view of their own parameters. Thread-safe."""

    def __init__(self) -> None:
        self._encoded: OrderedDict[str, EncodedData] = OrderedDict()
        self._lock = threading.Lock()
        self._reads: dict[str, asyncio.Future[JobSnapshot]] = {}

    async def now(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job. Concurrent callers share one read, and none needs a thread of its
        own.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        read = self._reads.get(job_id)
        if read is None:

            def forget_read(finished: asyncio.Future[JobSnapshot]) -> None:
                # A later read may have taken the place of this one.
                if self._reads.get(job_id) is finished:
                    del self._reads[job_id]
                # All callers may have gone; then nobody else retrieves the exception.
                if not finished.cancelled():
                    finished.exception()

            read = asyncio.ensure_future(run_sync(self.of, scan_service, job_id))
            self._reads[job_id] = read
            read.add_done_callback(forget_read)
        return await asyncio.shield(read)  # a cancelled caller must not cancel the shared read

    def forget(self, job_id: str) -> None:
        """Start a new read for later callers, because the job was changed."""
        self._reads.pop(job_id, None)

    def of(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        scan = scan_service.job(job_id)
        is_final = scan.job.status in FINAL_STATUSES
        if is_final:
            with self._lock:
                encoded = self._encoded.get(job_id)
                if encoded is not None:
                    self._encoded.move_to_end(job_id)
                    return JobSnapshot(scan.job, encoded)
        # Without the lock: encoding takes long, and two threads may as well do it at once.
        encoded = encode_data(to_job_document(scan, is_demo=scan_service.world.is_demo))
        if is_final:
            with self._lock:
                self._encoded[job_id] = encoded
                while len(self._encoded) > MAX_CACHED_JOBS:
                    self._encoded.popitem(last=False)
        return JobSnapshot(scan.job, encoded)


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
        # A queued job may wait for other jobs, or for a worker that nobody has started.
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
