"""The evidence of one compared pair, as our own operations answer it."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import Count, Id, Moment, Shape
from api.schemas.video import Evidence


class Measure(Shape):
    """One measured number. `limit` null: none is set; `is_met` null: it cannot be said."""

    name: Literal["chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement", "score"]
    value: float | None
    limit: float | None
    lower_is_better: bool
    is_met: bool | None


class Pictures(Shape):
    """Where the picture is read; null when a sound was not heard."""

    svg: str | None
    png: str | None


class ExcerptDocument(Shape):
    """A short stretch of a sound that can be heard, in seconds of its own time."""

    path: str
    start_s: float
    duration_s: float


class Excerpts(Shape):
    """Excerpts of both sounds, beginning at the same moment of the music; null when not kept."""

    reference: ExcerptDocument | None
    candidate: ExcerptDocument | None


class ComparisonDocument(Shape):
    """A compared pair: what was measured, against which limits."""

    comparison_id: str
    job_id: Annotated[str, Field(description="job that compared it")]
    track_music_id: Annotated[Id, Field(description="track that the job is about")]
    evidence: Evidence
    measures: list[Measure]
    picture: Pictures
    excerpts: Excerpts
    is_demo_data: bool


class AnnotationDocument(Shape):
    """What one person said of a pair."""

    annotation_id: str
    verdict: Literal["same", "not_the_same"]
    note: str | None
    origin: str
    annotated_at: Moment


class AnnotationCounts(Shape):
    """How often each was said."""

    same: Count
    not_the_same: Count


class AnnotationList(Shape):
    """Everything that people said of a pair, oldest first. No verdict follows from it."""

    comparison_id: str
    annotations: list[AnnotationDocument]
    counts: AnnotationCounts
    is_demo_data: bool
