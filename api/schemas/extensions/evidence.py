"""Schemas for the evidence of one compared pair."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.base_models import Count, Id, ResponseModel, Timestamp
from api.schemas.video import EvidenceDocument


class MeasureDocument(ResponseModel):
    """One measured number. `limit` null: no limit; `is_met` null: unknown."""

    name: Literal["chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement", "score"]
    value: float | None
    limit: float | None
    lower_is_better: bool
    is_met: bool | None


class PlotPaths(ResponseModel):
    """Paths of the evidence plot; null if a sound was not analysed."""

    svg: str | None
    png: str | None


class ExcerptDocument(ResponseModel):
    """A playable excerpt of a sound; times are seconds of that sound."""

    path: str
    start_s: float
    duration_s: float


class Excerpts(ResponseModel):
    """Excerpts of both sounds, starting at the same point of the music; null if not stored."""

    reference: ExcerptDocument | None
    candidate: ExcerptDocument | None


class ComparisonDocument(ResponseModel):
    """A compared pair with its measurements and limits."""

    comparison_id: str
    job_id: Annotated[str, Field(description="job that made the comparison")]
    track_music_id: Annotated[Id, Field(description="track of the job")]
    evidence: EvidenceDocument
    measures: list[MeasureDocument]
    picture: PlotPaths
    excerpts: Excerpts
    is_demo_data: bool


class AnnotationDocument(ResponseModel):
    """One manual annotation of a pair."""

    annotation_id: str
    verdict: Literal["same", "not_the_same"]
    note: str | None
    origin: str
    annotated_at: Timestamp


class AnnotationCounts(ResponseModel):
    """Number of annotations per verdict."""

    same: Count
    not_the_same: Count


class AnnotationList(ResponseModel):
    """All annotations of a pair, oldest first. They do not change the result."""

    comparison_id: str
    annotations: list[AnnotationDocument]
    counts: AnnotationCounts
    is_demo_data: bool
