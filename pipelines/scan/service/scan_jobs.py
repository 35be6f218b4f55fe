"""A job together with its result, or with what its scan has confirmed so far."""

from dataclasses import dataclass
from datetime import datetime

from pipelines.documents.result_types import JobResult, ScanPreview
from warehouse.records.jobs import Job


@dataclass(frozen=True, slots=True)
class ScanJob:
    """A job, with its result document once it is completed."""

    job: Job
    result: JobResult | None = None


@dataclass(frozen=True, slots=True)
class RunningScan:
    """A job, with what its scan has confirmed so far and when that was written, while it runs."""

    job: Job
    preview: ScanPreview | None = None
    updated_at: datetime | None = None
