"""What a text says about a track: used to choose what to look at, never to confirm.

Titles are compared after folding case, width and punctuation. The title of a user sound
("@Name创作的原声") names its uploader, not a song, so it relates to nothing.
"""

import re
import unicodedata
from collections.abc import Iterable

_BRACKETED = re.compile(r"[(（\[【].*?[)）\]】]")
_USER_SOUND = re.compile(r"^@.*(创作的原声|original sound)", re.IGNORECASE | re.DOTALL)
MIN_TITLE_CHARS = 2


def folded(text: str) -> str:
    """Letters and digits of `text` only, width and case folded."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in plain if char.isalnum())


def song_title(title: str | None) -> str | None:
    """The folded name of a song without bracketed additions; None when it names no song."""
    if title is None or _USER_SOUND.search(title):
        return None
    name = folded(_BRACKETED.sub("", title)) or folded(title)
    return name if len(name) >= MIN_TITLE_CHARS else None


def mentions(title: str | None, texts: Iterable[str | None]) -> bool:
    """True when one of the texts holds the full song title."""
    name = song_title(title)
    return name is not None and any(name in folded(text) for text in texts if text)
