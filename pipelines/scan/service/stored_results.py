"""Serve a job from a stored result, or from the result of an equal running scan.

The track of a link is known only once a worker has resolved it; the worker then checks for a
stored result or an equal running job, as the API does for a music id.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from pipelines.documents.result_types import StoredResult
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import satisfies_request
from pipelines.scan.runtime import Runtime
from warehouse.lake.packing import pack_document
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import FINAL_STATUSES, Job

LEASE_S = 24 * 3600.0  # longer than any scan; a lease ends with its job


def serve_stored(runtime: Runtime, job: Job, key: str, parameters: ScanParameters) -> bool:
    """Complete the job from a stored result; return False if none satisfies it."""
    ttl_s = runtime.settings.result_cache_ttl
    now = datetime.now(UTC)
    for done in runtime.control.completed_jobs(key, since=now - timedelta(seconds=ttl_s)):
        document = _scan_result(runtime, done.job_id)
        if document is None or done.finished_at is None:
            continue
        if satisfies_request(
            document, parameters, finished_at=done.finished_at, now=now, ttl_s=ttl_s
        ):
            _copy(runtime, job, document, scan_job_id=done.job_id)
            return True
    return False


@dataclass(frozen=True, slots=True)
class LeaseOutcome:
    """The outcome of requesting a scan lease; with neither field set, this job holds it."""

    is_served: bool = False
    waits_for: str | None = None


def acquire_scan_lease(
    runtime: Runtime, job: Job, twin_key: str, *, waited_for: str | None = None
) -> LeaseOutcome:
    """Acquire the lease of a scan, reuse its holder's result, or return the holder to wait for.

    The lease decides which of two equal jobs scans: both may resolve their links at the same time.
    A worker releases it when its job ends; a killed worker cannot, so the status of the holder
    counts. This function never waits: a waiting job would block a scan process. `waited_for` is
    the job that this one has waited for before.
    """
    control, lease = runtime.control, f"scan:{twin_key}"
    if waited_for is not None and _take_result(runtime, job, control.job(waited_for)):
        return LeaseOutcome(is_served=True)
    while not control.acquire_lease(lease, job.job_id, LEASE_S):
        holder = control.lease_holder(lease)
        if holder is None:
            continue
        twin = control.job(holder)
        if twin is not None and twin.status not in FINAL_STATUSES:
            return LeaseOutcome(waits_for=holder)
        if _take_result(runtime, job, twin):
            return LeaseOutcome(is_served=True)
        control.release_lease(lease, holder)
    return LeaseOutcome()


def _take_result(runtime: Runtime, job: Job, twin: Job | None) -> bool:
    """Copy the other job's result; False if it has none or ended before this job was created."""
    if twin is None or twin.status != "completed" or twin.finished_at is None:
        return False
    if twin.finished_at < job.created_at:
        return False
    runtime.engine.refresh()
    document = _scan_result(runtime, twin.job_id)
    if document is None:
        return False
    _copy(runtime, job, document, scan_job_id=twin.job_id)
    return True


def _scan_result(runtime: Runtime, job_id: str) -> StoredResult | None:
    """Return the result of an equal job: only scans are looked up by their key."""
    return cast("StoredResult | None", read_result_document(runtime.engine, job_id))


def _copy(runtime: Runtime, job: Job, document: StoredResult, *, scan_job_id: str) -> None:
    row = {
        "job_id": job.job_id,
        "music_id": document["music_id"],
        "document": pack_document({"scan_job_id": scan_job_id, **document}),  # may be a copy, too
        "confirmed_count": document["confirmed_count"],
        "algorithm": document["algorithm"],
    }
    runtime.lake.append("marts.job_results", [row], job_id=job.job_id)
    # Without the key: the copy is as old as its original, but the job ends now.
    target = document["music_id"] or job.target
    runtime.control.set_target(job.job_id, music_id=target, scan_key=None)
