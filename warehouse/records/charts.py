"""What the music chart shows: issues and their songs. Pure records; dates are those of the issue.

Nodes and gaps of a chart history belong to the queries, fetching and parsing to `upstream`.
"""

from dataclasses import dataclass
from datetime import date, datetime

SONG_LIMIT = 20
"""Songs of an issue that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartIssue:
    """One observation of one issue. An issue without a known date has `chart_date` None."""

    volid: str
    surface: str
    observed_at: datetime
    name: str | None = None
    chart_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartIndex:
    """All issues that the source lists, newest first, and the id of the latest."""

    issues: tuple[ChartIssue, ...]
    latest_volid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSong:
    """One song of an issue. `rank` is its place in the list, from 1; `sort` is the source's own
    number, which can have gaps. `previous_rank` None: new on the chart, or not said.
    """

    rank: int
    title: str
    artist: str | None = None
    duration_s: int | None = None
    cover_url: str | None = None
    previous_rank: int | None = None
    sort: int | None = None
    song_hash: str | None = None
    album_audio_id: str | None = None
    album_id: str | None = None
    rank_count: int | None = None
    is_first: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPage:
    """One page of the songs of an issue; `volid` and `chart_date` as the answer itself says."""

    songs: tuple[ChartSong, ...]
    surface: str
    observed_at: datetime
    page: int
    volid: str | None = None
    chart_date: date | None = None
    total: int | None = None
