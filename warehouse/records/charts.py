"""Records of the music chart: issues, their songs, and what links a song to music ids.

All dates are dates of an issue. Nodes and gaps of a chart history are rules of the charts feature.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

SongLinkChoice = Literal["same", "different", "withdrawn"]
SONG_LIMIT = 20
"""Number of songs kept per issue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartIssue:
    """One observation of one issue. `chart_date` is None when the source does not give a date.

    `scheduled_at` is the time at which the source plans to release it; it may list it before.
    """

    volid: str
    surface: str
    observed_at: datetime
    name: str | None = None
    chart_date: date | None = None
    scheduled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartIndex:
    """All issues the source lists, newest first, and the id of the latest."""

    issues: tuple[ChartIssue, ...]
    latest_volid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSong:
    """One song of an issue.

    `rank` is its position in the list, from 1. `sort` is the source's own number and can have gaps.
    `previous_rank` is None for a new song, or when the source does not give it.
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
    """One page of an issue's songs; `volid` and `chart_date` are taken from the response itself."""

    songs: tuple[ChartSong, ...]
    surface: str
    observed_at: datetime
    page: int
    volid: str | None = None
    chart_date: date | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformMusic:
    """A music id of the platform. For a user sound, `author` is the uploader, not the artist."""

    music_id: str
    title: str | None = None
    author: str | None = None
    is_original_sound: bool | None = None


@dataclass(frozen=True, slots=True)
class AudioMatch:
    """Videos under `music_id` that a scan of `track` matched by audio.

    `is_variant`: matched changed, or in a few seconds only.
    """

    track: str
    music_id: str
    is_variant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SongLinkDecision:
    """A user's decision about a song and a music id."""

    song_key: str
    music_id: str
    said: SongLinkChoice
    said_at: datetime
    link_id: str = ""
