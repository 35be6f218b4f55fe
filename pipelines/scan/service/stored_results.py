"""Serving a job from a result that exists, or that an equal scan is about to make.

A job that came as a link is known for what it is only once its worker has resolved it; then the
same look is taken that the API takes for an id: a stored result, or a twin that runs already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import serves
from pipelines.scan.runtime import Runtime
from warehouse.lake.packing import pack_document
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import FINAL, Job

LEASE_S = 24 * 3600.0  # longer than any scan; what ends a lease is the end of its job


def serve_stored(runtime: Runtime, job: Job, key: str, parameters: ScanParameters) -> bool:
    """Complete the job from a stored result that serves it; False when there is none."""
    ttl_s = runtime.settings.result_cache_ttl
    now = datetime.now(UTC)
    for done in runtime.control.completed_jobs(key, since=now - timedelta(seconds=ttl_s)):
        document = read_result_document(runtime.engine, done.job_id)
        if document is None or done.finished_at is None:
            continue
        if serves(document, parameters, finished_at=done.finished_at, now=now, ttl_s=ttl_s):
            _copy(runtime, job, document)
            return True
    return False


@dataclass(frozen=True, slots=True)
class Held:
    """What became of asking for the lease of a scan; neither: this job holds it and scans."""

    is_served: bool = False
    waits_for: str | None = None


def find_holder(
    runtime: Runtime, job: Job, twin_key: str, *, waited_for: str | None = None
) -> Held:
    """Take the lease of a scan, or the result of the twin that held it, or learn who holds it.

    A lease decides which of two twins scans: both may have learned at the same moment which
    track their links lead to. A worker gives it back when the job has ended; one that was killed
    cannot, so it is the holder's end that counts. Nothing is waited for here: a job that waits
    would keep a scan process from other jobs. `waited_for` is the twin that it waited for.
    """
    control, lease = runtime.control, f"scan:{twin_key}"
    if waited_for is not None and _take_result(runtime, job, control.job(waited_for)):
        return Held(is_served=True)
    while not control.acquire_lease(lease, job.job_id, LEASE_S):
        holder = control.lease_holder(lease)
        if holder is None:
            continue
        twin = control.job(holder)
        if twin is not None and twin.status not in FINAL:
            return Held(waits_for=holder)
        if _take_result(runtime, job, twin):
            return Held(is_served=True)
        control.release_lease(lease, holder)
    return Held()


def _take_result(runtime: Runtime, job: Job, twin: Job | None) -> bool:
    """Take the twin's result; False when it has none, or ended before this job was asked for."""
    if twin is None or twin.status != "completed" or twin.finished_at is None:
        return False
    if twin.finished_at < job.created_at:
        return False
    runtime.engine.refresh()
    document = read_result_document(runtime.engine, twin.job_id)
    if document is None:
        return False
    _copy(runtime, job, document)
    return True


def _copy(runtime: Runtime, job: Job, document: Mapping[str, Any]) -> None:
    row = {
        "job_id": job.job_id,
        "music_id": document["music_id"],
        "document": pack_document(dict(document)),
        "confirmed_count": document["confirmed_count"],
        "algorithm": document["algorithm"],
    }
    runtime.lake.append("marts.job_results", [row], job_id=job.job_id)
