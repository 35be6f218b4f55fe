"""Requests for evidence, the reads of a scan, time series, storage, health and reference."""

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
    """Read a compared pair."""
    return Ask("GET", _pair(comparison_id))


def job_comparisons(job_id: str) -> Ask[ComparisonsData]:
    """List the compared pairs of a job."""
    return Ask("GET", f"{OWN}/jobs/{_part(job_id)}/comparisons")


def job_reads(job_id: str) -> Ask[JobReadsData]:
    """List what a job has read so far."""
    return Ask("GET", f"{OWN}/jobs/{_part(job_id)}/reads")


def annotations(comparison_id: str) -> Ask[AnnotationsData]:
    """List the annotations of a pair."""
    return Ask("GET", f"{_pair(comparison_id)}/annotations")


def annotate(comparison_id: str, verdict: Heard, note: str | None) -> Ask[AnnotationsData]:
    """Add an annotation. Each one is stored, so the request is not retried."""
    body = {"verdict": verdict, "note": note}
    return Ask("POST", f"{_pair(comparison_id)}/annotations", body=body, is_safe=False)


def series(kind: SeriesKind, entity_id: str) -> Ask[SeriesData]:
    """Read counts over time."""
    return Ask("GET", f"{OWN}/series/{kind}/{_part(entity_id)}")


def storage() -> Ask[StorageData]:
    """Read disk usage and request budgets."""
    return Ask("GET", f"{OWN}/storage")


def doctor() -> Ask[DoctorData]:
    """Read the last health report."""
    return Ask("GET", f"{OWN}/doctor")


def reference() -> Ask[ReferenceData]:
    """Read all operations and errors."""
    return Ask("GET", f"{OWN}/reference")


def _pair(comparison_id: str) -> str:
    return f"{OWN}/comparisons/{_part(comparison_id)}"


def _part(text: str) -> str:
    return quote(text, safe="")
