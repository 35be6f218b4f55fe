"""Execute one job: prepare it, run it if needed, write its end, compact the lake.

Not here: starting runs (`runs/`), preparing a scan (`pipelines/scan/service/preparation.py`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import structlog

from pipelines.orchestration.outages import (
    DISK_WAIT_S,
    STORE_WAIT_S,
    ResourceWait,
    awaited_resource,
    is_outage,
)
from pipelines.scan.runtime import Runtime
from pipelines.scan.service.job_endings import end_lost_run
from pipelines.scan.service.preparation import prepare_scan
from warehouse.control import job_claims, jobs, leases
from warehouse.home.disk_space import MIN_FREE_BYTES, free_bytes
from warehouse.records.errors import RunCancelledError, SametrackError
from warehouse.records.jobs import Job, JobStatus

OUTAGE_TRIES = 60
RUN_BROKE = "The run of this scan broke between two stages"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ScanOutcome:
    """How a scan ended, and the error that ended it, if any.

    `queued`: its process was asked to end, and the job goes on elsewhere. `lost`: it ended between
    two stages, so its run is to blame; the job goes on if an attempt is left. `wait`: what the scan
    has to wait for, if that is why it failed.
    """

    status: JobStatus | Literal["lost"]
    error: SametrackError | None = None
    wait: ResourceWait | None = None


@dataclass(frozen=True, slots=True)
class ScanEnd:
    """How the execution of a job ended in this process.

    `waiting`: the job `waits_for` already scans the same; retry when it has ended. `handed_over`:
    a remote run executes the job and writes its end. `lost`: another run has the job. `queued`: it
    waits for a resource, and goes on afterwards. `unwritten`: its end could not be written, because
    a store was away; it also waits, for what `wait` says.
    """

    status: JobStatus | Literal["waiting", "handed_over", "lost", "unwritten"]
    waits_for: str | None = None
    wait: ResourceWait | None = None


def execute_job(
    runtime: Runtime,
    job_id: str,
    scan: Callable[[Job, str], ScanOutcome | None],
    *,
    run_number: int,
    waited_for: str | None = None,
) -> ScanEnd:
    """Prepare a job, run `scan` if it is needed, and write the end of the job.

    `scan` returns None if it handed the job over to a run that writes its end itself.
    `waited_for` is the equal job whose end this job has waited for.
    """
    job = jobs.get(runtime.control, job_id)
    if job is None:
        return ScanEnd("failed")
    if job.run_number != run_number:
        return ScanEnd("lost")
    structlog.contextvars.bind_contextvars(job_id=job_id)
    try:
        prepared = prepare_scan(runtime, job, waited_for=waited_for)
        if prepared.waits_for is not None:
            return ScanEnd("waiting", prepared.waits_for)
        outcome = ScanOutcome("completed") if prepared.is_served else scan(job, prepared.music_id)
    except RunCancelledError:
        outcome = ScanOutcome("cancelled")
    except SametrackError as fault:
        outcome = ScanOutcome("failed", fault, awaited_resource(fault))
    if outcome is None:
        return ScanEnd("handed_over")
    return ScanEnd(end_job(runtime, job, outcome))


def end_job(runtime: Runtime, job: Job, outcome: ScanOutcome) -> JobStatus | Literal["lost"]:
    """Write the end of a run: the end of its job, or its way back into the queue.

    A full disk, a store that is away, a paused host or a spent budget is no fault of the scan: what
    it has read is kept, and it goes on afterwards with all of its attempts.
    """
    wait = outcome.wait
    if outcome.status == "lost" and free_bytes(str(runtime.home.root)) < MIN_FREE_BYTES:
        wait = ResourceWait("disk", DISK_WAIT_S)  # Dagster's storage could not be written
    if wait is not None and job_claims.requeue(
        runtime.control, job.job_id, run_number=job.run_number, costs_attempt=False,
        waiting_for=wait.resource, wait_s=wait.seconds,
    ):  # fmt: skip
        log.warning(
            "scan waits", waiting_for=wait.resource, seconds=wait.seconds, error=repr(outcome.error)
        )
        return "queued"
    if outcome.status == "lost":
        return _lose(runtime, job)
    status, error = outcome.status, outcome.error
    if status == "queued" and job_claims.requeue(
        runtime.control, job.job_id, run_number=job.run_number, costs_attempt=False
    ):
        log.info("scan handed back: its process was asked to end")
        return status
    if wait is not None or status == "queued":
        # The queue takes no job whose cancellation was requested.
        found = jobs.get(runtime.control, job.job_id)
        is_cancelled = found is not None and found.cancel_requested
        status, error = ("cancelled", None) if is_cancelled else ("failed", error)
    return status if finish_job(runtime, job, status, error) else "lost"


def end_unsupervised_job(
    runtime: Runtime, job: Job, outcome: ScanOutcome, *, sleep: Callable[[float], None] = time.sleep
) -> JobStatus | Literal["lost"]:
    """Write the end of a run that no worker supervises; while a store is away, again and again.

    Otherwise the run would count as lost, although it only waits.
    """
    for _ in range(OUTAGE_TRIES):
        try:
            return end_job(runtime, job, outcome)
        except Exception as error:
            if not is_outage(error):
                raise
            log.warning("a store is away; the end of the scan waits", error=repr(error))
            sleep(STORE_WAIT_S)
    return end_job(runtime, job, outcome)


def _lose(runtime: Runtime, job: Job) -> JobStatus | Literal["lost"]:
    found = jobs.get(runtime.control, job.job_id) or job  # its cancellation may have been requested
    status = end_lost_run(
        runtime.control, found, RUN_BROKE, has_result=False, expires_at=_kept_until(runtime)
    )
    log.warning("run lost", attempt=job.attempt, reason=RUN_BROKE, job_is_now=status)
    return status or "lost"


def finish_job(runtime: Runtime, job: Job, status: JobStatus, error: SametrackError | None) -> bool:
    """Write the end of a job and the expiry of its result, release leases, compact the lake.

    False, without effect, if another run has the job.
    """
    job_id = job.job_id
    if status == "failed" and error is None:
        error = SametrackError(
            "The scan failed unexpectedly before its result was complete",
            hint="Open the run of this job in Dagster's UI, then retry",
        )
    has_ended = jobs.finish(
        runtime.control,
        job_id,
        status,
        error=error.to_document() if error else None,
        expires_at=_kept_until(runtime),
        run_number=job.run_number,
    )
    if not has_ended:
        log.warning("another run has this job", run_number=job.run_number)
        return False
    why: dict[str, str | None] = {"error": error.type if error else None}
    if error is not None:
        why["detail"] = error.detail
    log.info("scan ended", status=status, **why)
    # Only now: who gets the lease next must find the end of this job, not scan again.
    leases.release_all(runtime.control, job_id)
    runtime.lake.compact_crowded()
    return True


def _kept_until(runtime: Runtime) -> datetime:
    return datetime.now(UTC) + timedelta(days=runtime.settings.job_retention_days)
