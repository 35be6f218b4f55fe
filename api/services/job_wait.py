"""Waiting for a job on behalf of a request: for operations that answer with the result itself.

The job is the worker's; leaving early only ends the waiting, and asking again joins the job.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from anyio.to_thread import run_sync

from pipelines.scan.service.service import Scan, ScanDesk
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import FINAL

LOOK_EVERY_S = 0.1


class JobFailedError(SametrackError):
    """The job that was waited for has failed; `type` is that of its own error."""

    def __init__(self, document: Mapping[str, Any], *, job_id: str) -> None:
        super().__init__(
            str(document.get("detail") or "The job has failed"),
            hint=f"{document.get('hint') or 'Ask again later'} (job {job_id})",
            retry_after=document.get("retry_after"),
        )
        self.type = str(document.get("type") or "internal_error")  # type: ignore[misc]  # the job's own word


async def wait_for_job(desk: ScanDesk, scan: Scan, *, patience_s: float) -> Scan:
    """The job once it is completed, with its result.

    Raises:
        JobFailedError: It failed.
        WorkerUnavailableError: It was cancelled, or has not ended in time.
        WarehouseUnavailableError: Its result cannot be read.
    """
    job_id, until = scan.job.job_id, time.monotonic() + patience_s
    while scan.job.status not in FINAL:
        if time.monotonic() > until:
            raise WorkerUnavailableError(
                f"The job has not ended within {patience_s:.0f} s",
                hint=f"Ask again to join job {job_id}; `sametrack worker` carries it out",
                retry_after=1,
            )
        await asyncio.sleep(LOOK_EVERY_S)
        scan = await run_sync(desk.job, job_id)
    if scan.job.error is not None:
        raise JobFailedError(scan.job.error, job_id=job_id)
    if scan.result is None:
        raise WorkerUnavailableError("The job was cancelled", hint=f"Ask again (job {job_id})")
    return scan
