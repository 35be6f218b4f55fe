"""Compare a chart song with a music id: its chart positions, the videos' likes, the lead.

Joins rows of both sides into mart rows and documents. Not here: the rules for linking
(`song_links.py`) and estimating (`lead.py`), reading (`warehouse`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime

from pipelines.charts.rules.history import song_key
from pipelines.charts.rules.lead import (
    LEAD_METHOD,
    Lead,
    Rise,
    VideoLikes,
    estimate_lead,
    find_entry,
)
from pipelines.charts.rules.song_links import LINK_METHOD, Song, SongMatch
from warehouse.records.charts import ChartSong, PlatformMusic
from warehouse.records.times import END_S
from warehouse.records.values import Document, ReadOnlyDocument

METHOD = f"{LINK_METHOD} {LEAD_METHOD}"

type ObservedRow = ReadOnlyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueRank:
    """The rank of a song in one stored issue."""

    day: date
    volid: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SongPositions:
    """A song with its positions in the stored issues, oldest first; at least one."""

    song: Song
    places: tuple[IssueRank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionSummary:
    """The positions of a song in short."""

    issue_count: int
    best_rank: int
    first_chart_date: date
    last_chart_date: date


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChart:
    """The stored chart: its songs by key and the sorted days of its issues."""

    songs: Mapping[str, SongPositions]
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformComparison:
    """A song compared with videos of the platform: entry, rise, lead and observation times."""

    entry_after: date | None
    rise: Rise
    lead: Lead
    first_observed_at: datetime | None
    last_observed_at: datetime | None


def to_chart(rows: Iterable[ObservedRow], *, days: Iterable[date] = ()) -> StoredChart:
    """Build the chart from rows of positions, oldest first.

    Each row has `day, volid, rank, title, artist, song_hash`; a song keeps its latest title and
    artist. `days` adds issues that `rows` do not cover.
    """
    places: dict[str, dict[date, IssueRank]] = defaultdict(dict)
    latest: dict[str, ObservedRow] = {}
    all_days = set(days)
    for row in rows:
        all_days.add(row["day"])
        names = {name: row[name] for name in ("rank", "title", "artist", "song_hash")}
        key = song_key(ChartSong(**names))
        latest[key] = row
        # An issue may list a song twice: its best rank counts.
        place = places[key].get(row["day"])
        if place is None or row["rank"] < place.rank:
            places[key][row["day"]] = IssueRank(
                day=row["day"], volid=row["volid"], rank=row["rank"]
            )
    songs = {
        key: SongPositions(
            song=Song(song_key=key, title=row["title"], artist=row["artist"]),
            places=tuple(places[key][day] for day in sorted(places[key])),
        )
        for key, row in latest.items()
    }
    return StoredChart(songs=songs, days=tuple(sorted(all_days)))


def to_video_likes(rows: Iterable[ObservedRow]) -> list[VideoLikes]:
    """Build the likes of each video from rows of observations, oldest first.

    A video listed under two music ids is counted once.
    """
    likes: dict[str, dict[datetime, int]] = defaultdict(dict)
    published: dict[str, int | None] = {}
    for row in rows:
        published[row["aweme_id"]] = row["create_time"]
        likes[row["aweme_id"]][row["observed_at"]] = row["digg_count"]
    return [
        VideoLikes(
            # Seconds that no calendar has are as good as no publication time.
            published_at=None
            if create_time is None or create_time >= END_S
            else datetime.fromtimestamp(create_time, UTC),
            observations=tuple(sorted(likes[aweme_id].items())),
        )
        for aweme_id, create_time in published.items()
    ]


def compare_with_platform(
    positions: SongPositions, days: Sequence[date], videos: Sequence[VideoLikes]
) -> PlatformComparison:
    """Compare a song with the videos that carry it."""
    entry = find_entry([place.day for place in positions.places], days)
    lead, rise = estimate_lead(entry, videos)
    moments = [moment for video in videos for moment, _ in video.observations]
    return PlatformComparison(
        entry_after=entry.after,
        rise=rise,
        lead=lead,
        first_observed_at=min(moments, default=None),
        last_observed_at=max(moments, default=None),
    )


def to_platform_row(
    link: SongMatch,
    positions: SongPositions,
    comparison: PlatformComparison,
    sound: PlatformMusic | None,
) -> Document:
    """Return a row of `marts.chart_platform` without its commit time."""
    is_observed = comparison.first_observed_at is not None
    lead, rise = comparison.lead, comparison.rise
    return {
        **asdict(link),
        "title": positions.song.title,
        "artist": positions.song.artist,
        "music_title": None if sound is None else sound.title,
        "music_author": None if sound is None else sound.author,
        **asdict(summarize_positions(positions)),
        "entry_after_date": comparison.entry_after,
        "work_count": lead.work_count,
        "observation_count": lead.observation_count,
        "observed_day_count": lead.observed_day_count,
        "digg_count": rise.digg_count if is_observed else None,
        "first_observed_at": comparison.first_observed_at,
        "last_observed_at": comparison.last_observed_at,
        "rise_after": rise.after,
        "rise_before": rise.before,
        "lead_days": lead.days,
        "lead_low_days": lead.low_days,
        "lead_high_days": lead.high_days,
        "direction": lead.direction,
        "lead_reason": lead.reason,
        "method": METHOD,
    }


def summarize_positions(positions: SongPositions) -> PositionSummary:
    """Summarize the positions of a song: issue count, best rank, first and last date."""
    return PositionSummary(
        issue_count=len(positions.places),
        best_rank=min(place.rank for place in positions.places),
        first_chart_date=positions.places[0].day,
        last_chart_date=positions.places[-1].day,
    )
