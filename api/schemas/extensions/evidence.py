"""Schemas for the evidence of one compared pair."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import Count, Id, Moment, Shape
from api.schemas.video import Evidence


class Measure(Shape):
    """One measured number. `limit` null: no limit; `is_met` null: unknown."""

    name: Literal["chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement", "score"]
    value: float | None
    limit: float | None
    lower_is_better: bool
    is_met: bool | None


class Pictures(Shape):
    """Paths of the evidence plot; null if a sound was not analysed."""

    svg: str | None
    png: str | None


class ExcerptDocument(Shape):
    """A playable excerpt of a sound; times are seconds of that sound."""

    path: str
    start_s: float
    duration_s: float


class Excerpts(Shape):
    """Excerpts of both sounds, starting at the same point of the music; null if not stored."""

    reference: ExcerptDocument | None
    candidate: ExcerptDocument | None


class ComparisonDocument(Shape):
    """A compared pair with its measurements and limits."""

    comparison_id: str
    job_id: Annotated[str, Field(description="job that made the comparison")]
    track_music_id: Annotated[Id, Field(description="track of the job")]
    evidence: Evidence
    measures: list[Measure]
    picture: Pictures
    excerpts: Excerpts
    is_demo_data: bool


class AnnotationDocument(Shape):
    """One manual annotation of a pair."""

    annotation_id: str
    verdict: Literal["same", "not_the_same"]
    note: str | None
    origin: str
    annotated_at: Moment


class AnnotationCounts(Shape):
    """Number of annotations per verdict."""

    same: Count
    not_the_same: Count


class AnnotationList(Shape):
    """All annotations of a pair, oldest first. They do not change the result."""

    comparison_id: str
    annotations: list[AnnotationDocument]
    counts: AnnotationCounts
    is_demo_data: bool
