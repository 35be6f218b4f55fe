"""Parser of one chart song: the JSON forms, and the script of HTML pages."""

import math

from pipelines.platform.chartsrc.bodies import non_negative_int
from pipelines.platform.parsers.fields import MAX_INT, JsonNode
from warehouse.records.charts import ChartSong

_PARTS = " - "  # between artist and title in a file name; titles may contain it too
_JOIN = "、"
_COVER_SIZE = "240"
_ON_PAGE = {"FileName": "filename", "Hash": "hash", "timeLen": "duration"}


def parse_song(node: JsonNode, rank: int) -> ChartSong:
    """Parse a song of a JSON form; `rank` counts from 1.

    Raises:
        StructureChangedError: It has no title, or a field has an unknown type.
    """
    artist, title = _parts(node.name("filename"))
    title = node.name("songname") or title
    if title is None:
        raise node.missing("songname")
    return ChartSong(
        rank=rank,
        title=title,
        artist=_authors(node) or node.name("singername") or artist,
        duration_s=_seconds(node, "duration"),
        cover_url=_cover(node),
        previous_rank=non_negative_int(node, "last_sort") or None,
        sort=non_negative_int(node, "sort") or None,
        song_hash=node.name("hash"),
        album_audio_id=node.id("album_audio_id"),
        album_id=node.id("album_id"),
        rank_count=non_negative_int(node, "rank_count") or None,
        is_first=node.flag("isfirst"),
    )


def parse_song_of_page(node: JsonNode, rank: int) -> ChartSong:
    """Parse a song from the script of an HTML page, which spells keys differently.

    Raises:
        StructureChangedError: It has no title, or a field has an unknown type.
    """
    values = {_ON_PAGE.get(key, key): value for key, value in node.values.items()}
    return parse_song(JsonNode(values, node.surface, node.path), rank)


def _parts(filename: str | None) -> tuple[str | None, str | None]:
    """Split "artist - title"; without the separator all of it is the title."""
    if filename is None:
        return None, None
    artist, mark, title = filename.partition(_PARTS)
    if not mark:
        return None, filename.strip() or None
    return artist.strip() or None, title.strip() or None


def _authors(node: JsonNode) -> str | None:
    names = [author.name("author_name") for author in node.nodes("authors")]
    return _JOIN.join(name for name in names if name) or None


def _seconds(node: JsonNode, key: str) -> int | None:
    """Return a duration in whole seconds, also from a fraction; 0 means unknown (None)."""
    value = node.values.get(key)
    if not isinstance(value, float):
        return non_negative_int(node, key) or None
    if not math.isfinite(value) or not 0 <= value < MAX_INT:
        raise node.changed(key, value)
    return round(value) or None


def _cover(node: JsonNode) -> str | None:
    """Return the URL of the cover; None if it is empty or no URL."""
    more = node.node("trans_param")
    found = node.name("album_sizable_cover") or (more.name("union_cover") if more else None) or ""
    address = found.replace("{size}", _COVER_SIZE)
    if address.startswith("http://"):
        address = f"https://{address.removeprefix('http://')}"
    return address if address.startswith("https://") else None
