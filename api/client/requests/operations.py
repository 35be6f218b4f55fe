"""Builds the request of each operation: method, path, query and body. No I/O.

One function per operation, shared by both clients. `Ask[Data]` carries the type of `data` in the
response.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict
from urllib.parse import quote

from ..types.answers import (
    BatchData,
    ChartHistoryData,
    HashtagVideosData,
    HotVideosData,
    JobData,
    JobListData,
    MusicVideosData,
    RelatedVideosData,
    SecUserIdData,
    UserMetricsData,
    UserPostsData,
    UserProfileData,
    VideosData,
)

SortBy = Literal["hot_score", "digg", "comment", "collect", "share", "latest", "oldest"]
JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
type Query = Mapping[str, object]

APP = "/api/v1/vidplat/app/v3"
WEB = "/api/v1/vidplat/web"
SEARCH = "/api/v1/vidplat/search"
JOBS = f"{APP}/music_collection_jobs"


class RelatedOptions(TypedDict, total=False):
    """Parameters of a discovery; omitted ones use the default of the service."""

    author_limit: int
    candidate_limit: int
    match_threshold: float
    verify_audio: bool
    viral_threshold: int


class ScanOptions(TypedDict, total=False):
    """Parameters of a scan; omitted ones use the default of the service."""

    candidate_limit: int
    count: int
    sort_by: SortBy
    viral_threshold: int
    viral_only: bool
    search_enabled: bool
    search_candidate_limit: int
    search_batch_target: int
    search_page_limit: int
    search_request_budget: int
    verify_audio: bool
    match_threshold: float
    account_profile_limit: int
    refresh: bool


@dataclass(frozen=True, slots=True)
class ApiRequest[Data]:
    """A request. `is_safe`: it is idempotent and may be retried."""

    method: str
    path: str
    query: Query | None = None
    body: object = None
    is_safe: bool = True

    @property
    def params(self) -> dict[str, str]:
        """The query as text, without None values."""
        given = {name: value for name, value in (self.query or {}).items() if value is not None}
        return {name: _text(value) for name, value in given.items()}


def sec_user_id(url: str) -> ApiRequest[SecUserIdData]:
    """Endpoint 1."""
    return ApiRequest("GET", f"{WEB}/get_sec_user_id", {"url": url})


def user_profile(sec_user_id: str) -> ApiRequest[UserProfileData]:
    """Endpoint 2."""
    return ApiRequest("GET", f"{APP}/handler_user_profile", {"sec_user_id": sec_user_id})


def user_posts(
    sec_user_id: str, max_cursor: int, count: int | None, sort_type: int | None
) -> ApiRequest[UserPostsData]:
    """Endpoint 3."""
    query = {"sec_user_id": sec_user_id, "max_cursor": max_cursor}
    return ApiRequest(
        "GET", f"{APP}/fetch_user_post_videos", {**query, "count": count, "sort_type": sort_type}
    )


def user_metrics(
    sec_user_id: str, days: int | None, count: int | None
) -> ApiRequest[UserMetricsData]:
    """Endpoint 4."""
    query = {"sec_user_id": sec_user_id, "days": days, "count": count}
    return ApiRequest("GET", f"{APP}/fetch_user_metrics", query)


def hot_videos(
    music: str, keywords: Sequence[str], options: ScanOptions
) -> ApiRequest[HotVideosData]:
    """Endpoint 5. A repeated request joins the same job."""
    query: Query = {"music_id": music, "search_keywords": ",".join(keywords) or None, **options}
    return ApiRequest("GET", f"{APP}/fetch_music_hot_videos", query)


def hot_videos_batch(
    inputs: Sequence[str], keywords: Sequence[str], options: ScanOptions
) -> ApiRequest[BatchData]:
    """Endpoint 6."""
    body = {"inputs": list(inputs), **_keywords(keywords), **options}
    return ApiRequest("POST", f"{APP}/fetch_music_hot_videos_batch", body=body, is_safe=False)


def create_job(music: str, keywords: Sequence[str], options: ScanOptions) -> ApiRequest[JobData]:
    """Endpoint 7, for a track."""
    body = {"input": music, **_keywords(keywords), **options}
    return ApiRequest("POST", JOBS, body=body, is_safe=False)


def create_search_job(
    keyword: str, keywords: Sequence[str], options: ScanOptions
) -> ApiRequest[JobData]:
    """Endpoint 7, for the name of a song."""
    body = {"keyword": keyword, "search_only": True, **_keywords(keywords), **options}
    return ApiRequest("POST", JOBS, body=body, is_safe=False)


def job(job_id: str) -> ApiRequest[JobData]:
    """Endpoint 8."""
    return ApiRequest("GET", f"{JOBS}/{quote(job_id, safe='')}")


def cancel_job(job_id: str) -> ApiRequest[JobData]:
    """Endpoint 8, with DELETE."""
    return ApiRequest("DELETE", f"{JOBS}/{quote(job_id, safe='')}")


def jobs(limit: int | None, status: JobStatus | None) -> ApiRequest[JobListData]:
    """List jobs."""
    return ApiRequest("GET", "/api/v1/sametrack/jobs", {"limit": limit, "status": status})


def job_events(job_id: str) -> str:
    """Return the path of the event stream of a job."""
    return f"/api/v1/sametrack/jobs/{quote(job_id, safe='')}/events"


def related_videos(music: str, options: RelatedOptions) -> ApiRequest[RelatedVideosData]:
    """Endpoint 9."""
    return ApiRequest("GET", f"{APP}/discover_music_related_videos", {"music_id": music, **options})


def videos(aweme_ids: Sequence[str], *, is_web: bool) -> ApiRequest[VideosData]:
    """Endpoints 10 (up to 50 ids) and 11 (up to 10). Reads data, although it is a POST."""
    return ApiRequest("POST", f"{WEB if is_web else APP}/fetch_multi_video", body=list(aweme_ids))


def music_videos(
    music_id: str, cursor: int, count: int | None, refresh: bool | None
) -> ApiRequest[MusicVideosData]:
    """Endpoint 12."""
    query = {"music_id": music_id, "cursor": cursor, "count": count, "refresh": refresh}
    return ApiRequest("GET", f"{APP}/fetch_music_video_list", query)


def hashtag_videos(
    ch_id: str, cursor: int, count: int | None, sort_type: int | None, refresh: bool | None
) -> ApiRequest[HashtagVideosData]:
    """Endpoint 13."""
    query: Query = {"ch_id": ch_id, "cursor": cursor, "sort_type": sort_type}
    query = {**query, "count": count, "refresh": refresh}
    return ApiRequest("GET", f"{APP}/fetch_hashtag_video_list", query)


def music_search(keyword: str) -> ApiRequest[object]:
    """Endpoint 14: always refused."""
    return ApiRequest("POST", f"{SEARCH}/fetch_music_search", body={"keyword": keyword})


def video_search(keyword: str) -> ApiRequest[object]:
    """Endpoint 15: always refused."""
    return ApiRequest("POST", f"{SEARCH}/fetch_video_search_v1", body={"keyword": keyword})


def chart_history(start_date: str, end_date: str) -> ApiRequest[ChartHistoryData]:
    """Endpoint 16."""
    query = {"start_date": start_date, "end_date": end_date}
    return ApiRequest("GET", "/api/v1/music/chartsrc/top500/history", query)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _keywords(keywords: Sequence[str]) -> dict[str, object]:
    return {"search_keywords": list(keywords)} if keywords else {}
