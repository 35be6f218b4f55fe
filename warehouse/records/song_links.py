"""What links songs of the chart to music ids: sounds, matches by audio, statements of users."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Said = Literal["same", "different", "withdrawn"]
SAYINGS: tuple[Said, ...] = get_args(Said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """A music id of the platform. The author of a user sound is who uploaded it, no artist."""

    music_id: str
    title: str | None = None
    author: str | None = None
    is_original_sound: bool | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """A scan of `track` confirmed works under `music_id` by listening; `is_variant`: at another
    speed or pitch.
    """

    track: str
    music_id: str
    is_variant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a person said of a song and a music id."""

    song_key: str
    music_id: str
    said: Said
    said_at: datetime
    link_id: str = ""
