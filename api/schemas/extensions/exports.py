"""Schemas for compared pairs, reads of a job, time series, storage and budget."""

from typing import Annotated, NotRequired

from pydantic import Field

from api.schemas.extensions.evidence import VideosById
from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from pipelines.documents.video_types import EvidenceDocument
from pipelines.reads.series import SeriesKind


class ComparisonList(ClosedDocument):
    """All pairs that a job compared, rejected ones included."""

    job_id: str
    comparisons: list[EvidenceDocument]
    videos: VideosById
    returned_count: Count
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
