"""What was observed, as frozen records. Unknown is None, never 0 and never a guess.

Every observed record says when (`observed_at`, UTC) and on which `surface` it was seen. Ids are
text. Addresses of media expire within hours, so they travel in `VideoDetail` and are never stored.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

MediaType = Literal["video", "photo"]

LIST_SURFACES = frozenset({
    "music_list", "music_page", "music_app", "hashtag_list", "hashtag_page", "user_posts",
    "user_page", "search_stream", "search_single", "search_page",
})  # fmt: skip
"""Where works are shown in lists. Items are trimmed, differently from day to day, so their counts
never stand for all that the detail would show.
"""

APP_SURFACES = frozenset({"music_app", "app_work"})
"""Screens of the official app on a device of the operator's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The four engagement counts of a work."""

    digg_count: int | None = None
    comment_count: int | None = None
    collect_count: int | None = None
    share_count: int | None = None

    @property
    def known(self) -> bool:
        """True when all four counts were read."""
        return None not in self.counts()

    def counts(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Likes, comments, bookmarks, shares."""
        return (self.digg_count, self.comment_count, self.collect_count, self.share_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The author as a work shows it."""

    sec_uid: str
    uid: str | None = None
    unique_id: str | None = None
    nickname: str | None = None
    avatar_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Music:
    """The sound as a work shows it. `mapped_title` is the named song that the platform links a
    user sound to, where it does: a hint for candidates, never a confirmation.
    """

    music_id: str
    title: str | None = None
    author: str | None = None
    duration_s: int | None = None
    is_original_sound: bool | None = None
    mapped_title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashtag:
    """A hashtag of a work."""

    ch_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """One observation of one work (a video or a photo post).

    `is_exact` is False when a count was shown rounded ("1.2w"); such statistics never count as
    complete. A trimmed list item leaves everything it did not show as None.
    """

    aweme_id: str
    surface: str
    observed_at: datetime
    desc: str | None = None
    create_time: int | None = None
    share_url: str | None = None
    media_type: MediaType | None = None
    is_top: bool | None = None
    author: Author | None = None
    music: Music | None = None
    duration_ms: int | None = None
    width: int | None = None
    height: int | None = None
    cover_url: str | None = None
    images_count: int | None = None
    hashtags: tuple[Hashtag, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    is_exact: bool = True

    @property
    def statistics_complete(self) -> bool:
        """True when all four counts were read, read exactly, and read from the work itself."""
        is_detail = self.surface not in LIST_SURFACES
        return is_detail and self.is_exact and self.statistics.known


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoDetail:
    """A work read from its detail surface, with what is needed to hear it.

    `play_urls` are addresses of the sound-carrying stream, best first; they expire.
    `is_silent_placeholder` is True for photo posts whose sound is the platform's silent file.
    """

    video: Video
    play_urls: tuple[str, ...] = ()
    is_silent_placeholder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableVideo:
    """A work that the platform names but does not show: deleted, private, under review."""

    aweme_id: str
    reason: str
    filter_reason: str | None = None
    notice: str | None = None
    detail_msg: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One observation of one music id."""

    music_id: str
    surface: str
    observed_at: datetime
    title: str | None = None
    author: str | None = None
    owner_nickname: str | None = None
    duration_s: int | None = None
    is_original_sound: bool | None = None
    cover_url: str | None = None
    source_aweme_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One observation of one account."""

    sec_uid: str
    surface: str
    observed_at: datetime
    uid: str | None = None
    unique_id: str | None = None
    short_id: str | None = None
    nickname: str | None = None
    signature: str | None = None
    avatar_url: str | None = None
    follower_count: int | None = None
    following_count: int | None = None
    aweme_count: int | None = None
    total_favorited: int | None = None
    favoriting_count: int | None = None
    ip_location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoPage:
    """One page of a list surface, in the order shown. `has_more` None: the page did not say."""

    videos: tuple[Video, ...]
    cursor: int | None
    has_more: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HashtagInfo:
    """One observation of one hashtag. `Hashtag` is the mention of one in a work."""

    ch_id: str
    surface: str
    observed_at: datetime
    name: str | None = None
    user_count: int | None = None
    view_count: int | None = None
    is_exact: bool = True
