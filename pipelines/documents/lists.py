"""Convert accounts, lists and metrics to JSON documents.

Names are the platform's own; unknown is null, never 0. Not here: videos (`videos.py`).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipelines.documents.videos import to_time, to_video_document
from warehouse.records.values import Document
from warehouse.records.videos import Account, Author, Video

LOCAL_CURSOR = "public_first_screen_local_cursor"
PLATFORM_CURSOR = "platform_cursor"
_NAMES = ("sec_uid", "uid", "unique_id", "short_id", "nickname", "signature")
_COUNTS = (
    "follower_count", "follower_count_source", "following_count", "aweme_count", "total_favorited",
    "favoriting_count", "ip_location",
)  # fmt: skip
_AUTHOR = ("sec_uid", "uid", "unique_id", "nickname", "avatar_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHistory:
    """Observation counts and times of a list."""

    first_screen_count: int
    union_count: int
    snapshot_count: int
    distinct_snapshot_count: int
    first_observed_at: datetime | None
    last_observed_at: datetime | None


def to_user_document(account: Account) -> Document:
    """Build the `user` of a profile."""
    return {
        **{name: getattr(account, name) for name in _NAMES},
        "avatar_thumb": {"url_list": [account.avatar_url] if account.avatar_url else []},
        **{name: getattr(account, name) for name in _COUNTS},
    }


def to_list_document(
    videos: Sequence[Document],
    *,
    next_cursor: Mapping[str, int],
    has_more: bool,
    platform_has_more: bool | None,
    pagination_mode: str,
    history: ListHistory,
) -> Document:
    """Build the `data` of a list; `next_cursor` holds the cursor under the operation's name."""
    return {
        "aweme_list": list(videos),
        **next_cursor,
        "has_more": has_more,
        "platform_has_more": platform_has_more,
        "pagination_mode": pagination_mode,
        "public_first_screen_count": history.first_screen_count,
        "public_observed_union_count": history.union_count,
        "observation_history": {
            "snapshot_count": history.snapshot_count,
            "distinct_snapshot_count": history.distinct_snapshot_count,
            "first_observed_at": to_time(history.first_observed_at),
            "last_observed_at": to_time(history.last_observed_at),
        },
        "coverage_complete": False,
    }


def with_author(video: Video, account: Account) -> Video:
    """Fill in the author of a video from the account's own list, which does not repeat it."""
    if video.author is not None:
        return video
    return replace(video, author=Author(**{name: getattr(account, name) for name in _AUTHOR}))


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
) -> Document:
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
    }
