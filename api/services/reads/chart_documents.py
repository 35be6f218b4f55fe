"""Builds the answer on the chart history: nodes, their issues, songs."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from api.schemas.chart import ChartHistoryDocument, ChartSnapshot, ChartSongDocument
from pipelines.charts.rules.history import INTERVAL_DAYS, HistoryNode, Span, song_key
from pipelines.documents.videos import to_time
from warehouse.records.charts import SONG_LIMIT, ChartSong
from warehouse.records.errors import SametrackError

NO_ISSUE = "no_issue_within_10_days"
NOT_COLLECTED = "not_collected_yet"
INCOMPLETE = "issue_incomplete"

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
        "requested_end_date": span.asked_end.isoformat(),
        "end_date_cut": span.is_cut,
        "interval_days": INTERVAL_DAYS,
        "limit": SONG_LIMIT,
        "node_count": len(nodes),
        "collected_count": sum(bool(one["songs"]) for one in snapshots),
        "not_collected_count": sum(one["reason"] == NOT_COLLECTED for one in snapshots),
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
