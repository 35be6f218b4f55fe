"""What is sent to look closer: evidence, reads of a scan, counts over time, the service itself.

The service's own operations. As in `asking.py`, nothing is sent here.
"""

from typing import Literal
from urllib.parse import quote

from ..types.extensions import (
    AnnotationsData,
    ComparisonData,
    ComparisonsData,
    DoctorData,
    JobReadsData,
    ReferenceData,
    SeriesData,
    StorageData,
)
from .operations import Ask

OWN = "/api/v1/sametrack"
SeriesKind = Literal["video", "track", "account"]
Heard = Literal["same", "not_the_same"]


def comparison(comparison_id: str) -> Ask[ComparisonData]:
    """One compared pair."""
    return Ask("GET", _pair(comparison_id))


def job_comparisons(job_id: str) -> Ask[ComparisonsData]:
    """All pairs of a job."""
    return Ask("GET", f"{OWN}/jobs/{_part(job_id)}/comparisons")


def job_reads(job_id: str) -> Ask[JobReadsData]:
    """What a job has read until now."""
    return Ask("GET", f"{OWN}/jobs/{_part(job_id)}/reads")


def annotations(comparison_id: str) -> Ask[AnnotationsData]:
    """What people said of a pair."""
    return Ask("GET", f"{_pair(comparison_id)}/annotations")


def annotate(comparison_id: str, verdict: Heard, note: str | None) -> Ask[AnnotationsData]:
    """One more thing said of a pair. Each is kept, so that it is never sent twice."""
    body = {"verdict": verdict, "note": note}
    return Ask("POST", f"{_pair(comparison_id)}/annotations", body=body, is_safe=False)


def series(kind: SeriesKind, entity_id: str) -> Ask[SeriesData]:
    """Counts over time."""
    return Ask("GET", f"{OWN}/series/{kind}/{_part(entity_id)}")


def storage() -> Ask[StorageData]:
    """Room and budget."""
    return Ask("GET", f"{OWN}/storage")


def doctor() -> Ask[DoctorData]:
    """The last report of health."""
    return Ask("GET", f"{OWN}/doctor")


def reference() -> Ask[ReferenceData]:
    """All operations and errors."""
    return Ask("GET", f"{OWN}/reference")


def _pair(comparison_id: str) -> str:
    return f"{OWN}/comparisons/{_part(comparison_id)}"


def _part(text: str) -> str:
    return quote(text, safe="")
