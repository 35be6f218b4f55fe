"""Stored results: an in-memory cache of them, and the one that satisfies a request."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta

from pipelines.documents.result_types import JobResult
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import satisfies_request
from warehouse.control import ControlStore, jobs
from warehouse.records.jobs import Job

MAX_CACHED_RESULTS = 32  # a few hundred kB each

type ReadResult = Callable[[str], JobResult | None]
"""Returns the result of a job, or None if it has none."""


class ResultCache:
    """LRU cache of result documents, which are immutable, by job id. Thread-safe."""

    def __init__(self, read: ReadResult) -> None:
        self._read = read
        self._kept: OrderedDict[str, JobResult] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, job_id: str) -> JobResult | None:
        """Return the result of a job, or None if it has none."""
        with self._lock:
            if job_id in self._kept:
                self._kept.move_to_end(job_id)
                return self._kept[job_id]
        found = self._read(job_id)
        return None if found is None else self._keep(job_id, found)

    def _keep(self, job_id: str, document: JobResult) -> JobResult:
        with self._lock:
            self._kept[job_id] = document
            while len(self._kept) > MAX_CACHED_RESULTS:
                self._kept.popitem(last=False)
        return document


def find_stored(
    control: ControlStore,
    read: ReadResult,
    key: str,
    wanted: ScanParameters | None,
    *,
    now: datetime,
    ttl_s: int,
) -> tuple[Job, JobResult] | None:
    """Return the newest completed job of this key whose result satisfies the request, with it.

    Args:
        control: The control store.
        read: Reads the result of a job.
        key: Key of the jobs whose results are looked at.
        wanted: Parameters of a scan; None for a discovery, whose key has all of its own.
        now: The current time.
        ttl_s: Results that are older do not count.
    """
    for job in jobs.completed(control, key, since=now - timedelta(seconds=ttl_s)):
        result = read(job.job_id)
        if result is None or job.finished_at is None:
            continue
        if wanted is None or "kind" in result:  # one key never has results of both kinds
            return job, result
        if satisfies_request(result, wanted, finished_at=job.finished_at, now=now, ttl_s=ttl_s):
            return job, result
    return None
