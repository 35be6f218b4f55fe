"""Match texts against a song title; used to choose candidates, never to confirm them.

Titles are compared after folding case, width and punctuation. The title of a user sound
("@Name创作的原声") names its uploader, not a song, so it matches nothing.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from warehouse.records.videos import Video

_BRACKETED = re.compile(r"[(（\[【].*?[)）\]】]")
_USER_SOUND = re.compile(r"^@.*(创作的原声|original sound)", re.IGNORECASE | re.DOTALL)
# Scripts of South and Southeast Asia. In other scripts a mark is an accent, or can be left out.
_SCRIPTS_WITH_MARKS = re.compile(r"[\u0900-\u109f\u1780-\u17ff]")
MIN_TITLE_CHARS = 2
MAX_TITLE_CHARS = 1_000
"""A longer text is no title; searching brackets takes time quadratic in its length."""


@lru_cache(maxsize=20_000)  # a scan checks the same captions in every round
def folded(text: str) -> str:
    """Return only the letters and digits of `text`, with width and case folded.

    Vowel signs, tone marks and the like count in scripts that write words with them.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(
        char
        for char in plain
        if char.isalnum()
        or (_SCRIPTS_WITH_MARKS.match(char) is not None and unicodedata.category(char)[0] == "M")
    )


def song_names(title: str | None) -> tuple[str, ...]:
    """Return the folded names of a song: its full title, and the title without brackets.

    For "Song (Remix)" these are `("songremix", "song")`: a caption may contain either. Empty if the
    title names no song, or has one letter only, which is in too many captions.
    """
    if title is None or not names_song(title):
        return ()
    names = (folded(title), folded(_BRACKETED.sub("", title)))
    return tuple(name for name in dict.fromkeys(names) if _char_count(name) >= MIN_TITLE_CHARS)


def names_song(title: str) -> bool:
    """Whether a title names a song, be it too short to be matched against texts."""
    return (
        len(title) <= MAX_TITLE_CHARS
        and _USER_SOUND.search(title) is None
        and _char_count(folded(title)) > 0
    )


def _char_count(name: str) -> int:
    return sum(char.isalnum() for char in name)


def title_to_match(title: str | None, mapped_title: str | None) -> str | None:
    """Return the title if it names a song, else the song that the platform names inside the sound.

    Without either the title stays: it is shown, and matches nothing.
    """
    return title if song_names(title) else mapped_title or title


def mentions(title: str | None, texts: Iterable[str | None]) -> bool:
    """Whether one of the texts contains a full name of the song."""
    names = song_names(title)
    plain = [folded(text) for text in texts if text] if names else []
    return any(name in text for name in names for text in plain)


def video_mentions(video: Video, title: str | None) -> bool:
    """Whether the public text of a video contains a full name of the song."""
    sound = (video.music.title, video.music.mapped_title) if video.music else ()
    return mentions(title, (video.desc, *sound, *(tag.name for tag in video.hashtags or ())))
