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
RUNNING_LOOKED_AT = 500


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
    runtime: Runtime, job: Job, music_id: str, *, cancelled: Callable[[], bool]
) -> bool:
    """Wait for an older running job that asks for the same, and take its result.

    Only an older one is waited for, so that two never wait for each other. False when there is
    none, or when it ends without a result: then this job scans itself.

    Raises:
        RunCancelledError: Cancelling was asked for while waiting.
    """
    twin = _older_twin(runtime, job, music_id)
    while twin is not None and twin.status not in FINAL:
        if cancelled():
            raise RunCancelledError("cancelling was asked for")
        time.sleep(LOOK_EVERY_S)
        twin = runtime.control.job(twin.job_id)
    if twin is None or twin.status != "completed":
        return False
    runtime.engine.refresh()
    document = read_result_document(runtime.engine, twin.job_id)
    if document is None:
        return False
    _copy(runtime, job, document)
    return True


def _older_twin(runtime: Runtime, job: Job, music_id: str) -> Job | None:
    for other in runtime.control.jobs(limit=RUNNING_LOOKED_AT, status="running"):
        is_older = (other.created_at, other.job_id) < (job.created_at, job.job_id)
        if is_older and other.music_id == music_id and _asks_the_same(other, job):
            return other
    return None


def _asks_the_same(one: Job, other: Job) -> bool:
    """Equal in everything but `refresh`, which joins a running scan."""
    return {**one.parameters, "refresh": None} == {**other.parameters, "refresh": None}


def _copy(runtime: Runtime, job: Job, document: Mapping[str, Any]) -> None:
    row = {
        "job_id": job.job_id,
        "music_id": document["music_id"],
        "document": pack_document(dict(document)),
        "confirmed_count": document["confirmed_count"],
        "algorithm": document["algorithm"],
    }
    runtime.lake.append("marts.job_results", [row], job_id=job.job_id)
