"""Choose the terms of the guest search.

A term never confirms anything: it only decides where to look for videos.
"""

from collections.abc import Sequence

from pipelines.captures.search_walk import distinct_terms
from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS
from pipelines.scan.rules.titles import names_song, song_names

SCENES_ZH = ("原声", "翻唱", "舞蹈", "现场", "BGM", "卡点", "加速版")
"""Typical uses of a song; each is appended to the full title."""


def search_terms(
    title: str | None,
    author: str | None,
    keywords: Sequence[str],
    *,
    official: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the given keywords, else the track's title with and without its artist.

    `official` are further names of the song, as the music service gives them. Without them, nothing
    is returned if the title names no song: a user sound is named after its uploader, so a search
    for it would find the uploader.
    """
    wanted = keywords or (*_own_terms(title, author), *official)
    return distinct_terms(wanted)[:MAX_SEARCH_KEYWORDS]


def _own_terms(title: str | None, author: str | None) -> tuple[str, ...]:
    """Return the title alone and with its artist; of one letter only the latter, if it has one."""
    if title is None or not names_song(title):
        return ()
    name = title.strip()
    with_artist = f"{name} {(author or '').strip()}"
    return (name, with_artist) if song_names(title) else (with_artist,)


def scene_terms(keyword: str) -> tuple[str, ...]:
    """Return the terms of a search by name: the name itself, and the name with each scene."""
    name = keyword.strip()
    return distinct_terms((name, *(f"{name} {scene}" for scene in SCENES_ZH)))
