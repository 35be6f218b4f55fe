"""Schemas for compared pairs and notes of people, reads of a job, time series, storage."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from api.params.notes import AnnotationVerdict
from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from pipelines.documents.result_plots import ResultPlots
from pipelines.documents.result_types import EvidenceDocument
from pipelines.reads.series import SeriesKind
from warehouse.control.notes import NoteKind
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


ExcerptState = Literal["stored", "readable", "not_aligned", "excerpts_off"]
"""How a compared sound can be heard, or why it cannot."""


class WaveformDocument(ClosedDocument):
    """Loudness of a sound on the time axis of the song, that is of the reference; a change of speed
    is undone.
    """

    start_s: Annotated[float, Field(description="second of the song where the sound begins")]
    duration_s: float
    levels: Annotated[
        list[int],
        Field(description="loudness of equal parts, in percent of the loudest moment"),
    ]


class ComparedSound(ClosedDocument):
    """One of the two sounds: how it looks, and how it can be heard."""

    excerpt_state: Annotated[
        ExcerptState,
        Field(
            description="stored; readable: `excerpt_path` reads the sound again; else why it "
            "cannot be heard: not_aligned, excerpts_off (EXCERPTS_MAX_MB is 0)"
        ),
    ]
    excerpt_path: Annotated[
        str | None, Field(description="path of its excerpt; null if it cannot be heard")
    ]
    excerpt_song_start_s: Annotated[
        float | None, Field(description="second of the song where the excerpt begins")
    ]
    waveform: Annotated[
        WaveformDocument | None, Field(description="null if one of the sounds was not analysed")
    ]


class ComparedSounds(ClosedDocument):
    """Both sounds of a pair."""

    reference: ComparedSound
    candidate: ComparedSound


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
    verdict_text: Annotated[str, Field(description="the verdict as a sentence")]
    verdict_text_zh: str
    evidence: EvidenceDocument
    measures: list[MeasureDocument]
    picture: PlotPaths
    excerpts: Excerpts
    sounds: ComparedSounds
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


class ComparisonList(ClosedDocument):
    """All pairs that a job compared, rejected ones included."""

    job_id: str
    comparisons: list[EvidenceDocument]
    deciding_ids: Annotated[
        list[str], Field(description="of each candidate, the pair that decides about it")
    ]
    videos: VideosById
    returned_count: Count
    is_demo_data: bool


class JobPlots(ResultPlots):
    """The plots of a completed scan, of all confirmed videos."""

    job_id: str
    is_demo_data: bool


class SurfaceReads(ClosedDocument):
    """Reads of one surface with one outcome."""

    surface: str
    outcome: Annotated[str, Field(description="ok, unavailable, or the type of the error")]
    captures: Count
    requests: Count
    items: Count


class JobReads(ClosedDocument):
    """Reads of a job so far, surfaces in order of first use."""

    job_id: str
    reads: list[SurfaceReads]
    is_demo_data: bool


class TrackGrowth(ClosedDocument):
    """What the same videos gained since they were first observed; newly found ones add nothing."""

    gained: Annotated[
        dict[str, int | None],
        Field(description="by count, since the first point; null: no video was observed twice"),
    ]
    followed_work_count: Annotated[
        int, Field(ge=0, description="videos observed at least twice by then")
    ]
    new_work_count: Annotated[int, Field(ge=0, description="videos first observed at this point")]


class SeriesPoint(ClosedDocument):
    """Known counts at one moment. Which counts exist depends on the kind."""

    observed_at: Timestamp
    surface: str | None
    digg_count: NotRequired[OptionalCount]
    comment_count: NotRequired[OptionalCount]
    collect_count: NotRequired[OptionalCount]
    share_count: NotRequired[OptionalCount]
    follower_count: NotRequired[OptionalCount]
    total_favorited: NotRequired[OptionalCount]
    aweme_count: NotRequired[OptionalCount]
    following_count: NotRequired[OptionalCount]
    work_count: NotRequired[OptionalCount]
    growth: NotRequired[TrackGrowth]
    is_exact: bool
    ranges: dict[str, list[int]] | None
    job_ids: Annotated[
        list[str], Field(description="jobs that read it; empty: read outside of a job")
    ]


class Series(ClosedDocument):
    """All observations of one entity, oldest first."""

    kind: SeriesKind
    id: Id | str
    name: str | None
    measures: list[str]
    points: list[SeriesPoint]
    returned_count: Count
    is_demo_data: bool


class StoragePart(ClosedDocument):
    """One store."""

    name: str
    bytes: Count
    files: Count


class HostBudget(ClosedDocument):
    """Today's requests to one host."""

    host: str
    used: Count
    left: Count


class Budget(ClosedDocument):
    """Daily request budget per host; `used` is that of the host with most requests."""

    limit: Count
    used: Count
    hosts: list[HostBudget]


class Storage(ClosedDocument):
    """Used and free disk space in bytes, and requests of today (UTC)."""

    parts: list[StoragePart]
    total_bytes: Count
    free_bytes: Count
    budget: Budget
    is_demo_data: bool
