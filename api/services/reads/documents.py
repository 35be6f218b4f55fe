"""Builds the answers on accounts, lists and metrics.

Names are the platform's own; unknown is null, never 0. Not here: videos
(`pipelines.documents.videos`).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from api.responses.documents import to_document
from api.schemas.lists import (
    CreatorMetrics,
    CursorList,
    ListFacts,
    ObservationHistory,
    PaginationMode,
    PostList,
    User,
)
from api.services.reads.read_result import provenance
from pipelines.documents.video_types import ImageUrls, VideoDocument
from pipelines.documents.videos import to_time, to_video_document
from warehouse.records.videos import Account, Author, Video

LOCAL_CURSOR: PaginationMode = "public_first_screen_local_cursor"
PLATFORM_CURSOR: PaginationMode = "platform_cursor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHistory:
    """Observation counts and times of a list."""

    first_screen_count: int
    union_count: int
    snapshot_count: int
    distinct_snapshot_count: int
    first_observed_at: datetime | None
    last_observed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A page to return: its videos, the cursor of the next page, and what is known of the list."""

    videos: list[VideoDocument]
    next_cursor: int
    has_more: bool
    platform_has_more: bool | None
    pagination_mode: PaginationMode
    history: ListHistory
    data_provider: str
    is_demo: bool


def to_user_document(account: Account) -> User:
    """Build the `user` of a profile: what was observed, by the names of the schema."""
    avatar: ImageUrls = {"url_list": [account.avatar_url] if account.avatar_url else []}
    return to_document(User, account, avatar_thumb=avatar)


def to_cursor_list(page: ListPage) -> CursorList:
    """Build the `data` of a music or hashtag list."""
    return {
        "aweme_list": page.videos,
        "cursor": page.next_cursor,
        **_list_facts(page),
        **provenance(page.data_provider, is_demo=page.is_demo),
    }


def to_post_list(page: ListPage, *, local_cursor_mode: bool) -> PostList:
    """Build the `data` of a page of posts."""
    return {
        "aweme_list": page.videos,
        "max_cursor": page.next_cursor,
        **_list_facts(page),
        "local_cursor_mode": local_cursor_mode,
        **provenance(page.data_provider, is_demo=page.is_demo),
    }


def _list_facts(page: ListPage) -> ListFacts:
    history = page.history
    return {
        "has_more": page.has_more,
        "platform_has_more": page.platform_has_more,
        "pagination_mode": page.pagination_mode,
        "public_first_screen_count": history.first_screen_count,
        "public_observed_union_count": history.union_count,
        "observation_history": to_document(ObservationHistory, history),
        "coverage_complete": False,
    }


def with_author(video: Video, account: Account) -> Video:
    """Fill in the author of a video from the account's own list, which does not repeat it."""
    if video.author is not None:
        return video
    author = Author(
        sec_uid=account.sec_uid,
        uid=account.uid,
        unique_id=account.unique_id,
        nickname=account.nickname,
        avatar_url=account.avatar_url,
    )
    return replace(video, author=author)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """The time window of the last `days` x 86,400 s before `end`."""

    days: int
    end: datetime

    @property
    def start(self) -> datetime:
        """The start of the window."""
        return self.end - timedelta(seconds=self.days * 86_400)

    def holds(self, create_time: int | None) -> bool:
        """Whether a video was published in the window; False for an unknown time."""
        if create_time is None:
            return False
        return self.start.timestamp() <= create_time <= self.end.timestamp()

    def newest(self, videos: Iterable[Video], count: int) -> list[Video]:
        """Return the `count` newest videos in the window, whatever the order of `works`."""
        held = [video for video in videos if self.holds(video.create_time)]
        return sorted(held, key=lambda video: (-(video.create_time or 0), video.aweme_id))[:count]


def to_metrics_document(
    account: Account,
    window: TimeWindow,
    analyzed: Sequence[Video],
    *,
    first_observed_at: Mapping[str, datetime],
    is_complete: bool,
    data_provider: str,
    is_demo: bool,
) -> CreatorMetrics:
    """Build the `data` of creator metrics; videos with unknown likes are left out of averages.

    `analyzed` is sorted newest first; of equally liked videos the newest is the top video.
    """
    liked = [video for video in analyzed if video.statistics.digg_count is not None]
    likes = [video.statistics.digg_count or 0 for video in liked]
    top = max(liked, key=lambda video: video.statistics.digg_count or 0, default=None)
    return {
        "sec_user_id": account.sec_uid,
        "nickname": account.nickname,
        "follower_count": account.follower_count,
        "total_favorited": account.total_favorited,
        "days": window.days,
        "window_start": to_time(window.start),
        "window_end": to_time(window.end),
        "analyzed_count": len(liked),
        "average_digg_count": round(statistics.fmean(likes), 2) if likes else None,
        "median_digg_count": statistics.median(likes) if likes else None,
        "top_video": None
        if top is None
        else to_video_document(top, first_observed_at=first_observed_at.get(top.aweme_id)),
        "statistics_complete": is_complete
        and len(liked) == len(analyzed)
        and all(video.statistics_complete for video in liked),
        "coverage_complete": False,
        **provenance(data_provider, is_demo=is_demo),
    }
