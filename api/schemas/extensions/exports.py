"""Schemas for compared pairs, reads of a job, time series, storage and budget."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import Count, Id, MaybeCount, Moment, Shape
from api.schemas.video import Evidence


class ComparisonList(Shape):
    """All pairs that a job compared, rejected ones included."""

    job_id: str
    comparisons: list[Evidence]
    returned_count: Count
    is_demo_data: bool


class ReadsOfSurface(Shape):
    """Reads of one surface with one outcome."""

    surface: str
    outcome: Annotated[str, Field(description="ok, unavailable, or the type of the error")]
    captures: Count
    requests: Count
    items: Count


class JobReads(Shape):
    """Reads of a job so far, surfaces in order of first use."""

    job_id: str
    reads: list[ReadsOfSurface]
    is_demo_data: bool


class SeriesPoint(Shape):
    """Known counts at one moment. Which counts exist depends on the kind."""

    observed_at: Moment
    surface: str | None
    digg_count: MaybeCount = None
    comment_count: MaybeCount = None
    collect_count: MaybeCount = None
    share_count: MaybeCount = None
    follower_count: MaybeCount = None
    total_favorited: MaybeCount = None
    aweme_count: MaybeCount = None
    following_count: MaybeCount = None
    work_count: MaybeCount = None
    is_exact: bool
    ranges: dict[str, list[int]] | None


class Series(Shape):
    """All observations of one entity, oldest first."""

    kind: Literal["video", "track", "account"]
    id: Id | str
    name: str | None
    measures: list[str]
    points: list[SeriesPoint]
    returned_count: Count
    is_demo_data: bool


class StoragePart(Shape):
    """One store."""

    name: str
    bytes: Count
    files: Count


class HostBudget(Shape):
    """Today's requests to one host."""

    host: str
    used: Count
    left: Count


class Budget(Shape):
    """Daily request budget per host; `used` is that of the host with most requests."""

    limit: Count
    used: Count
    hosts: list[HostBudget]


class Storage(Shape):
    """Used and free disk space in bytes, and requests of today (UTC)."""

    parts: list[StoragePart]
    total_bytes: Count
    free_bytes: Count
    budget: Budget
    is_demo_data: bool
