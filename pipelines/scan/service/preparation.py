"""Prepare a scan: resolve the track and decide whether a scan is needed at all.

Local and remote runs share this step. The track of a link is known only once a worker has resolved
it; the worker then checks for a stored result or an equal running job, as the API does for a music
id. A job that a stored result satisfies gets no run.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from pipelines.documents.result_types import JobResult
from pipelines.parameters.scan import ScanParameters, fingerprint, scan_key, scan_parameters
from pipelines.scan.rules.discovery import discovery_key, discovery_parameters
from pipelines.scan.runtime import Runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.service.service import find_stored
from warehouse.control import jobs, leases
from warehouse.lake.record_rows import pack_document
from warehouse.queries.results import read_result_document
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES, KEYWORD_SEARCH, Job

LEASE_S = 24 * 3600.0  # longer than any scan; a lease ends with its job


@dataclass(frozen=True, slots=True)
class PreparedScan:
    """A job with its resolved track.

    `is_served`: its result is stored. `waits_for`: the id of the job that already scans the same.
    Without either, the job needs a scan.
    """

    music_id: str
    is_served: bool = False
    waits_for: str | None = None


def prepare_scan(runtime: Runtime, job: Job, *, waited_for: str | None = None) -> PreparedScan:
    """Resolve the input, then look for a stored result and for an equal running job.

    The target of a link is known only now, so stored results are checked here; for a music id the
    API has checked them already.

    Raises:
        RunCancelledError: Cancellation was requested.
        SametrackError: The input cannot be resolved to a track.
    """
    if job.kind == KEYWORD_SEARCH:
        return PreparedScan("")
    music_id = job.music_id
    if not music_id:
        with ScanRun(runtime, job, music_id="") as run:
            music_id = run.wait_for(run.captures.resolve(job.input))
    # From here, readers of the job see the music id, and later requests find its result by the key.
    key, twin_key = job_keys(runtime, job, music_id)
    jobs.set_target(runtime.control, job.job_id, music_id=music_id, scan_key=key)
    is_new_target = job.kind != DISCOVERY and job.music_id is None
    if is_new_target and serve_stored(runtime, job, key, scan_parameters(job.parameters)):
        return PreparedScan(music_id, is_served=True)
    return acquire_scan_lease(runtime, job, music_id, twin_key, waited_for=waited_for)


def job_keys(runtime: Runtime, job: Job, music_id: str) -> tuple[str, str]:
    """Return the key of a job's result, and the key that jobs share of which one scans for all."""
    world, provider = runtime.world, runtime.music_provider
    if job.kind == DISCOVERY:
        discovery = discovery_parameters(job.parameters)
        key = discovery_key(music_id, world, provider, ALGORITHM, discovery)
        return key, key
    parameters = scan_parameters(job.parameters)
    key = scan_key(music_id, world, provider, ALGORITHM, parameters)
    return key, fingerprint(music_id, world, provider, parameters)


def serve_stored(runtime: Runtime, job: Job, key: str, parameters: ScanParameters) -> bool:
    """Complete the job from a stored result; return False if none satisfies it."""
    stored = find_stored(
        runtime.control,
        lambda job_id: _read_result(runtime, job_id),
        key,
        parameters,
        now=datetime.now(UTC),
        ttl_s=runtime.settings.result_cache_ttl,
    )
    if stored is None:
        return False
    scan_job, document = stored
    _store_copy(runtime, job, document, scan_job_id=scan_job.job_id)
    return True


def acquire_scan_lease(
    runtime: Runtime, job: Job, music_id: str, twin_key: str, *, waited_for: str | None = None
) -> PreparedScan:
    """Acquire the lease of a scan, reuse its holder's result, or return the holder to wait for.

    The lease decides which of two equal jobs scans: both may resolve their links at the same time.
    A worker releases it when its job ends; a killed worker cannot, so the status of the holder
    counts. This function never waits: a waiting job would block a scan process. `waited_for` is
    the job that this one has waited for before.
    """
    control, lease = runtime.control, f"scan:{twin_key}"
    if waited_for is not None and _copy_result(runtime, job, jobs.get(control, waited_for)):
        return PreparedScan(music_id, is_served=True)
    while not leases.acquire(control, lease, job.job_id, LEASE_S):
        holder = leases.holder(control, lease)
        if holder is None:
            continue
        twin = jobs.get(control, holder)
        if twin is not None and twin.status not in FINAL_STATUSES:
            return PreparedScan(music_id, waits_for=holder)
        if _copy_result(runtime, job, twin):
            return PreparedScan(music_id, is_served=True)
        # The holder has ended without a usable result and without its lease: its worker was killed.
        leases.release(control, lease, holder)
    return PreparedScan(music_id)


def _copy_result(runtime: Runtime, job: Job, twin: Job | None) -> bool:
    """Copy the other job's result; False if it has none or ended before this job was created."""
    if twin is None or twin.status != "completed" or twin.finished_at is None:
        return False
    if twin.finished_at < job.created_at:
        return False
    runtime.engine.refresh()
    document = _read_result(runtime, twin.job_id)
    if document is None:
        return False
    _store_copy(runtime, job, document, scan_job_id=twin.job_id)
    return True


def _read_result(runtime: Runtime, job_id: str) -> JobResult | None:
    document = read_result_document(runtime.engine, job_id)
    return cast("JobResult | None", document)  # a worker stored it as one of these


def _store_copy(runtime: Runtime, job: Job, document: JobResult, *, scan_job_id: str) -> None:
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
    jobs.set_target(runtime.control, job.job_id, music_id=target, scan_key=None)
