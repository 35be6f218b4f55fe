"""Choose the terms of the guest search.

A term never confirms anything: it only decides where to look for videos.
"""

from collections.abc import Sequence

from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS
from pipelines.scan.rules.titles import song_names

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
    if keywords:
        return _distinct(keywords)
    if not song_names(title):
        return _distinct(official)
    name = (title or "").strip()
    own = (name, f"{name} {author.strip()}") if author else (name,)
    return _distinct((*own, *official))


def scene_terms(keyword: str) -> tuple[str, ...]:
    """Return the terms of a search by name: the name itself, and the name with each scene."""
    name = keyword.strip()
    return _distinct((name, *(f"{name} {scene}" for scene in SCENES_ZH)))


def _distinct(terms: Sequence[str]) -> tuple[str, ...]:
    kept = {term.strip().casefold(): term.strip() for term in reversed(terms) if term.strip()}
    order = dict.fromkeys(term.strip().casefold() for term in terms if term.strip())
    return tuple(kept[folded] for folded in order)[:MAX_SEARCH_KEYWORDS]
