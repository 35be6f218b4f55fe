"""Parser of `music_info`: one music id."""

from pipelines.platform.parsers.fields import MAX_ID_LENGTH, JsonNode, first_picture
from pipelines.platform.parsers.refusals import find_description
from pipelines.platform.parsers.videos import (
    ParseContext,
    read_extra,
    read_mapped_song,
    read_service_track_id,
)
from warehouse.records.errors import InvalidMusicInputError, SubstitutionError
from warehouse.records.videos import Track

_COVERS = ("cover_large", "cover_hd", "cover_medium", "cover_thumb")


def parse_music_info(body: bytes, music_id: str, seen: ParseContext) -> Track:
    """Parse the requested track.

    Raises:
        InvalidMusicInputError: The platform knows no such music id.
        SubstitutionError: The response is another track.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = find_description(body, "music_info", surface=seen.surface)
    if info is None:
        raise InvalidMusicInputError(
            f"the platform knows no track with the music id {music_id}",
            hint="check the id, or give a share link of the track",
        )
    found = info.id("mid") or info.id("id_str") or info.must_id("id")
    if found != music_id:
        raise SubstitutionError(
            f"requested music {music_id}, got another", surface=seen.surface, reason=found
        )
    return _track(info, music_id, seen)


def _track(info: JsonNode, music_id: str, seen: ParseContext) -> Track:
    if not info.has("title"):
        raise info.missing("title")
    extra = read_extra(info)
    mapped_title, mapped_artist = read_mapped_song(info)
    return Track(
        music_id=music_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        title=info.name("title"),
        author=info.name("author"),
        owner_nickname=info.name("owner_nickname") or _text(extra.get("owner_nickname")),
        duration_s=info.whole("duration") or None,
        is_original_sound=info.flag("is_original_sound"),
        cover_url=first_picture(info, _COVERS),
        source_aweme_id=_id(extra.get("extract_item_id")),
        mapped_title=mapped_title,
        mapped_artist=mapped_artist,
        service_track_id=read_service_track_id(info),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _id(value: object) -> str | None:
    """Return an id from the JSON text in `extra`, where numbers have up to 19 digits."""
    text = str(value) if type(value) is int else value
    is_id = isinstance(text, str) and text.isascii() and text.isdigit() and text != "0"
    return text if is_id and len(str(text)) <= MAX_ID_LENGTH else None  # type: ignore[return-value]  # is_id says str
