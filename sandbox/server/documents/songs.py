"""Wire formats of the music service: a track with its lyrics, and lists of tracks.

What belongs here: which tracks the service has, their ids, and which fields a page has. Routes are
in `surfaces/music_service.py`.
"""

from sandbox.server.documents.form_sources import MUSIC_SERVICE, form
from sandbox.server.documents.pages import Document
from sandbox.world.content import texts
from sandbox.world.content.tables import SandboxSound
from sandbox.world.content.tracks import BASE_S
from sandbox.world.random_streams import share_of, stream
from sandbox.world.world import SandboxWorld

PREVIEW_S = 30.0
"""Length of the preview of a paid song."""
_PAID_SHARE = 0.3
_MISSING_SHARE = 0.1
"""Share of the tracks that the service does not have."""
_PAID_LENGTH_S = 150
_SENTENCE_S = 4.0
_LAST_MS = 2**53 - 1
"""End of the last sentence: it lasts until the song ends."""
_OLDER_BY = (40 * 86_400) << 32
"""A song is published this long before the platform's first video with it."""
_MASK = 0x2B2B2B2B


def track_id_of(world: SandboxWorld, sound: SandboxSound) -> str | None:
    """Return the id of the song that a music id publishes; None if the service lacks it."""
    is_own = bool((world.population.own_sounds == sound.index).any())
    if not is_own or share_of(sound.music_id, "on the service") < _MISSING_SHARE:
        return None
    return str((int(sound.music_id) - _OLDER_BY) ^ _MASK)


def track_of(world: SandboxWorld, track_id: str) -> int | None:
    """Return the number of the track of an id; None for an unknown one."""
    for number, sound in enumerate(world.tracks):
        if track_id_of(world, sound) == track_id:
            return number
    return None


def is_paid(sound: SandboxSound) -> bool:
    """Return True for a song of which guests get a preview only."""
    return share_of(sound.music_id, "paid") < _PAID_SHARE


def length_of(sound: SandboxSound) -> float:
    """Return the seconds of the recording that guests can load."""
    return PREVIEW_S if is_paid(sound) else BASE_S


@form(MUSIC_SERVICE)
def audio_option(world: SandboxWorld, sound: SandboxSound, *, url: str, cover: str) -> Document:
    """Return the track of a page: its names, its audio and its lyrics; lengths are in seconds."""
    track_id, artist = track_id_of(world, sound), texts.artist_name(world.seed, sound.score)
    return {
        "track_id": track_id, "url": url, "trackName": world.title_of(sound.score),
        "artistName": artist, "artistIdStr": artist_id(sound), "coverURL": cover,
        "duration": claimed_length(sound), "offsetDuration": length_of(sound),
        "lyrics": {"lyricType": "lrc", "sentences": _sentences(world, sound)},
        "trackInfo": track_info(world, sound),
    }  # fmt: skip


@form(MUSIC_SERVICE)
def track_info(world: SandboxWorld, sound: SandboxSound) -> Document:
    """Return a track as lists of the service name it; its length is in milliseconds."""
    artist, title = texts.artist_name(world.seed, sound.score), world.title_of(sound.score)
    playable: Document = {"start": 0, "duration": round(PREVIEW_S * 1000)}
    return {
        "id": track_id_of(world, sound), "name": title,
        "duration": round(claimed_length(sound) * 1000),
        "artists": [{"id": artist_id(sound), "name": artist}],
        "album": {"id": album_id(sound), "name": title},
        "playable_range": playable if is_paid(sound) else {},
        "stats": {"count_collected": 0, "count_comment": 0, "count_shared": 0},
    }  # fmt: skip


def claimed_length(sound: SandboxSound) -> float:
    """Return the length of the whole song, which is longer than the preview of a paid one."""
    return float(_PAID_LENGTH_S + sound.index % 90) if is_paid(sound) else BASE_S


def artist_id(sound: SandboxSound) -> str:
    """Return the id of the artist of a track."""
    return str(int(sound.music_id) ^ (_MASK << 1))


def album_id(sound: SandboxSound) -> str:
    """Return the id of the album of a track."""
    return str(int(sound.music_id) ^ (_MASK >> 1))


def _sentences(world: SandboxWorld, sound: SandboxSound) -> list[Document]:
    rng = stream(world.seed, "lyrics", sound.score)
    count = int(length_of(sound) / _SENTENCE_S)
    starts = [round(place * _SENTENCE_S * 1000) for place in range(count)]
    ends = [*starts[1:], _LAST_MS]
    return [
        {"startMs": start, "endMs": end, "text": text,
         "words": [{"text": text, "startMs": start, "endMs": end}]}
        for start, end, text in zip(
            starts, ends, (texts.lyric_line(rng) for _ in starts), strict=True
        )
    ]  # fmt: skip
