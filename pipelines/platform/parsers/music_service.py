"""Parsers of the music service's public pages: a song, and the songs of a list.

A list is a playlist, an album, or the page of an artist.
"""

from collections.abc import Iterator

from pipelines.platform.parsers.fields import JsonNode
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import SubstitutionError, UpstreamError
from warehouse.records.videos import ListedSong, ServiceSong, ServiceSongList

MAX_LYRIC_LINES = 500
MAX_LISTED_SONGS = 1000
_LONGEST_S = 24 * 3600.0
_LIST_KEYS = ("medias", "trackList")
_INFO_KEYS = ("playlistInfo", "albumInfo", "artistInfo")
_LIST_PAGES = {
    "service_playlist": "playlist_page",
    "service_album": "album_page",
    "service_artist": "artist_page",
}


def parse_service_track(body: bytes, track_id: str, seen: ParseContext) -> ServiceSong:
    """Parse the page of a song.

    Raises:
        PageWithoutDataError: The page has no song: it is gone, or withheld.
        SubstitutionError: The page shows another song.
        StructureChangedError: Keys or types are unknown.
    """
    page = _page(body, "track_page", seen)
    option = page.node("audioWithLyricsOption")
    if option is None or not option.has("trackName"):
        raise _without_data(option or page, seen)
    found = option.id("track_id") or page.id("track_id")
    if found is not None and found != track_id:
        raise SubstitutionError(
            f"requested song {track_id}, got another", surface=seen.surface, reason=found
        )
    title = option.name("trackName")
    if title is None:
        raise option.missing("trackName")
    return ServiceSong(
        track_id=track_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        title=title,
        artist=option.name("artistName"),
        artist_id=option.id("artistIdStr"),
        cover_url=_web_address(option, "coverURL"),
        duration_s=_length_s(option, "duration"),
        preview_s=_length_s(option, "offsetDuration"),
        lyrics=_lyrics(option),
        audio_url=_web_address(option, "url"),
        read_from=seen.address,
    )


def parse_service_list(body: bytes, list_id: str, seen: ParseContext) -> ServiceSongList:
    """Parse the page of a playlist, an album or an artist.

    Raises:
        PageWithoutDataError: The page has no list.
        StructureChangedError: Keys or types are unknown.
    """
    page = _page(body, _LIST_PAGES[seen.surface], seen)
    key = next((key for key in _LIST_KEYS if page.has(key)), None)
    if key is None:
        raise _without_data(page, seen)
    info = next((page.node(name) for name in _INFO_KEYS if page.has(name)), None)
    songs: dict[str, ListedSong] = {}
    for song in map(_listed_song, page.nodes(key)):
        if song is not None:
            songs.setdefault(song.track_id, song)
    return ServiceSongList(
        list_id=list_id,
        title=(info.name("title") or info.name("name")) if info is not None else None,
        songs=tuple(songs.values())[:MAX_LISTED_SONGS],
        stated_count=info.whole("count_tracks") if info is not None else None,
    )


def _listed_song(item: JsonNode) -> ListedSong | None:
    """Return a listed song; None for a video."""
    entity = item.node("entity")
    song = entity.node("track") if entity is not None else item
    track_id = song.id("id") if song is not None else None
    if song is None or track_id is None:
        return None
    artists = [artist.name("name") for artist in song.nodes("artists")]
    return ListedSong(
        track_id=track_id,
        title=song.name("name"),
        artist="/".join(name for name in artists if name) or None,
    )


def _page(body: bytes, name: str, seen: ParseContext) -> JsonNode:
    loaded = parse_container(body, surface=seen.surface).node("loaderData")
    page = loaded.node(name) if loaded is not None else None
    if page is None:
        raise refusal_error(
            "page_without_data",
            "the page contains no data",
            surface=seen.surface,
            reason=loaded.keys_seen() if loaded is not None else "no loaderData",
        )
    return page


def _without_data(node: JsonNode, seen: ParseContext) -> UpstreamError:
    return refusal_error(
        "page_without_data",
        "the page contains no song",
        surface=seen.surface,
        reason=node.keys_seen(),
    )


def _length_s(node: JsonNode, key: str) -> float | None:
    """Return a length in seconds; None when absent, 0 or out of range."""
    value = node.values.get(key)
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, int | float):
        raise node.changed(key, value)
    return float(value) if 0 < value <= _LONGEST_S else None


def _web_address(node: JsonNode, key: str) -> str | None:
    found = node.name(key)
    return found if found is not None and found.startswith(("https://", "http://")) else None


def _lyrics(option: JsonNode) -> tuple[str, ...]:
    lyrics = option.node("lyrics")
    if lyrics is None:
        return ()
    return tuple(_lines(lyrics))[:MAX_LYRIC_LINES]


def _lines(lyrics: JsonNode) -> Iterator[str]:
    for sentence in lyrics.nodes("sentences"):
        text = sentence.text("text")
        words = text or "".join(word.text("text") or "" for word in sentence.nodes("words"))
        if words.strip():
            yield words.strip()
