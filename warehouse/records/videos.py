"""Observed records: videos, accounts, tracks and hashtags. Unknown is None, never 0 or a guess.

Every record has its time (`observed_at`, UTC) and the `surface` it was read from. Ids are text.
Media URLs expire within hours, so they are only in `SoundAddresses` and never stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from warehouse.records import times

MediaType = Literal["video", "photo"]
FollowerCountSource = Literal["follower_count", "mplatform_followers_count"]
"""The platform's own field, or its sum over sister platforms, which is all that guests may get."""

LocalSource = Literal["file", "mock"]
UNTRIMMED_SOURCES: frozenset[LocalSource] = frozenset({"file"})
"""Sources whose lists show the whole record of each video."""
StatisticsSource = Literal["public_video_detail_page", "list", "search", "app", "file", "mock"]

SEARCH_SURFACES = frozenset({"search_stream", "search_single", "search_page"})
LIST_SURFACES = SEARCH_SURFACES | {
    "music_list", "trends_list", "music_page", "music_app", "hashtag_list", "hashtag_page",
    "user_posts", "user_page",
}  # fmt: skip
"""Surfaces that show videos in lists.

Their items are trimmed, differently from day to day, so their counts never replace those of the
detail page.
"""

PHOTO_REASON = "images_"
"""How a `filter_reason` begins if a surface shows no photo posts, such as `images_base`."""

APP_SURFACES = frozenset({"music_app", "app_work"})
"""Screens of the official app on a device of the operator's."""


HOT_SCORE_WEIGHTS: Mapping[str, int] = {
    "digg_count": 1,
    "comment_count": 4,
    "collect_count": 3,
    "share_count": 8,
}
"""The four engagement counts of a video, and how much each weighs in the hot score.

SQL has the score as the macro `hot_score` of the four columns (`warehouse/models`).
"""
HOT_SCORE_FORMULA = "likes + 4 comments + 3 collects + 8 shares"
COUNTS = tuple(HOT_SCORE_WEIGHTS)


def hot_score(counts: Mapping[str, int | None]) -> int | None:
    """Return the hot score; None if any count is unknown: a partial sum would be a guess."""
    score = 0
    for name, weight in HOT_SCORE_WEIGHTS.items():
        count = counts[name]
        if count is None:
            return None
        score += weight * count
    return score


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The four engagement counts of a video."""

    digg_count: int | None = None
    comment_count: int | None = None
    collect_count: int | None = None
    share_count: int | None = None

    @property
    def known(self) -> bool:
        """True if all four counts were read."""
        return None not in self.counts().values()

    @property
    def hot_score(self) -> int | None:
        """The hot score; None if a count is unknown."""
        return hot_score(self.counts())

    def counts(self) -> dict[str, int | None]:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in COUNTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The author as shown with a video."""

    sec_uid: str
    uid: str | None = None
    unique_id: str | None = None
    nickname: str | None = None
    avatar_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Music:
    """The music as shown with a video.

    `mapped_title` is the named song that the platform links a user sound to, where it does: a hint
    for candidates, never a confirmation; `mapped_artist` its artist, if it is named apart.
    `service_track_id` is its song on the music service. `use_count` is the platform's own count of
    the videos with this music id, never one of ours: `use_count_exact` is False if it was shown
    rounded, to steps of `use_count_step`, which is None if exact or not shown ("100+").
    """

    music_id: str
    title: str | None = None
    author: str | None = None
    duration_s: int | None = None
    is_original_sound: bool | None = None
    mapped_title: str | None = None
    mapped_artist: str | None = None
    service_track_id: str | None = None
    use_count: int | None = None
    use_count_exact: bool | None = None
    use_count_step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashtag:
    """A hashtag of a video."""

    ch_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundAddresses:
    """Where a sound can be downloaded for a few hours.

    `urls` are those of the stream with the sound, best first. `read_from` is the address of the
    page or document that named them, which a request for the sound gives as Referer.
    `is_silent_placeholder` is True for photo posts whose sound is the platform's silent file.
    """

    urls: tuple[str, ...] = ()
    read_from: str | None = None
    is_silent_placeholder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """One observation of one video or photo post.

    `is_exact` is False if a count was shown rounded ("1.2w"); such statistics never count as
    complete. Fields that a trimmed list item does not show are None: `hashtags` is empty only if
    the surface shows that there are none. `local_source` is the provider of a record that does not
    come from the platform.

    `sound` has the addresses of its sound if the video was just read from its own page. It is None
    on rows of lists and on stored records, which name no addresses. `is_silent` is False there.

    `first_observed_at` belongs to records that the store returns: it is when the video was first
    observed. It is None on a record that was just read, because the store was not asked; a stored
    video always has one.
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
    hashtags: tuple[Hashtag, ...] | None = None
    statistics: Statistics = field(default_factory=Statistics)
    is_exact: bool = True
    local_source: LocalSource | None = None
    sound: SoundAddresses | None = None
    first_observed_at: datetime | None = None

    @property
    def is_silent(self) -> bool:
        """True if its page names the platform's silent file as its sound."""
        return self.sound is not None and self.sound.is_silent_placeholder

    @property
    def statistics_complete(self) -> bool:
        """True if all four counts were read exactly and where none is trimmed.

        That is the video's own page, and a file, whose lists show all that the file states.
        """
        is_whole = self.surface not in LIST_SURFACES or self.local_source in UNTRIMMED_SOURCES
        return is_whole and self.is_exact and self.statistics.known

    @property
    def statistics_source(self) -> StatisticsSource | None:
        """Where its counts come from; None if no count is known."""
        if all(getattr(self.statistics, name) is None for name in COUNTS):
            return None
        if self.local_source is not None:
            return self.local_source
        if self.surface in APP_SURFACES:
            return "app"
        if self.surface in SEARCH_SURFACES:
            return "search"
        return "list" if self.surface in LIST_SURFACES else "public_video_detail_page"

    @property
    def birth(self) -> times.Birth | None:
        """When it was published as stated, else when its id was made."""
        return times.find_birth(
            self.aweme_id, stated=self.create_time, observed_at=self.observed_at
        )

    @property
    def music_birth(self) -> times.Birth | None:
        """When its music id was made."""
        if self.music is None:
            return None
        return times.find_birth(self.music.music_id, stated=None, observed_at=self.observed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailability:
    """Why the platform does not show a video that it names: deleted, private, under review."""

    reason: str
    filter_reason: str | None = None
    notice: str | None = None
    detail_msg: str | None = None

    @property
    def is_final(self) -> bool:
        """False if another surface may show it: this one leaves out photo posts, and says so."""
        return not (self.filter_reason or "").startswith(PHOTO_REASON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One observation of one music id.

    `mapped_title`, `mapped_artist` and the usage count are as in `Music`.
    """

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
    mapped_title: str | None = None
    mapped_artist: str | None = None
    service_track_id: str | None = None
    use_count: int | None = None
    use_count_exact: bool | None = None
    use_count_step: int | None = None

    @property
    def birth(self) -> times.Birth | None:
        """When its music id was made."""
        return times.find_birth(self.music_id, stated=None, observed_at=self.observed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One observation of one account. `follower_count_source` is the field that held the number."""

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
    follower_count_source: FollowerCountSource | None = None
    following_count: int | None = None
    aweme_count: int | None = None
    total_favorited: int | None = None
    favoriting_count: int | None = None
    ip_location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoPage:
    """One page of a list surface, in display order. `has_more` is None if the page does not say.

    `foreign` are its rows that state another account, hashtag or music id than the list's.
    """

    videos: tuple[Video, ...]
    cursor: int | None
    has_more: bool | None
    foreign: tuple[Video, ...] = ()

    @property
    def is_substituted(self) -> bool:
        """True if more than half of its rows are of another entity."""
        return len(self.foreign) > len(self.videos)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSong:
    """A song as the platform's music service shows it to guests.

    `duration_s` is the length of the song, `preview_s` that of the audio behind `audio_url`, which
    is shorter for a paid song. `audio_url` expires and is never stored. `read_from` is the address
    of the page that named it.
    """

    track_id: str
    surface: str
    observed_at: datetime
    title: str
    artist: str | None = None
    artist_id: str | None = None
    cover_url: str | None = None
    duration_s: float | None = None
    preview_s: float | None = None
    lyrics: tuple[str, ...] = ()
    audio_url: str | None = None
    read_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSong:
    """A song as a list of the music service names it."""

    track_id: str
    title: str | None = None
    artist: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSongList:
    """The songs of a playlist, an album or an artist of the music service, in order.

    `stated_count` is the number of songs that the page claims; it may show fewer.
    """

    list_id: str
    title: str | None
    songs: tuple[ListedSong, ...]
    stated_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HashtagInfo:
    """One observation of one hashtag. `Hashtag` is the mention of one on a video."""

    ch_id: str
    surface: str
    observed_at: datetime
    name: str | None = None
    user_count: int | None = None
    view_count: int | None = None
    is_exact: bool = True


def is_of_other_music(video: Video, music_id: str) -> bool:
    """Return True if a video states another music id; one that states none is not foreign."""
    return video.music is not None and video.music.music_id != music_id


def is_of_other_account(video: Video, sec_uid: str) -> bool:
    """Return True if a video states another author; one that states none is not foreign."""
    return video.author is not None and video.author.sec_uid != sec_uid


def is_of_other_hashtag(video: Video, ch_id: str) -> bool:
    """Return True if a video states hashtags without this one.

    Lists trim their rows, so a row without any hashtag states none and is not foreign.
    """
    stated = video.hashtags or ()
    return bool(stated) and all(hashtag.ch_id != ch_id for hashtag in stated)


def own_sound_origin(video: Video) -> times.SoundOrigin | None:
    """Return the video itself if its sound was born with it, else None."""
    music = video.music
    if music is None or music.is_original_sound is False:
        return None
    return _find_origin(music.music_id, (video,), observed_at=video.observed_at)


def track_origin(track: Track, videos: Iterable[Video]) -> times.SoundOrigin | None:
    """Return the video that the sound of a track was born with, among those under its music id.

    The platform's own statement stands. Without one, it is the video whose publication, or whose
    id if it was scheduled, lies within the window of the sound's birth; of several, the nearest.
    """
    if track.is_original_sound is False:
        return None
    return _find_origin(
        track.music_id,
        [video for video in videos if video.music and video.music.music_id == track.music_id],
        observed_at=track.observed_at,
        stated_aweme_id=track.source_aweme_id,
    )


def _find_origin(
    music_id: str,
    videos: Iterable[Video],
    *,
    observed_at: datetime,
    stated_aweme_id: str | None = None,
) -> times.SoundOrigin | None:
    born = times.id_time(music_id, observed_at=observed_at)
    born_s = 0 if born is None else int(born.timestamp())
    offsets: dict[str, int] = {}  # by video, seconds to the birth of the sound, within the window
    for video in () if born is None else videos:
        # A scheduled video is published long after its sound was made; its id was made with it.
        made_at = times.id_time(video.aweme_id, observed_at=observed_at)
        moments = (video.create_time, None if made_at is None else int(made_at.timestamp()))
        for moment in moments:
            offset = None if moment is None else born_s - moment
            if offset is not None and times.EARLIEST_BIRTH_S <= offset <= times.LATEST_BIRTH_S:
                offsets.setdefault(video.aweme_id, offset)
    if stated_aweme_id is not None:
        return times.SoundOrigin(stated_aweme_id, "stated", offsets.get(stated_aweme_id))
    if not offsets:
        return None
    nearest = min(offsets, key=lambda aweme_id: (abs(offsets[aweme_id]), aweme_id))
    return times.SoundOrigin(nearest, "id", offsets[nearest])
