"""Results of synchronous reads, and the answers on accounts, lists, metrics and the chart.

Names are the platform's own; unknown is null, never 0. Not here: videos
(`pipelines.documents.videos`).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from api.schemas import lists
from api.schemas.chart import ChartHistoryDocument, ChartSnapshot, ChartSongDocument
from pipelines.charts.rules.history import INTERVAL_DAYS, HistoryNode, Span, song_key
from pipelines.documents.result_types import ImageUrls, VideoDocument
from pipelines.documents.videos import to_document, to_time, to_video_document
from pipelines.platform.providers import PROVIDERS
from warehouse.queries.lists import ListHistory
from warehouse.records.charts import SONG_LIMIT, ChartSong
from warehouse.records.errors import SametrackError
from warehouse.records.videos import Account, Video

LOCAL_CURSOR: lists.PaginationMode = "public_first_screen_local_cursor"
PLATFORM_CURSOR: lists.PaginationMode = "platform_cursor"
NO_ISSUE = "no_issue_within_10_days"
NOT_COLLECTED = "not_collected_yet"
INCOMPLETE = "issue_incomplete"


@dataclass(frozen=True, slots=True)
class ReadResult[Answer]:
    """`data` with the captures (surface, entity id) that it depends on.

    `until` is the expiry time. `is_cacheable` False: the result must not be cached.
    """

    document: Answer
    entities: tuple[tuple[str, str], ...] = ()
    until: datetime | None = None
    is_cacheable: bool = True


def provenance(data_provider: str, *, is_demo: bool) -> lists.Provenance:
    """Return the data source with its experimental mark and its demo mark."""
    return {
        "data_provider": data_provider,
        "is_experimental": data_provider in PROVIDERS and PROVIDERS[data_provider].is_experimental,
        "is_demo_data": is_demo,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A page to return: its videos, the cursor of the next page, and what is known of the list."""

    videos: list[VideoDocument]
    next_cursor: int
    has_more: bool
    platform_has_more: bool | None
    pagination_mode: lists.PaginationMode
    history: ListHistory
    data_provider: str
    is_demo: bool


def to_user_document(account: Account) -> lists.User:
    """Build the `user` of a profile: what was observed, by the names of the schema."""
    avatar: ImageUrls = {"url_list": [account.avatar_url] if account.avatar_url else []}
    return to_document(lists.User, account, avatar_thumb=avatar)


def to_cursor_list(page: ListPage) -> lists.CursorList:
    """Build the `data` of a music or hashtag list."""
    return {
        "aweme_list": page.videos,
        "cursor": page.next_cursor,
        **_list_facts(page),
        **provenance(page.data_provider, is_demo=page.is_demo),
    }


def to_post_list(page: ListPage, *, local_cursor_mode: bool) -> lists.PostList:
    """Build the `data` of a page of posts."""
    return {
        "aweme_list": page.videos,
        "max_cursor": page.next_cursor,
        **_list_facts(page),
        "local_cursor_mode": local_cursor_mode,
        **provenance(page.data_provider, is_demo=page.is_demo),
    }


def _list_facts(page: ListPage) -> lists.ListFacts:
    history = page.history
    return {
        "has_more": page.has_more,
        "platform_has_more": page.platform_has_more,
        "pagination_mode": page.pagination_mode,
        "public_first_screen_count": history.first_screen_count,
        "public_observed_union_count": history.union_count,
        "observation_history": to_document(lists.ObservationHistory, history),
        "coverage_complete": False,
    }


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
) -> lists.CreatorMetrics:
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


type Songs = tuple[ChartSong, ...]


def to_history_document(
    span: Span,
    nodes: Sequence[HistoryNode],
    songs: Mapping[str, Songs],
    errors: Mapping[str, SametrackError],
    *,
    latest: date,
    next_issue_by: datetime | None,
    is_refreshed: bool,
    data_provider: str,
    is_demo: bool,
) -> ChartHistoryDocument:
    """Build the `data` of the chart history; `errors` are those of issues that were not read."""
    snapshots = [_snapshot(node, songs, errors) for node in nodes]
    return {
        "snapshots": snapshots,
        "start_date": span.start.isoformat(),
        "end_date": span.end.isoformat(),
        "requested_end_date": span.requested_end.isoformat(),
        "end_date_cut": span.is_cut,
        "interval_days": INTERVAL_DAYS,
        "limit": SONG_LIMIT,
        "node_count": len(nodes),
        "collected_count": sum(bool(snapshot["songs"]) for snapshot in snapshots),
        "not_collected_count": sum(snapshot["reason"] == NOT_COLLECTED for snapshot in snapshots),
        "latest_chart_date": latest.isoformat(),
        "next_issue_by": to_time(next_issue_by),
        "issues_refreshed": is_refreshed,
        "data_provider": data_provider,
        "is_demo_data": is_demo,
    }


def _snapshot(
    node: HistoryNode, songs: Mapping[str, Songs], errors: Mapping[str, SametrackError]
) -> ChartSnapshot:
    volid = "" if node.issue is None else node.issue.volid
    if volid in songs:
        return to_snapshot_document(node, songs[volid])
    reason = errors[volid].type if volid in errors else NOT_COLLECTED
    return to_snapshot_document(node, (), reason=reason)


def to_snapshot_document(
    node: HistoryNode, songs: Sequence[ChartSong], *, reason: str | None = None
) -> ChartSnapshot:
    """Build one entry of `snapshots`. `reason` states why songs are missing, null if none are."""
    issue = node.issue
    if issue is None:
        reason = NO_ISSUE
    elif reason is None and len(songs) < SONG_LIMIT:
        reason = INCOMPLETE
    day = None if issue is None else issue.chart_date
    return {
        "target_date": node.target.isoformat(),
        "chart_date": None if day is None else day.isoformat(),
        "volid": None if issue is None else issue.volid,
        "issue_name": None if issue is None else issue.name,
        "day_offset": None if day is None else (node.target - day).days,
        "reason": reason,
        "songs": [to_song_document(song) for song in songs],
    }


def to_song_document(song: ChartSong) -> ChartSongDocument:
    """Build the document of one song. `rank_change` is positive if it has climbed."""
    before = song.previous_rank
    return {
        "rank": song.rank,
        "title": song.title,
        "artist": song.artist,
        "duration": song.duration_s,
        "cover": song.cover_url,
        "previous_rank": before,
        "rank_change": None if before is None else before - song.rank,
        "is_new": _is_new(song),
        "song_key": song_key(song),
    }


def _is_new(song: ChartSong) -> bool | None:
    """Return whether the song is on the chart for the first time; None if unknown.

    A missing previous rank alone is no proof: the song may have re-entered.
    """
    if song.is_first is not None:
        return song.is_first
    if song.rank_count is not None:
        return song.rank_count == 1
    return None if song.previous_rank is None else False
