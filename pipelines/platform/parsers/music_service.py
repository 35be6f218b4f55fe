"""Parsers of the music service's public pages: a song, and the songs of a list.

A list is a playlist, an album, or the page of an artist.
"""

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


def parse_service_track(body: bytes, track_id: str, context: ParseContext) -> ServiceSong:
    """Parse the page of a song.

    Raises:
        PageWithoutDataError: The page has no song: it is gone, or withheld.
        SubstitutionError: The page shows another song.
        StructureChangedError: Keys or types are unknown.
    """
    page = _page(body, "track_page", context)
    # A page of a song that is gone has the route without the song.
    option = page.node("audioWithLyricsOption")
    if option is None or "trackName" not in option.values:
        raise _without_data(option or page, context)
    stated_id = option.id("track_id") or page.id("track_id")
    if stated_id is not None and stated_id != track_id:
        raise SubstitutionError(
            f"requested song {track_id}, got another", surface=context.surface, reason=stated_id
        )
    title = option.name("trackName")
    if title is None:
        raise option.missing("trackName")
    sung = option.node("lyrics")
    sentences = [] if sung is None else [_line(sentence) for sentence in sung.nodes("sentences")]
    lyrics = tuple([line for line in sentences if line][:MAX_LYRIC_LINES])
    return ServiceSong(
        track_id=track_id,
        surface=context.surface,
        observed_at=context.observed_at,
        title=title,
        artist=option.name("artistName"),
        artist_id=option.id("artistIdStr"),
        cover_url=_web_address(option, "coverURL"),
        duration_s=_length_s(option, "duration"),
        preview_s=_length_s(option, "offsetDuration"),  # of a paid song, 29 to 60 s
        lyrics=lyrics,
        audio_url=_web_address(option, "url"),
        read_from=context.address,
    )


def parse_service_list(body: bytes, list_id: str, context: ParseContext) -> ServiceSongList:
    """Parse the page of a playlist, an album or an artist.

    Raises:
        PageWithoutDataError: The page has no list.
        StructureChangedError: Keys or types are unknown.
    """
    page = _page(body, _LIST_PAGES[context.surface], context)
    key = next((key for key in _LIST_KEYS if key in page.values), None)
    if key is None:
        raise _without_data(page, context)
    info = next((page.node(name) for name in _INFO_KEYS if name in page.values), None)
    # Some lists wrap each song in an entity and hold videos, too; others list the songs themselves.
    songs: dict[str, ListedSong] = {}
    for item in page.nodes(key):
        entity = item.node("entity")
        song = entity.node("track") if entity is not None else item
        track_id = song.id("id") if song is not None else None
        if song is None or track_id is None:  # a video
            continue
        artists = [artist.name("name") for artist in song.nodes("artists")]
        listed = ListedSong(
            track_id=track_id,
            title=song.name("name"),
            artist="/".join(name for name in artists if name) or None,
        )
        songs.setdefault(track_id, listed)
    return ServiceSongList(
        list_id=list_id,
        title=(info.name("title") or info.name("name")) if info is not None else None,
        songs=tuple(songs.values())[:MAX_LISTED_SONGS],
        stated_count=info.whole("count_tracks") if info is not None else None,
    )


def _page(body: bytes, name: str, context: ParseContext) -> JsonNode:
    loaded = parse_container(body, surface=context.surface).node("loaderData")
    page = loaded.node(name) if loaded is not None else None
    if page is None:
        raise refusal_error(
            "page_without_data",
            "the page contains no data",
            surface=context.surface,
            reason=loaded.keys_seen() if loaded is not None else "no loaderData",
        )
    return page


def _without_data(node: JsonNode, context: ParseContext) -> UpstreamError:
    return refusal_error(
        "page_without_data",
        "the page contains no song",
        surface=context.surface,
        reason=node.keys_seen(),
    )


def _length_s(node: JsonNode, key: str) -> float | None:
    """Return a length in seconds; None when absent, 0 or out of range."""
    value = node.values.get(key)  # with a fraction on some pages
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, int | float):
        raise node.changed(key, value)
    return float(value) if 0 < value <= _LONGEST_S else None


def _web_address(node: JsonNode, key: str) -> str | None:
    url = node.name(key)
    return url if url is not None and url.startswith(("https://", "http://")) else None


def _line(sentence: JsonNode) -> str:
    """Return one line of the lyrics, which some songs state word by word."""
    text = sentence.text("text")
    return (text or "".join(word.text("text") or "" for word in sentence.nodes("words"))).strip()
