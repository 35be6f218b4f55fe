"""Schemas for compared pairs, reads of a job, time series, storage and budget."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.base_models import Count, Id, OptionalCount, ResponseModel, Timestamp
from api.schemas.video import EvidenceDocument


class ComparisonList(ResponseModel):
    """All pairs that a job compared, rejected ones included."""

    job_id: str
    comparisons: list[EvidenceDocument]
    returned_count: Count
    is_demo_data: bool


class SurfaceReads(ResponseModel):
    """Reads of one surface with one outcome."""

    surface: str
    outcome: Annotated[str, Field(description="ok, unavailable, or the type of the error")]
    captures: Count
    requests: Count
    items: Count


class JobReads(ResponseModel):
    """Reads of a job so far, surfaces in order of first use."""

    job_id: str
    reads: list[SurfaceReads]
    is_demo_data: bool


class SeriesPoint(ResponseModel):
    """Known counts at one moment. Which counts exist depends on the kind."""

    observed_at: Timestamp
    surface: str | None
    digg_count: OptionalCount = None
    comment_count: OptionalCount = None
    collect_count: OptionalCount = None
    share_count: OptionalCount = None
    follower_count: OptionalCount = None
    total_favorited: OptionalCount = None
    aweme_count: OptionalCount = None
    following_count: OptionalCount = None
    work_count: OptionalCount = None
    is_exact: bool
    ranges: dict[str, list[int]] | None


class Series(ResponseModel):
    """All observations of one entity, oldest first."""

    kind: Literal["video", "track", "account"]
    id: Id | str
    name: str | None
    measures: list[str]
    points: list[SeriesPoint]
    returned_count: Count
    is_demo_data: bool


class StoragePart(ResponseModel):
    """One store."""

    name: str
    bytes: Count
    files: Count


class HostBudget(ResponseModel):
    """Today's requests to one host."""

    host: str
    used: Count
    left: Count


class Budget(ResponseModel):
    """Daily request budget per host; `used` is that of the host with most requests."""

    limit: Count
    used: Count
    hosts: list[HostBudget]


class Storage(ResponseModel):
    """Used and free disk space in bytes, and requests of today (UTC)."""

    parts: list[StoragePart]
    total_bytes: Count
    free_bytes: Count
    budget: Budget
    is_demo_data: bool
