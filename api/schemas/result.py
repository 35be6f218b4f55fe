"""Schemas for the result of a scan and for its job."""

from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.base_models import (
    Count,
    ErrorDocument,
    Id,
    OptionalCount,
    ResponseModel,
    ResultNote,
    Timestamp,
)
from api.schemas.video import (
    EvidenceDocument,
    RankedVideo,
    TrackDocument,
    VariantVideo,
    VideoPreview,
)

Association = Literal["audio_fingerprint_match", "exact_music_id_discovered"]
JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]


class AccountEntry(ResponseModel):
    """An account with confirmed videos. Profile fields are null until the profile is read."""

    sec_uid: str
    nickname: str | None
    unique_id: str | None
    follower_count: OptionalCount
    total_favorited: OptionalCount
    aweme_count: OptionalCount
    profile_complete: bool
    linked_video_count: Count
    linked_digg_count: OptionalCount
    linked_comment_count: OptionalCount
    linked_collect_count: OptionalCount
    linked_share_count: OptionalCount
    linked_statistics_complete: bool
    top_video: VideoPreview
    video_previews: list[VideoPreview]


class AccountSummary(ResponseModel):
    """Accounts of all confirmed videos, not only the returned ones."""

    accounts: list[AccountEntry]
    video_preview_limit: int
    account_count: Count
    account_count_complete: bool


class SearchTerm(ResponseModel):
    """Outcome of one search term and its stop reason."""

    term: str
    pages: Count
    items: Count
    new_items: Count
    last_cursor: int | None
    finished: bool
    stop_reason: str


class SearchPagination(ResponseModel):
    """Extent of the guest search."""

    pages_fetched: Count
    terms_paginated: Count
    terms: list[SearchTerm]
    request_budget: Count
    requests_used: Count


class SearchRelated(ResponseModel):
    """Videos related by search text only; they never count as confirmed."""

    aweme_list: list[dict[str, Any]]
    returned_count: Count
    high_relevance_count: Count
    conflicting_music_title_count: Count
    expanded_candidate_count: Count
    visible_ranking_overlap_count: Count
    pagination: SearchPagination


class Variants(ResponseModel):
    """Videos with the recording at another speed or pitch, as a separate result."""

    count: Count
    aweme_list: list[VariantVideo]
    by_kind: dict[Literal["speed", "tempo", "pitch"], Count]


class SourceCoverageDocument(ResponseModel):
    """One source: requests, items and the stop reason."""

    surface: str
    requests: Count
    pages: Count
    items: Count
    new_items: Count
    stop_reason: str


class ListGenuineShareDocument(ResponseModel):
    """One music list: rows whose music is known, and those that use the list's music id."""

    music_id: Id
    rows: Count
    own_rows: Count


class SourceDecisionDocument(ResponseModel):
    """What the planner decided about one source of a question."""

    question: str
    surface: str
    tried: Count
    answered: Count
    left_closed: Annotated[int, Field(ge=0, description="its circuit was open")]
    left_sick: Annotated[int, Field(ge=0, description="it rarely answers")]
    left_held_back: Annotated[int, Field(ge=0, description="another source was refused")]


class Coverage(ResponseModel):
    """What was read and what was not. Estimates are never mixed into counts.

    `decisions` and `list_genuine_share` are empty in results of earlier versions.
    """

    sources: list[SourceCoverageDocument]
    decisions: Annotated[list[SourceDecisionDocument], Field(default_factory=list)]
    not_reached: list[Any]
    unseen_estimate: dict[str, Any] | None
    list_genuine_share: Annotated[list[ListGenuineShareDocument], Field(default_factory=list)]


class HotVideos(ResponseModel):
    """The ranking of a track. Never a full enumeration of the platform."""

    music_id: Id | None
    keyword: str | None
    music: TrackDocument | None
    aweme_list: list[RankedVideo]
    candidate_pool_size: Count
    confirmed_count: Count
    returned_count: Count
    requested_count: Count
    count_satisfied: bool
    count_note_zh: str
    search_related: SearchRelated
    variants: Variants
    unique_account_count: Count
    account_count_complete: bool
    account_summary: AccountSummary
    discovery: dict[str, Any]
    coverage: Coverage
    coverage_complete: Literal[False]
    algorithm: str
    is_demo_data: bool
    data_provider: str
    mobile_emulator_used: bool
    created_at: Timestamp


class HotVideosResponse(HotVideos):
    """The ranking with its job."""

    job_id: str
    poll_url: str
    notes: list[ResultNote]


class DiscoveredVideo(RankedVideo):
    """A verified match of a discovery with its association type."""

    association_type: Association
    reference_aweme_id: Id | None


class CandidateMusic(ResponseModel):
    """The music of a candidate."""

    id_str: Id
    title: str | None
    author: str | None


class DiscoveryCandidate(ResponseModel):
    """A text candidate with its verdict; rejected ones keep their evidence."""

    aweme_id: Id
    desc: str | None
    music: CandidateMusic | None
    title_relation: Literal["names_the_song", "none"]
    verdict: str
    reason: str | None
    evidence: EvidenceDocument | None
    association_type: Association | None


class Discovery(ResponseModel):
    """Related videos of a track: verified matches, and every candidate with its reason."""

    kind: Literal["discovery"]
    music_id: Id
    music: TrackDocument
    aweme_list: list[DiscoveredVideo]
    candidates: list[DiscoveryCandidate]
    reference_works: list[Id]
    layer_counts: dict[str, Count]
    coverage: Coverage
    coverage_complete: Literal[False]
    algorithm: str
    confirmed_count: Count
    parameters: dict[str, Any]
    is_demo_data: bool
    data_provider: str
    mobile_emulator_used: bool
    created_at: Timestamp


class DiscoveryResponse(Discovery):
    """The discovery with its job."""

    job_id: str
    poll_url: str


class JobProgress(ResponseModel):
    """Progress of a job. `eta_s` is an estimate."""

    stage: str
    stage_index: Count
    stage_count: Count
    candidate_pool_count: Count
    confirmed_count: Count
    detail_checked_count: Count
    audio_checked_count: Count
    search_page_count: Count
    account_profile_count: Count
    requests_used: Count
    eta_s: float | None
    updated_at: str | None


class JobDocument(ResponseModel):
    """A collection job; `result` is set once it is completed."""

    job_id: Annotated[str, Field(examples=["0b1f4c7e-6f0a-4a53-9d3a-2f6f5a1c9e21"])]
    poll_url: str
    status: JobStatus
    input: str
    music_id: str | None
    parameters: dict[str, Any]
    progress: JobProgress
    result: HotVideos | Discovery | None
    error: ErrorDocument | None
    cancel_requested: bool
    origin: str
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    expires_at: Timestamp | None
    notes: list[ResultNote]
    is_demo_data: bool


class BatchItem(ResponseModel):
    """One input of a batch: its job or its error; `result` if one is stored."""

    input: str
    ok: bool
    status: JobStatus | None
    job_id: str | None
    poll_url: str | None
    result: HotVideos | None
    error: ErrorDocument | None


class BatchResult(ResponseModel):
    """All inputs of a batch in the given order, processed independently."""

    items: list[BatchItem]
    ok_count: Count
    error_count: Count
    notes: list[ResultNote]
    is_demo_data: bool


class JobList(ResponseModel):
    """The newest jobs, without their results."""

    jobs: list[JobDocument]
    returned_count: Count
    is_demo_data: bool
