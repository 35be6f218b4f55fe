"""In-memory LRU cache of result documents, which are immutable."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from pipelines.documents.result_types import JobResult

MAX_CACHED_RESULTS = 32  # a few hundred kB each


class ResultCache:
    """LRU cache of result documents by job id. Thread-safe."""

    def __init__(self, read: Callable[[str], JobResult | None]) -> None:
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
