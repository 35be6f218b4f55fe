"""Builds records from a sandbox world, as a guest of the platform would get them. Pure.

Lists are trimmed as on the platform (no bookmarks, no music), so that list data never looks
complete here either. There are no pictures: nothing serves them. Videos are found by hashtag and by
search term.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from sandbox.world.content.tables import HIDDEN_REASONS, SandboxSound, SandboxVideo
from sandbox.world.guest_view import hashtag_id, hashtags_in
from sandbox.world.world import SandboxWorld
from warehouse.records.videos import (
    Account,
    Author,
    Hashtag,
    Music,
    SoundAddresses,
    Statistics,
    Track,
    Unavailability,
    Video,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSnapshot:
    """A world at one time. `link_of` builds the link of a video."""

    world: SandboxWorld
    observed_at: datetime
    link_of: Callable[[str], str]


def to_track(view: WorldSnapshot, sound: SandboxSound) -> Track:
    """A music id."""
    music = _music(view.world, sound)
    return Track(
        music_id=sound.music_id,
        surface="music_info",
        observed_at=view.observed_at,
        title=music.title,
        author=music.author,
        owner_nickname=music.author if music.is_original_sound else None,
        duration_s=music.duration_s,
        is_original_sound=music.is_original_sound,
        use_count=view.world.use_count(sound),
        use_count_exact=True,
    )


def to_account(view: WorldSnapshot, index: int) -> Account:
    """An account, by its row."""
    facts = view.world.account(index)
    return Account(
        sec_uid=facts.sec_uid,
        surface="user_info",
        observed_at=view.observed_at,
        uid=facts.uid,
        unique_id=facts.unique_id,
        short_id=facts.short_id,
        nickname=facts.nickname,
        signature=facts.signature,
        follower_count=facts.follower_count,
        follower_count_source="follower_count",
        following_count=facts.following_count,
        aweme_count=int(view.world.videos_by_account(index).size),
        total_favorited=facts.total_favorited,
        favoriting_count=facts.favoriting_count,
        ip_location=facts.ip_location,
    )


def to_detail(view: WorldSnapshot, work: SandboxVideo) -> Video | Unavailability:
    """A video with its four counts, or the reason why guests do not see it."""
    if not work.is_public:
        return to_missing(HIDDEN_REASONS[work.state])
    return replace(
        _video(view, work, surface="video_page"),
        sound=SoundAddresses(
            urls=() if work.is_silent else (f"mock:{work.aweme_id}",),
            is_silent_placeholder=work.is_silent,
        ),
    )


def to_missing(reason: str) -> Unavailability:
    """Return why a video is not shown."""
    return Unavailability(reason="unavailable", filter_reason=reason)


def to_music_item(view: WorldSnapshot, work: SandboxVideo) -> Video:
    """A video in the list of its music id: no bookmarks, author, time, music or hashtags."""
    return replace(_trimmed(_video(view, work, surface="music_list")), is_top=None)


def to_post(view: WorldSnapshot, work: SandboxVideo) -> Video:
    """A video in the list of its author, which names it: of the counts, likes alone."""
    full = _video(view, work, surface="user_posts")
    statistics = Statistics(digg_count=work.digg_count)
    return replace(_trimmed(full), author=full.author, statistics=statistics)


def to_hashtag_item(view: WorldSnapshot, work: SandboxVideo) -> Video:
    """A video in the list of a hashtag: its author and its hashtags, and no counts."""
    full = _video(view, work, surface="hashtag_list")
    trimmed = replace(_trimmed(full), is_top=None, statistics=Statistics())
    return replace(trimmed, author=full.author, hashtags=full.hashtags)


def to_search_item(view: WorldSnapshot, work: SandboxVideo) -> Video:
    """A video among the results of a search: all but its bookmarks."""
    full = _video(view, work, surface="search_stream")
    return replace(full, statistics=replace(full.statistics, collect_count=None))


def _trimmed(video: Video) -> Video:
    return replace(
        video,
        author=None,
        music=None,
        create_time=None,
        hashtags=None,
        statistics=replace(video.statistics, collect_count=None),
    )


def _video(view: WorldSnapshot, work: SandboxVideo, *, surface: str) -> Video:
    world = view.world
    sound = world.sounds.row(work.sound)
    caption = world.caption(work)
    return Video(
        aweme_id=work.aweme_id,
        surface=surface,
        observed_at=view.observed_at,
        desc=caption,
        create_time=work.create_time,
        share_url=view.link_of(work.aweme_id),
        media_type="photo" if work.is_photo else "video",
        is_top=work.is_pinned,
        author=_author(world, work.account),
        music=_music(world, sound),
        duration_ms=None if work.is_photo else round(sound.duration_s * 1000),
        width=720,
        height=1280,
        images_count=work.image_count,
        hashtags=tuple(
            Hashtag(ch_id=str(hashtag_id(name)), name=name)
            for name in dict.fromkeys(hashtags_in(caption))
        ),
        statistics=Statistics(**work.counts),
        local_source="mock",
    )


def _author(world: SandboxWorld, index: int) -> Author:
    facts = world.account(index)
    return Author(
        sec_uid=facts.sec_uid,
        uid=facts.uid,
        unique_id=facts.unique_id,
        nickname=facts.nickname,
    )


def _music(world: SandboxWorld, sound: SandboxSound) -> Music:
    return Music(
        music_id=sound.music_id,
        title=world.sound_title(sound),
        author=world.sound_author(sound),
        duration_s=round(sound.duration_s),
        is_original_sound=sound.owner >= 0,
    )
