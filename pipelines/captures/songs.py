"""Rules that lead from a song of the music service to videos of the platform. Pure.

Names only decide where to look: which videos carry the recording is decided by audio.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from warehouse.records.videos import Music, ServiceSong, Video

LYRIC_TERMS = 2
_SHORTEST_LINE, _LONGEST_LINE = 5, 40  # letters of a lyric line that is worth a search


def song_terms(song: ServiceSong) -> tuple[str, ...]:
    """Return the search terms of a song's names: its title with and without its artist."""
    with_artist = (f"{song.title} {song.artist}",) if song.artist else ()
    return (*with_artist, song.title)


def lyric_terms(song: ServiceSong) -> tuple[str, ...]:
    """Return the lines that captions quote most: repeated ones, then the longest.

    Lines that only repeat the title are left out.
    """
    title = _folded(song.title)
    lines = [line for line in song.lyrics if _is_quotable(_folded(line), title)]
    counts = Counter(map(_folded, lines))
    first = {_folded(line): line for line in reversed(lines)}
    order = {key: place for place, key in enumerate(dict.fromkeys(map(_folded, lines)))}
    best = sorted(counts, key=lambda key: (-counts[key], -len(key), order[key]))
    return tuple(first[key] for key in best[:LYRIC_TERMS])


def choose_music_of_song(song: ServiceSong, videos: Sequence[Video]) -> str | None:
    """Return the music id of a song among videos that a search showed; None without one.

    A music id that names the song by id comes first, then the most frequent one with the same title
    and artist. User sounds are left out: they belong to their uploaders.
    """
    sounds = [video.music for video in videos if video.music is not None]
    named = [music.music_id for music in sounds if music.service_track_id == song.track_id]
    alike = [music.music_id for music in sounds if _has_names_of(music, song)]
    return _most_frequent(named) or _most_frequent(alike)


def most_used_music(videos: Sequence[Video]) -> str | None:
    """Return the music id that most videos name, the smaller one of two; None if none is named."""
    return _most_frequent(video.music.music_id for video in videos if video.music is not None)


def _has_names_of(music: Music, song: ServiceSong) -> bool:
    if music.is_original_sound or not music.title or not music.author or not song.artist:
        return False
    return (_folded(music.title), _folded(music.author)) == (
        _folded(song.title),
        _folded(song.artist),
    )


def _most_frequent(music_ids: Iterable[str]) -> str | None:
    counts = Counter(music_ids)
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def _is_quotable(line: str, title: str) -> bool:
    return _SHORTEST_LINE <= len(line) <= _LONGEST_LINE and line not in title


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in plain if char.isalnum())
