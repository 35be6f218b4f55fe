"""Parser of one video. The same object appears on pages, in details and in lists.

On a detail surface a 0 is a real 0 and the essential fields are required. A list item is trimmed:
its zeros mean unknown, and what it does not show stays None.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from pipelines.platform.parsers import fields
from pipelines.platform.refusal_table import refusal_error
from warehouse.records import videos
from warehouse.records.search import SearchPosition

_SILENT_FILE = "images_no_sound_volume_audio_file"
_HASHTAG = 1  # other types of text_extra are mentions
_CLOCK_SKEW_S = 86_400  # clocks may differ by hours; milliseconds lie thousands of years ahead
_PHOTO_TYPES = frozenset({2, 68, 150})  # `aweme_type` of photo posts, in lists and in details
_VIDEO_TYPES = frozenset({0, 4})
_SONG_ID = re.compile(r"[1-9][0-9]{4,29}", re.ASCII)
_MATCHED_SONGS = ("matched_pgc_sound", "matched_song")
_MAX_TITLE_CHARS = 1_000  # a longer text is no title, and the search is quadratic in its length
_BRACKETED_SONG = re.compile(r"(?P<title>.+)（(?P<artist>[^（）]+)）", re.DOTALL)
_NAMED_SONG = re.compile(r"[（(]原声中的歌曲\s*[：:](?P<song>.+)[)）]\s*$", re.DOTALL)


_FIRST_SCREEN = SearchPosition()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseContext:
    """Context of a payload.

    Attributes:
        surface: The surface that it comes from.
        observed_at: When it was read.
        link_of: Builds the public link of a video from its id.
        address: Where it was read; None for one that was not read just now.
        place: The position in a search that was asked for.
        is_first: The first page of a list was asked for.
        is_gone: The response is the redirect for a deleted video, so there is no payload.
    """

    surface: str
    observed_at: datetime
    link_of: Callable[[str], str]
    address: str | None = None
    place: SearchPosition = _FIRST_SCREEN
    is_first: bool = False
    is_gone: bool = False


def parse_detail(
    item: fields.JsonNode, context: ParseContext
) -> videos.Video | videos.Unavailability:
    """Parse a video of a detail surface.

    Raises:
        StructureChangedError: An essential field is missing or has an unknown type.
    """
    item.must_id("aweme_id")  # essential of a deleted video, too
    status = item.node("status")
    if status is not None and status.flag("is_delete"):
        return videos.Unavailability(reason="unavailable", filter_reason="status_deleted")
    for key in ("statistics", "author", "music"):
        if key not in item.values:
            raise item.missing(key)
    item.must_node("statistics")
    video = parse_video(item, context, are_zeros_real=True)
    if video.create_time is None:
        raise item.missing("create_time")
    if video.author is None:
        raise item.must_node("author").missing("sec_uid")
    stream = item.node("video")
    play = None if stream is None else stream.node("play_addr")
    urls = fields.addresses(play)
    # A photo post plays an audio file, and the music's own file is the same sound. A video may play
    # another sound than its music id names, so the music's file is not used for it.
    music = item.node("music")
    if item.items("images") and music is not None:
        urls += fields.addresses(music.node("play_url"))
    names = () if play is None else (play.text("uri") or "", *fields.addresses(play))
    return replace(
        video,
        sound=videos.SoundAddresses(
            urls=tuple(dict.fromkeys(urls)),
            read_from=context.address,
            # A photo post without a sound names a file of silence, which would match any other.
            is_silent_placeholder=any(_SILENT_FILE in name for name in names),
        ),
    )


def parse_video(
    item: fields.JsonNode, context: ParseContext, *, are_zeros_real: bool = False
) -> videos.Video:
    """Parse a video of a list surface, or with `are_zeros_real` of a detail surface.

    Lists trim their items: they send 0 for counts that they do not show.

    Raises:
        StructureChangedError: The id is missing, or a field has an unknown type.
    """
    aweme_id = item.must_id("aweme_id")
    # Trimmed items may have no `video` at all.
    video = item.node("video") or fields.JsonNode({}, item.surface, f"{item.path}.video")
    images = item.items("images")
    media_type = _media_type(item, video)
    create_time = item.whole("create_time") or None
    # A time after the observation is no time in seconds: milliseconds lie far in the future.
    if create_time is not None and create_time > context.observed_at.timestamp() + _CLOCK_SKEW_S:
        raise item.changed("create_time", create_time)
    statistics = item.node("statistics")
    counts: dict[str, fields.ParsedCount] = {}
    for name in videos.COUNTS:
        count = None if statistics is None else fields.read_count(statistics, name)
        if count is not None and (count.value or are_zeros_real):
            counts[name] = count
    return videos.Video(
        aweme_id=aweme_id,
        surface=context.surface,
        observed_at=context.observed_at,
        desc=item.text("desc"),
        create_time=create_time,
        share_url=context.link_of(aweme_id),
        media_type=media_type,
        is_top=item.flag("is_top"),  # pinned posts stand first, out of the order of dates
        author=_author(item.node("author")),
        music=_music(item.node("music")),
        duration_ms=video.whole("duration") or None,
        width=video.whole("width") or None,
        height=video.whole("height") or None,
        cover_url=fields.first_address(video.node("cover")),
        images_count=len(images)
        or (0 if media_type == "video" and "images" in item.values else None),
        hashtags=_hashtags(item),
        statistics=videos.Statistics(**{name: count.value for name, count in counts.items()}),
        is_exact=all(count.is_exact for count in counts.values()),
    )


def parse_unavailable(item: fields.JsonNode) -> videos.Unavailability:
    """Parse an entry of a filter list, or the `filter_detail` of a detail body."""
    return videos.Unavailability(
        reason="unavailable",
        filter_reason=read_filter_reason(item),
        notice=item.name("notice"),
        detail_msg=item.name("detail_msg"),
    )


def read_filter_reason(entry: fields.JsonNode) -> str | None:
    """Return the platform's word for why a video is not shown; a number is kept as text."""
    # Words such as `status_deleted` on newer surfaces, numbers such as 8 on older ones.
    for key in ("filter_reason", "reason"):
        value = entry.values.get(key)
        if value == 0:  # no reason, also as False
            continue
        if word := str(value) if type(value) is int else entry.name(key):
            return word
    return None


def refuse_region(node: fields.JsonNode) -> None:
    """Raise if the platform marks the data as served in another region.

    Raises:
        RegionBlockedError: `is_oversea` is set.
    """
    if node.flag("is_oversea"):
        raise refusal_error(
            "is_oversea", "the platform serves this region elsewhere", surface=node.surface
        )


def _media_type(item: fields.JsonNode, video: fields.JsonNode) -> videos.MediaType | None:
    """Return what kind of post it is, or None if the item does not show it.

    A photo post has pictures and no length. A trimmed item may show neither; then its type number
    decides. The number alone is never trusted: the same video has different ones on two surfaces.
    Pictures that are null alone prove nothing: lists leave them out of photo posts, too.
    """
    kind, images = item.whole("aweme_type"), item.values.get("images")
    # A live photo has a video of its own, so pictures come before the length.
    if images:
        return "photo"
    if video.whole("duration"):
        return "video"
    if kind in _PHOTO_TYPES:
        return "photo"
    if kind in _VIDEO_TYPES and "images" in item.values:
        return "video"
    return "video" if images == [] and kind is None else None


def _author(node: fields.JsonNode | None) -> videos.Author | None:
    sec_uid = None if node is None else node.name("sec_uid")
    if node is None or sec_uid is None:
        return None
    return videos.Author(
        sec_uid=sec_uid,
        uid=node.id("uid"),
        unique_id=node.name("unique_id"),
        nickname=node.name("nickname"),
        avatar_url=fields.first_address(node.node("avatar_thumb")),
    )


def _music(node: fields.JsonNode | None) -> videos.Music | None:
    """Parse the music; without an id (`music: {}` of a trimmed item) it is unknown."""
    if node is None:
        return None
    # Share pages have `mid` alone, details all three with the same id.
    music_id = node.id("mid") or node.id("id_str") or node.id("id")
    if music_id is None:
        return None
    extra = read_extra(node)
    mapped_title, mapped_artist = read_mapped_song(node, extra)
    uses = read_use_count(node, extra)
    return videos.Music(
        music_id=music_id,
        title=node.name("title"),
        author=node.name("author") or node.name("owner_nickname"),
        duration_s=node.whole("duration") or None,
        is_original_sound=node.flag("is_original_sound"),
        mapped_title=mapped_title,
        mapped_artist=mapped_artist,
        service_track_id=read_service_track_id(extra),
        use_count=uses.value if uses else None,
        use_count_exact=uses.is_exact if uses else None,
        use_count_step=uses.step if uses else None,
    )


def _hashtags(item: fields.JsonNode) -> tuple[videos.Hashtag, ...] | None:
    """Return the hashtags, or None if the item does not show which it has.

    Without `text_extra` they are unknown, and if no hashtag in it has both an id and a name.
    """
    if item.values.get("text_extra") is None:
        return None
    entries = []
    for entry in item.nodes("text_extra"):
        kind = entry.whole("type")
        # Guests get no `cha_list`. Mentions have another type; an entry without one has a name.
        if kind == _HASHTAG or (kind is None and entry.name("hashtag_name")):
            entries.append(entry)
    hashtags: dict[str, videos.Hashtag] = {}
    for entry in entries:
        ch_id, name = entry.id("hashtag_id"), entry.name("hashtag_name")
        if ch_id and name:
            hashtags.setdefault(ch_id, videos.Hashtag(ch_id=ch_id, name=name))
    return tuple(hashtags.values()) if hashtags or not entries else None


def read_mapped_song(
    node: fields.JsonNode, extra: Mapping[str, object]
) -> tuple[str | None, str | None]:
    """Return title and artist of the song that the platform names inside a user sound.

    `extra` is what `read_extra` returns for the music. Either is None if it is not named, as in
    `("海边的风", None)`. Fields that name both apart come before a text with both.
    """
    # "real song（artist）" behind a sound that a user named "@Name创作的原声".
    glued = extra.get("music_display_mapping_title")
    mapped = _split_song(glued) if isinstance(glued, str) else (None, None)
    for key in _MATCHED_SONGS:
        matched = node.node(key)
        title = None if matched is None else (matched.text("title") or "").strip() or None
        if matched is not None and title is not None:
            artist = (matched.text("author") or "").strip() or None
            return title, mapped[1] if artist is None and mapped[0] == title else artist
    if mapped[0]:
        return mapped
    # "…创作的原声（原声中的歌曲：Song-Artist）". The first hyphen ends the song: artists' names
    # contain hyphens more often than titles do. Hyphens between blanks come first as separators.
    full_title = node.text("title") or ""
    match = _NAMED_SONG.search(full_title) if len(full_title) <= _MAX_TITLE_CHARS else None
    if match is None:
        return None, None
    named = match["song"].strip()
    separator = " - " if " - " in named else "-"
    song, _, artist = (part.strip() for part in named.partition(separator))
    if not song:
        return named, None
    # Of two separators, either may be part of a name, so the artist is then unknown.
    return song, artist if artist and separator not in artist else None


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


def read_service_track_id(extra: Mapping[str, object]) -> str | None:
    """Return the id of the song on the music service; None without one.

    `extra` is what `read_extra` returns for the music.
    """
    named = extra.get("diversion_music_detail_preload")
    for key, value in named.items() if isinstance(named, dict) else ():
        text = str(value) if type(value) is int else value
        if key.endswith("_song_id") and isinstance(text, str) and _SONG_ID.fullmatch(text):
            return text
    return None


def read_use_count(node: fields.JsonNode, extra: Mapping[str, object]) -> fields.ParsedCount | None:
    """Return how many videos the platform counts for a music id; None if it does not show it.

    `extra` is what `read_extra` returns for the music. A 0 is unknown, because guests get it for
    sounds in use: a sound that exists has at least the video that it is read from.
    """
    nested = extra.get("high_level_follow_info")
    try:
        followed = orjson.loads(nested) if isinstance(nested, str) else nested
    except orjson.JSONDecodeError:
        followed = None
    for values, key in ((followed, "music_use_count"), (node.values, "user_count")):
        value = values.get(key) if isinstance(values, dict) else None
        text = str(value) if type(value) is int else value
        # Like the rest of `extra`, a count in an unknown form is not shown; the music still is.
        count = fields.parse_count(text) if isinstance(text, str) else None
        if count is not None and count.value:
            return count
    return None


def read_extra(node: fields.JsonNode) -> dict[str, object]:
    """Decode the JSON text under `extra`; empty if it is no object."""
    text = node.text("extra")
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
