"""Serving a job from a result that exists, or that an equal scan is about to make.

A job that came as a link is known for what it is only once its worker has resolved it; then the
same look is taken that the API takes for an id: a stored result, or a twin that runs already.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.domain.errors import RunCancelledError
from pipelines.domain.jobs import FINAL, Job
from pipelines.domain.parameters import ScanParameters
from pipelines.domain.results import serves
from pipelines.runtime import Runtime
from warehouse.documents import pack_document
from warehouse.queries import read_result_document

LOOK_EVERY_S = 0.25
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


def serve_from_twin(
    runtime: Runtime, job: Job, twin_key: str, *, cancelled: Callable[[], bool]
) -> bool:
    """Wait for the job that scans the same already, and take its result.

    A lease decides which of two is "already": both may have learned at the same moment which
    track their links lead to. A worker gives it back when the job has ended; one that was killed
    cannot, so it is the holder's end that counts.
    False: nobody scans it, so this job holds the lease and scans.

    Raises:
        RunCancelledError: Cancelling was asked for while waiting.
    """
    control, lease = runtime.control, f"scan:{twin_key}"
    while not control.acquire_lease(lease, job.job_id, LEASE_S):
        holder = control.lease_holder(lease)
        if holder is None:
            continue
        if _take_result(runtime, job, _ended(runtime, holder, cancelled)):
            return True
        control.release_lease(lease, holder)
    return False


def _ended(runtime: Runtime, job_id: str, cancelled: Callable[[], bool]) -> Job | None:
    """The job when it has ended; None when it is gone from the store."""
    twin = runtime.control.job(job_id)
    while twin is not None and twin.status not in FINAL:
        if cancelled():
            raise RunCancelledError("cancelling was asked for")
        time.sleep(LOOK_EVERY_S)
        twin = runtime.control.job(job_id)
    return twin


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
