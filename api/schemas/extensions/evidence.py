"""Schemas for the evidence of one compared pair, and for the notes of people."""

from typing import Annotated

from pydantic import Field

from api.params.annotations import AnnotationVerdict
from pipelines.documents.fields import ClosedDocument, Count, Id, Timestamp
from pipelines.documents.video_types import EvidenceDocument
from warehouse.control.notes.records import NoteKind
from warehouse.records.evidence import MeasureName
from warehouse.records.jobs import Origin


class MeasureDocument(ClosedDocument):
    """One measured number. `limit` null: no limit; `is_met` null: unknown."""

    name: MeasureName
    value: float | None
    limit: float | None
    lower_is_better: bool
    is_met: bool | None


class PlotPaths(ClosedDocument):
    """Paths of the evidence plot; null if a sound was not analysed."""

    svg: str | None
    png: str | None


class ExcerptDocument(ClosedDocument):
    """A playable excerpt of a sound; times are seconds of that sound."""

    path: str
    start_s: float
    duration_s: float


class Excerpts(ClosedDocument):
    """Excerpts of both sounds, starting at the same point of the music; null if not stored."""

    reference: ExcerptDocument | None
    candidate: ExcerptDocument | None


class ComparedVideo(ClosedDocument):
    """What a compared video is called, as last observed."""

    desc: str | None
    nickname: str | None
    sec_uid: str | None
    share_url: str | None


VideosById = Annotated[
    dict[str, ComparedVideo],
    Field(description="the compared videos by id; one that was never observed is missing"),
]


class ComparisonDocument(ClosedDocument):
    """A compared pair with its measurements and limits."""

    comparison_id: str
    job_id: Annotated[str, Field(description="job that made the comparison")]
    track_music_id: Annotated[Id, Field(description="track of the job")]
    evidence: EvidenceDocument
    measures: list[MeasureDocument]
    picture: PlotPaths
    excerpts: Excerpts
    videos: VideosById
    is_demo_data: bool


class AnnotationDocument(ClosedDocument):
    """One manual annotation of a pair."""

    annotation_id: str
    verdict: AnnotationVerdict
    note: str | None
    origin: Origin
    annotated_at: Timestamp


class AnnotationCounts(ClosedDocument):
    """Number of annotations per verdict."""

    same: Count
    not_the_same: Count


class AnnotationList(ClosedDocument):
    """All annotations of a pair, oldest first. They do not change the result."""

    comparison_id: str
    annotations: list[AnnotationDocument]
    counts: AnnotationCounts
    is_demo_data: bool


class NoteDocument(ClosedDocument):
    """A note on a track, a video or a compared pair."""

    kind: NoteKind
    id: str
    note: str | None
    tags: list[str]
    updated_at: Timestamp


class NoteList(ClosedDocument):
    """Notes, the newest first. They change no verdict and no result."""

    notes: list[NoteDocument]
    returned_count: Count
    is_demo_data: bool
