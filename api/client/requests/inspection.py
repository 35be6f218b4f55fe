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
from .operations import ApiRequest

OWN = "/api/v1/sametrack"
SeriesKind = Literal["video", "track", "account"]
AnnotationVerdict = Literal["same", "not_the_same"]


def comparison(comparison_id: str) -> ApiRequest[ComparisonData]:
    """Read a compared pair."""
    return ApiRequest("GET", _pair(comparison_id))


def job_comparisons(job_id: str) -> ApiRequest[ComparisonsData]:
    """List the compared pairs of a job."""
    return ApiRequest("GET", f"{OWN}/jobs/{_part(job_id)}/comparisons")


def job_reads(job_id: str) -> ApiRequest[JobReadsData]:
    """List what a job has read so far."""
    return ApiRequest("GET", f"{OWN}/jobs/{_part(job_id)}/reads")


def annotations(comparison_id: str) -> ApiRequest[AnnotationsData]:
    """List the annotations of a pair."""
    return ApiRequest("GET", f"{_pair(comparison_id)}/annotations")


def annotate(
    comparison_id: str, verdict: AnnotationVerdict, note: str | None
) -> ApiRequest[AnnotationsData]:
    """Add an annotation. Each one is stored, so the request is not retried."""
    body = {"verdict": verdict, "note": note}
    return ApiRequest("POST", f"{_pair(comparison_id)}/annotations", body=body, is_safe=False)


def series(kind: SeriesKind, entity_id: str) -> ApiRequest[SeriesData]:
    """Read counts over time."""
    return ApiRequest("GET", f"{OWN}/series/{kind}/{_part(entity_id)}")


def storage() -> ApiRequest[StorageData]:
    """Read disk usage and request budgets."""
    return ApiRequest("GET", f"{OWN}/storage")


def doctor() -> ApiRequest[DoctorData]:
    """Read the last health report."""
    return ApiRequest("GET", f"{OWN}/doctor")


def reference() -> ApiRequest[ReferenceData]:
    """Read all operations and errors."""
    return ApiRequest("GET", f"{OWN}/reference")


def _pair(comparison_id: str) -> str:
    return f"{OWN}/comparisons/{_part(comparison_id)}"


def _part(text: str) -> str:
    return quote(text, safe="")
