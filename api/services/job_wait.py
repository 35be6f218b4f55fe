"""Waits for a job on behalf of a request, for operations that return the result itself.

The worker runs the job. A client that disconnects only ends the wait; a repeated request joins the
job.
"""

import asyncio
import time
from typing import override

from anyio.to_thread import run_sync

from pipelines.scan.service.service import ScanJob, ScanService
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES
from warehouse.records.values import ReadOnlyDocument

POLL_INTERVAL_S = 0.1


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
        JobFailedError: The job failed.
        WorkerUnavailableError: The job was cancelled, or has not finished in time.
        WarehouseUnavailableError: The result cannot be read.
    """
    job_id, until = scan.job.job_id, time.monotonic() + max_wait_s
    while scan.job.status not in FINAL_STATUSES:
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
