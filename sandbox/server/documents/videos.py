"""JSON formats of videos, sounds and accounts, one function per form.

What belongs here: which fields a form has and which it withholds or sets to zero. Routes and
envelopes are in `surfaces/`.
"""

import json

from sandbox.server.addresses import SHARE
from sandbox.server.documents.form_sources import (
    DETAIL,
    FILTERED,
    ROUNDED_COUNTS,
    SHARE_PAGE,
    WEB_LISTS,
    form,
)
from sandbox.server.documents.pages import Document
from sandbox.server.documents.songs import track_id_of
from sandbox.server.media_tickets import media_address, silent_address, video_address
from sandbox.server.platform import SandboxPlatform
from sandbox.world.content import texts
from sandbox.world.content.tables import (
    HIDDEN_REASONS,
    LAST_VARIANT,
    SandboxSound,
    SandboxVideo,
)
from sandbox.world.guest_view import hashtag_id, hashtags_in
from sandbox.world.random_streams import share_of
from sandbox.world.world import AccountFacts

_NOTICE = "抱歉，作品不见了"
_DETAIL_MSG = "因作品权限或已被删除，无法观看，去看看其他作品吧"
_NAMED_SHARE = 0.6
"""Share of the user sounds with a song whose titles name it, where titles do."""
_ROUNDED_FROM = 1_000_000
"""Counts from here on are shown rounded."""
_VIDEO_PREFIX = "v0200fg10000"


@form(FILTERED)
def filtered_video(
    aweme_id: str, work: SandboxVideo | None, *, reason: str | None = None
) -> Document:
    """Return an entry of a `filter_list`: a video that is named but not shown.

    Args:
        aweme_id: Its id.
        work: The video; None for an unknown id.
        reason: Why the surface leaves out a video that others show.
    """
    if reason is None:
        reason = "item_non_existent" if work is None else HIDDEN_REASONS[work.state]
    return {
        "aweme_id": aweme_id, "filter_reason": reason, "notice": _NOTICE, "detail_msg": _DETAIL_MSG,
    }  # fmt: skip


def to_video_id(aweme_id: str) -> str:
    """Return the id of a video's media, which is not its public id."""
    return f"{_VIDEO_PREFIX}{int(aweme_id):016x}"


def read_video_id(video_id: str) -> str | None:
    """Return the id of the video whose media has this id."""
    digits = video_id.removeprefix(_VIDEO_PREFIX)
    try:
        return str(int(digits, 16)) if digits != video_id else None
    except ValueError:
        return None


@form(SHARE_PAGE)
def page_video(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video as its share page shows it: no music address, author counts zeroed."""
    author = platform.world.account(work.account)
    sound = platform.world.sounds.row(work.sound)
    return {
        **_core(platform, work, is_page=True),
        "aweme_type": 4,
        "author": _page_author(platform, author),
        "music": {
            "mid": sound.music_id, **_song(platform, sound), "status": 1,
            "cover_hd": None, "cover_large": None, "cover_thumb": None,
        },
        "statistics": {"aweme_id": work.aweme_id, **work.counts, "play_count": 0},
        "cha_list": None, "image_infos": None, "promotions": None, "long_video": None,
        "risk_infos": {"warn": False, "type": 0, "content": ""},
    }  # fmt: skip


@form(DETAIL)
def detail_video(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video as the detail JSON shows it."""
    sound = platform.world.sounds.row(work.sound)
    more = {"play_count": 0, "admire_count": 0, "recommend_count": work.digg_count // 50}
    return {
        **_core(platform, work, is_page=False),
        "aweme_type": 0,
        "media_type": 2 if work.is_photo else 4,
        "author": _detail_author(platform, platform.world.account(work.account)),
        "music": _detail_music(platform, work, sound),
        "statistics": {"aweme_id": work.aweme_id, **work.counts, **more},
        "is_top": int(work.is_pinned),
        "status": {
            "is_delete": False, "private_status": 0, "in_reviewing": False, "part_see": 0,
            "allow_share": True,
        },
        "share_url": platform.addresses.on(
            SHARE, f"/share/video/{work.aweme_id}/?region=CN&mid={sound.music_id}"
        ),
    }  # fmt: skip


@form(WEB_LISTS)
def music_list_video(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video in the list of a music id: trimmed, bookmarks unknown as 0."""
    is_on = platform.switches.is_on
    music_id = str(platform.world.sounds.music_id[work.sound])
    counts: Document = {"aweme_id": work.aweme_id, **work.counts, "collect_count": 0}
    item: Document = {
        "aweme_id": work.aweme_id, "desc": platform.world.caption(work), "author": None,
        "music": {"id_str": music_id, "mid": music_id} if is_on("list_foreign_rows") else {},
        "cha_list": None, "text_extra": None, "video_labels": None, "statistics": counts,
        "video": video_of(platform, work, with_play=is_on("media_other_host")),
        "images": images_of(platform, work), "aweme_type": 4,
    }  # fmt: skip
    if is_on("list_bare"):
        del item["author"], counts["collect_count"]
    return _as_listed(platform, work, item)


def _as_listed(platform: SandboxPlatform, work: SandboxVideo, item: Document) -> Document:
    """Return a row of a list; a photo post may come without its pictures and its length."""
    if not work.is_photo or not platform.switches.is_on("list_photos_without_images"):
        return item
    video = item["video"]
    kept = dict(video) if isinstance(video, dict) else {}
    kept.pop("duration", None)
    return {**item, "images": None, "aweme_type": 2, "video": kept}


@form(WEB_LISTS)
def post_video(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video in the list of its author, mobile form: likes only, no time, no music."""
    return _as_listed(platform, work, {
        "aweme_id": work.aweme_id, "desc": platform.world.caption(work),
        "is_top": int(work.is_pinned),
        "statistics": {"digg_count": work.digg_count},
        "video": {"cover": picture(platform, work.aweme_id)},
        "images": images_of(platform, work),
    })  # fmt: skip


@form(WEB_LISTS)
def music_info(platform: SandboxPlatform, sound: SandboxSound) -> Document:
    """A music id as `music/info` shows it: no address, and its use in `extra` alone."""
    extra: Document = {"is_original_sound": sound.owner >= 0}
    if sound.owner >= 0:
        extra["owner_nickname"] = texts.nickname(platform.world.seed, sound.owner)
        extra["extract_item_id"] = _first_video(platform, sound)
    extra |= song_link(platform, sound)
    cover = picture(platform, sound.music_id)
    followed = {"music_use_count": shown_count(platform.world.use_count(sound))}
    extra["high_level_follow_info"] = json.dumps(followed, ensure_ascii=False)
    return {
        "mid": sound.music_id, **_song(platform, sound),
        **dict.fromkeys(("cover_hd", "cover_large", "cover_thumb"), cover),
        "extra": json.dumps(extra, ensure_ascii=False),
    }  # fmt: skip


@form(ROUNDED_COUNTS)
def shown_count(count: int) -> int | str:
    """A count as the platform shows it: from a million on rounded down, as in "123.4万"."""
    return count if count < _ROUNDED_FROM else f"{count // 1000 / 10:.1f}万"


@form(WEB_LISTS)
def hashtag_info(platform: SandboxPlatform, name: str, *, members: int) -> Document:
    """A hashtag as `challenge/info` shows it: its id is text here."""
    return {
        "cid": str(hashtag_id(name)), "cha_name": name, "desc": "", "type": 1,
        "user_count": members, "view_count": members * 9173, "is_commerce": False,
        "schema": "", "cover_item": picture(platform, f"tag{hashtag_id(name)}"),
    }  # fmt: skip


@form(WEB_LISTS)
def hashtag_list_video(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video in the list of a hashtag: who posted it and what it says, no counts at all."""
    caption = platform.world.caption(work)
    return _as_listed(platform, work, {
        "aweme_id": work.aweme_id, "desc": caption, "aweme_type": 4,
        "author": {"sec_uid": platform.world.sec_uid(work.account)},
        "text_extra": tags_of(caption, as_text=False),
        "video": {"cover": picture(platform, work.aweme_id)},
        "images": images_of(platform, work),
    })  # fmt: skip


@form(WEB_LISTS)
def user_info(platform: SandboxPlatform, account: AccountFacts) -> Document:
    """An account as `user/info` shows it; the sum of likes comes as text."""
    is_on = platform.switches.is_on
    followers = (
        "mplatform_followers_count" if is_on("mplatform_followers_only") else "follower_count"
    )
    return {
        "uid": account.uid, "short_id": account.short_id, "unique_id": account.unique_id,
        **({} if is_on("sec_uid_missing") else {"sec_uid": account.sec_uid}),
        "nickname": account.nickname, "signature": account.signature, **avatars(platform, account),
        followers: account.follower_count, "following_count": account.following_count,
        "aweme_count": int(platform.world.videos_by_account(account.index).size),
        "total_favorited": str(account.total_favorited),
        "favoriting_count": account.favoriting_count,
        "ip_location": f"IP属地：{account.ip_location}",
    }  # fmt: skip


def _core(platform: SandboxPlatform, work: SandboxVideo, *, is_page: bool) -> Document:
    caption = platform.world.caption(work)
    return {
        "aweme_id": work.aweme_id, "desc": caption, "create_time": work.create_time,
        "group_id_str": work.aweme_id,
        "video": video_of(platform, work, with_play=True),
        "text_extra": tags_of(caption, as_text=not is_page),
        "images": images_of(platform, work),
    }  # fmt: skip


def _song(platform: SandboxPlatform, sound: SandboxSound) -> Document:
    world, title = platform.world, platform.world.sound_title(sound)
    if platform.switches.is_on("sound_title_names_song") and names_song(sound):
        artist = texts.artist_name(world.seed, sound.score)
        title += f"（原声中的歌曲：{world.title_of(sound.score)}-{artist}）"
    return {
        "title": title, "author": world.sound_author(sound),
        "duration": round(sound.duration_s), "cover_medium": picture(platform, sound.music_id),
    }  # fmt: skip


def names_song(sound: SandboxSound) -> bool:
    """Return True for a user sound whose title may name the song in it."""
    is_known = share_of(sound.music_id, "named") < _NAMED_SHARE and sound.kind <= LAST_VARIANT
    return sound.owner >= 0 and sound.score >= 0 and is_known


def _detail_music(platform: SandboxPlatform, work: SandboxVideo, sound: SandboxSound) -> Document:
    extra: Document = {"extract_item_id": int(_first_video(platform, sound))}
    extra |= song_link(platform, sound)
    mapped = platform.world.mapped_title(sound)
    if mapped is not None:
        extra["music_display_mapping_title"] = mapped
    owner = platform.world.sec_uid(sound.owner) if sound.owner >= 0 else ""
    return {
        "id": int(sound.music_id), "id_str": sound.music_id, "mid": sound.music_id,
        **_song(platform, sound), "owner_nickname": platform.world.sound_author(sound),
        "sec_uid": owner, "user_count": 0, "is_original_sound": sound.owner >= 0,
        "play_url": _play_url(platform, work, sound), "matched_pgc_sound": None,
        "extra": json.dumps(extra, ensure_ascii=False), "status": 1,
    }  # fmt: skip


def _play_url(platform: SandboxPlatform, work: SandboxVideo, sound: SandboxSound) -> Document:
    """Return the URL of the sound's own file; withheld for every second music id."""
    if work.is_silent or share_of(sound.music_id, "play_url") < 0.5:  # noqa: PLR2004  # every other
        return {"uri": "", "url_list": []}
    return _one_url(media_address(platform, sound, codec="mp3"))


def _one_url(url: str, *, uri: str | None = None) -> Document:
    return {"uri": uri or url, "url_list": [url]}


@form(DETAIL)
def video_of(platform: SandboxPlatform, work: SandboxVideo, *, with_play: bool) -> Document:
    sound = platform.world.sounds.row(work.sound)
    video: Document = {
        "cover": picture(platform, work.aweme_id), "height": 1280, "width": 720,
        "duration": 0 if work.is_photo else round(sound.duration_s * 1000), "bit_rate": None,
    }  # fmt: skip
    if with_play:
        video["play_addr"] = _play_address(platform, work, sound)
    return video


def _play_address(platform: SandboxPlatform, work: SandboxVideo, sound: SandboxSound) -> Document:
    """Return the URL of a video, an MP3 for a photo post, or the silent file."""
    if work.is_silent:
        return _one_url(silent_address(platform))
    if work.is_photo:
        return _one_url(media_address(platform, sound, codec="mp3"))
    name = to_video_id(work.aweme_id)
    is_named = platform.switches.is_on("media_other_host")
    return _one_url(
        video_address(platform, work) if is_named else platform.addresses.play(name), uri=name
    )


@form(DETAIL)
def images_of(platform: SandboxPlatform, work: SandboxVideo) -> list[Document] | None:
    if not work.is_photo:
        return None
    return [
        {
            "uri": f"tos/{work.aweme_id}-{number}", "width": 1080, "height": 1440,
            "url_list": [platform.addresses.image(f"{work.aweme_id}-{number}")],
            "download_url_list": [platform.addresses.image(f"{work.aweme_id}-{number}")],
        }
        for number in range(work.image_count)
    ]  # fmt: skip


@form(DETAIL)
def tags_of(caption: str, *, as_text: bool) -> list[Document]:
    tags: list[Document] = []
    for name in hashtags_in(caption):
        start, number = caption.index(f"#{name}"), hashtag_id(name)
        tags.append({
            "type": 1, "hashtag_name": name, "start": start, "end": start + len(name) + 1,
            "hashtag_id": str(number) if as_text else number,
        })  # fmt: skip
    return tags


def _page_author(platform: SandboxPlatform, account: AccountFacts) -> Document:
    return {
        "nickname": account.nickname, "unique_id": account.unique_id,
        "short_id": account.short_id, "sec_uid": account.sec_uid, "signature": account.signature,
        **avatars(platform, account),
        "aweme_count": int(platform.world.videos_by_account(account.index).size),
        "following_count": 0, "favoriting_count": 0, "mplatform_followers_count": 0,
    }  # fmt: skip


def _detail_author(platform: SandboxPlatform, account: AccountFacts) -> Document:
    return {
        "uid": account.uid, "sec_uid": account.sec_uid, "nickname": account.nickname,
        "unique_id": account.unique_id, "short_id": account.short_id,
        "signature": account.signature, **avatars(platform, account),
        "follower_count": account.follower_count, "total_favorited": account.total_favorited,
        "following_count": 0,
    }  # fmt: skip


@form(DETAIL)
def avatars(platform: SandboxPlatform, account: AccountFacts) -> Document:
    sizes = ("avatar_thumb", "avatar_medium", "avatar_larger")
    return dict.fromkeys(sizes, picture(platform, f"avatar{account.index}"))


@form(DETAIL)
def picture(platform: SandboxPlatform, name: str) -> Document:
    return _one_url(platform.addresses.image(name), uri=f"tos/{name}")


@form(DETAIL)
def song_link(platform: SandboxPlatform, sound: SandboxSound) -> Document:
    """Return where the extra of a music id names its track on the music service."""
    track_id = track_id_of(platform.world, sound)
    if track_id is None or platform.switches.is_on("song_ids_missing"):
        return {}
    return {"diversion_music_detail_preload": {"luna_song_id": track_id}}


def _first_video(platform: SandboxPlatform, sound: SandboxSound) -> str:
    """Return the id of the video that a sound was taken from, or of the first listed one."""
    source = platform.world.source_video(sound.index)
    rows = platform.world.videos_by_sound(sound.index)
    if source is None and rows.size:
        source = int(rows.min())
    return "0" if source is None else str(platform.world.works.aweme_id[source])


def to_shown_count(count: int, *, ten_thousands: str = "w") -> int | str:
    """Return a count as displayed: exact below ten thousand, then rounded."""
    if count < 10_000:  # noqa: PLR2004  # where pages begin to round
        return count
    hundred_millions = 100_000_000
    if count >= hundred_millions:
        return f"{count / hundred_millions:.1f}亿"
    return f"{count / 10_000:.1f}{ten_thousands}"
