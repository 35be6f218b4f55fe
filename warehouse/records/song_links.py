"""Links between chart songs and music ids: platform music, audio matches, decisions of users."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

SongLinkChoice = Literal["same", "different", "withdrawn"]
SONG_LINK_CHOICES: tuple[SongLinkChoice, ...] = get_args(SongLinkChoice)


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

    `is_variant`: matched at another speed or pitch.
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
