"""Parser of one video. The same object appears on pages, in details and in lists.

On a detail surface a 0 is a real 0 and the essential fields are required. A list item is trimmed:
its zeros mean unknown, and what it does not show stays None.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import orjson

from pipelines.platform.parsers.fields import JsonNode, addresses, first_address, read_count
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.videos import (
    Author,
    Hashtag,
    MediaType,
    Music,
    Statistics,
    UnavailableVideo,
    Video,
    VideoDetail,
)

_SILENT_FILE = "images_no_sound_volume_audio_file"
_HASHTAG = 1  # other types of text_extra are mentions
_COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
_CLOCK_SKEW_S = 86_400  # clocks may differ by hours; milliseconds lie thousands of years ahead
_PHOTO_TYPES = frozenset({2, 68, 150})  # `aweme_type` of photo posts, in lists and in details
_VIDEO_TYPES = frozenset({0, 4})
_SONG_ID = re.compile(r"[1-9][0-9]{4,29}", re.ASCII)
_MATCHED_SONGS = ("matched_pgc_sound", "matched_song")
_MAX_TITLE_CHARS = 1_000  # a longer text is no title, and the search is quadratic in its length
_BRACKETED_SONG = re.compile(r"(?P<title>.+)（(?P<artist>[^（）]+)）", re.DOTALL)
_NAMED_SONG = re.compile(r"[（(]原声中的歌曲\s*[：:](?P<song>.+)[)）]\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseContext:
    """Context of a payload: surface, time, and `link_of`, which builds a video's public link.

    `address` is where the payload was read; None for one that was not read just now.
    """

    surface: str
    observed_at: datetime
    link_of: Callable[[str], str]
    address: str | None = None


def parse_detail(item: JsonNode, seen: ParseContext) -> VideoDetail | UnavailableVideo:
    """Parse a video of a detail surface.

    Raises:
        StructureChangedError: An essential field is missing or has an unknown type.
    """
    aweme_id = item.must_id("aweme_id")
    status = item.node("status")
    if status is not None and status.flag("is_delete"):
        return UnavailableVideo(
            aweme_id=aweme_id, reason="unavailable", filter_reason="status_deleted"
        )
    for key in ("statistics", "author", "music"):
        if not item.has(key):
            raise item.missing(key)
    statistics, is_exact = _statistics(item.must_node("statistics"), are_zeros_real=True)
    if _create_time(item, seen.observed_at) is None:
        raise item.missing("create_time")
    author = _author(item.must_node("author"))
    if author is None:
        raise item.must_node("author").missing("sec_uid")
    return VideoDetail(
        video=_video(item, seen, author, statistics, is_exact),
        play_urls=_play_urls(item),
        read_from=seen.address,
        is_silent_placeholder=_is_silent(item),
    )


def parse_list_item(item: JsonNode, seen: ParseContext) -> Video:
    """Parse a trimmed video of a list surface."""
    item.must_id("aweme_id")
    author = item.node("author")
    statistics, is_exact = Statistics(), True
    if (shown := item.node("statistics")) is not None:
        statistics, is_exact = _statistics(shown, are_zeros_real=False)
    return _video(item, seen, None if author is None else _author(author), statistics, is_exact)


def parse_unavailable(item: JsonNode, *, aweme_id: str) -> UnavailableVideo:
    """Parse an entry of a filter list, or the `filter_detail` of a detail body."""
    return UnavailableVideo(
        aweme_id=aweme_id,
        reason="unavailable",
        filter_reason=read_filter_reason(item),
        notice=item.name("notice"),
        detail_msg=item.name("detail_msg"),
    )


def read_filter_reason(entry: JsonNode) -> str | None:
    """Return the platform's word for why a video is not shown; a number is kept as text."""
    for key in ("filter_reason", "reason"):
        value = entry.values.get(key)
        is_number = type(value) is int and value != 0
        if word := str(value) if is_number else entry.name(key) if value != 0 else None:
            return word
    return None


def refuse_region(node: JsonNode) -> None:
    """Raise if the platform marks the data as served in another region.

    Raises:
        RegionBlockedError: It does.
    """
    if node.flag("is_oversea"):
        raise refusal_error(
            "is_oversea", "the platform serves this region elsewhere", surface=node.surface
        )


def _video(
    item: JsonNode,
    seen: ParseContext,
    author: Author | None,
    statistics: Statistics,
    is_exact: bool,
) -> Video:
    aweme_id = item.must_id("aweme_id")
    video = item.node("video") or JsonNode({}, item.surface, f"{item.path}.video")
    images = item.items("images")
    media_type = _media_type(item, video)
    return Video(
        aweme_id=aweme_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        desc=item.text("desc"),
        create_time=_create_time(item, seen.observed_at),
        share_url=seen.link_of(aweme_id),
        media_type=media_type,
        is_top=item.flag("is_top"),
        author=author,
        music=_music(item.node("music")),
        duration_ms=video.whole("duration") or None,
        width=video.whole("width") or None,
        height=video.whole("height") or None,
        cover_url=first_address(video.node("cover")),
        images_count=len(images) or (0 if media_type == "video" and item.has("images") else None),
        hashtags=_hashtags(item),
        statistics=statistics,
        is_exact=is_exact,
    )


def _create_time(item: JsonNode, observed_at: datetime) -> int | None:
    """Return the stated second of publication; 0 is unknown.

    Raises:
        StructureChangedError: It lies after the observation, so it is no time in seconds.
    """
    stated = item.whole("create_time") or None
    if stated is not None and stated > observed_at.timestamp() + _CLOCK_SKEW_S:
        raise item.changed("create_time", stated)
    return stated


def _media_type(item: JsonNode, video: JsonNode) -> MediaType | None:
    """Return what kind of post it is, or None if the item does not show it.

    A photo post has pictures and no length. A trimmed item may show neither; then its type number
    decides. The number alone is never trusted: the same video has different ones on two surfaces.
    Pictures that are null alone prove nothing: lists leave them out of photo posts, too.
    """
    kind, images = item.whole("aweme_type"), item.values.get("images")
    if images:
        return "photo"
    if video.whole("duration"):
        return "video"
    if kind in _PHOTO_TYPES:
        return "photo"
    if kind in _VIDEO_TYPES and item.has("images"):
        return "video"
    return "video" if images == [] and kind is None else None


def _statistics(node: JsonNode, *, are_zeros_real: bool) -> tuple[Statistics, bool]:
    counts = {name: read_count(node, name) for name in _COUNTS}
    known = {
        name: count
        for name, count in counts.items()
        if count is not None and (count.value or are_zeros_real)
    }
    values = {name: count.value for name, count in known.items()}
    return Statistics(**values), all(count.is_exact for count in known.values())


def _author(node: JsonNode) -> Author | None:
    sec_uid = node.name("sec_uid")
    if sec_uid is None:
        return None
    return Author(
        sec_uid=sec_uid,
        uid=node.id("uid"),
        unique_id=node.name("unique_id"),
        nickname=node.name("nickname"),
        avatar_url=first_address(node.node("avatar_thumb")),
    )


def _music(node: JsonNode | None) -> Music | None:
    """Parse the music; without an id (`music: {}` of a trimmed item) it is unknown."""
    if node is None:
        return None
    music_id = node.id("mid") or node.id("id_str") or node.id("id")
    if music_id is None:
        return None
    mapped_title, mapped_artist = read_mapped_song(node)
    return Music(
        music_id=music_id,
        title=node.name("title"),
        author=node.name("author") or node.name("owner_nickname"),
        duration_s=node.whole("duration") or None,
        is_original_sound=node.flag("is_original_sound"),
        mapped_title=mapped_title,
        mapped_artist=mapped_artist,
        service_track_id=read_service_track_id(node),
    )


def read_mapped_song(node: JsonNode) -> tuple[str | None, str | None]:
    """Return title and artist of the song that the platform names inside a user sound.

    Either is None if it is not named. Fields that name both apart come before a text with both.
    """
    glued = read_extra(node).get("music_display_mapping_title")
    mapped = _split_song(glued) if isinstance(glued, str) else (None, None)
    for key in _MATCHED_SONGS:
        matched = node.node(key)
        title = None if matched is None else _stripped(matched, "title")
        if matched is not None and title is not None:
            artist = _stripped(matched, "author")
            return title, mapped[1] if artist is None and mapped[0] == title else artist
    return mapped if mapped[0] else _named_song(node.text("title") or "")


def _stripped(node: JsonNode, key: str) -> str | None:
    """Return a text without blanks around it; None if nothing else is in it."""
    return (node.text(key) or "").strip() or None


def _split_song(glued: str) -> tuple[str | None, str | None]:
    """Return title and artist of a text such as "Title - Artist" or "Title（Artist）".

    The artist is what follows the last " - ", or what stands in a full-width bracket at the end:
    titles contain both, too.
    """
    text = glued.strip()
    if len(text) > _MAX_TITLE_CHARS:
        return text, None
    if bracketed := _BRACKETED_SONG.fullmatch(text):
        title, artist = bracketed["title"], bracketed["artist"]
    else:  # with a blank at both ends, so that an artist or a title may be missing
        title, separator, artist = f" {text} ".rpartition(" - ")
        if not separator:
            title, artist = text, ""
    return title.strip() or None, artist.strip() or None


def read_service_track_id(node: JsonNode) -> str | None:
    """Return the id of the song on the music service, which `extra` names; None without one."""
    named = read_extra(node).get("diversion_music_detail_preload")
    fields = named if isinstance(named, dict) else {}
    for key, value in fields.items():
        text = str(value) if type(value) is int else value
        if key.endswith("_song_id") and isinstance(text, str) and _SONG_ID.fullmatch(text):
            return text
    return None


def _named_song(title: str) -> tuple[str | None, str | None]:
    """Return song and artist of a title such as "…创作的原声（原声中的歌曲：Song-Artist）".

    The first hyphen ends the song: artists' names contain hyphens more often than titles do. If
    hyphens between blanks are there, they are the separator. The artist is known only if there is
    one separator: of two, either may be part of a name.
    """
    found = _NAMED_SONG.search(title) if len(title) <= _MAX_TITLE_CHARS else None
    if found is None:
        return None, None
    named = found["song"].strip()
    separator = " - " if " - " in named else "-"
    song, _, artist = (part.strip() for part in named.partition(separator))
    if not song:
        return named, None
    return song, artist if artist and separator not in artist else None


def read_extra(node: JsonNode) -> dict[str, object]:
    """Decode the JSON text under `extra`; empty if it is no object."""
    text = node.text("extra")
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _hashtags(item: JsonNode) -> tuple[Hashtag, ...] | None:
    """Return the hashtags, or None if the item does not show which it has.

    Without `text_extra` they are unknown, and if no hashtag in it has both an id and a name.
    """
    if item.values.get("text_extra") is None:
        return None
    entries = [entry for entry in item.nodes("text_extra") if _is_hashtag(entry)]
    hashtags: dict[str, Hashtag] = {}
    for entry in entries:
        ch_id, name = entry.id("hashtag_id"), entry.name("hashtag_name")
        if ch_id and name:
            hashtags.setdefault(ch_id, Hashtag(ch_id=ch_id, name=name))
    return tuple(hashtags.values()) if hashtags or not entries else None


def _is_hashtag(entry: JsonNode) -> bool:
    """Return True for a hashtag by its type, or by its name if it has no type."""
    kind = entry.whole("type")
    return bool(entry.name("hashtag_name")) if kind is None else kind == _HASHTAG


def _play_urls(item: JsonNode) -> tuple[str, ...]:
    """Return the URLs of the video's own sound.

    A photo post plays an audio file, and the music's own file is the same sound. A video may play
    another sound than its music id names, so the music's file is not used for it.
    """
    video = item.node("video")
    found = addresses(video.node("play_addr")) if video is not None else ()
    music = item.node("music")
    if item.items("images") and music is not None:
        found += addresses(music.node("play_url"))
    return tuple(dict.fromkeys(found))


def _is_silent(item: JsonNode) -> bool:
    video = item.node("video")
    play = video.node("play_addr") if video is not None else None
    if play is None:
        return False
    texts = (play.text("uri") or "", *addresses(play))
    return any(_SILENT_FILE in text for text in texts)
