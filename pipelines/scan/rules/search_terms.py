"""Which words a job puts into the guest search. Pure.

A term never confirms anything: it only decides where works are looked for.
"""

from collections.abc import Sequence

from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS
from pipelines.scan.rules.titles import song_names

SCENES_ZH = ("原声", "翻唱", "舞蹈", "现场", "BGM", "卡点", "加速版")
"""Settings in which people use a song; each keeps the full title in front of it."""


def search_terms(title: str | None, author: str | None, keywords: Sequence[str]) -> tuple[str, ...]:
    """The terms of a scan: the given keywords, else the track's title with and without its artist.

    Empty when the title names no song (a user sound is named after its uploader) and no keyword
    was given: searching for such a name would bring the uploader, not the song.
    """
    if keywords:
        return _distinct(keywords)
    if not song_names(title):
        return ()
    name = (title or "").strip()
    return _distinct((name, f"{name} {author.strip()}") if author else (name,))


def scene_terms(keyword: str) -> tuple[str, ...]:
    """The terms of a search by name alone: the name itself, and the name in each scene."""
    name = keyword.strip()
    return _distinct((name, *(f"{name} {scene}" for scene in SCENES_ZH)))


def _distinct(terms: Sequence[str]) -> tuple[str, ...]:
    kept = {term.strip().casefold(): term.strip() for term in reversed(terms) if term.strip()}
    order = dict.fromkeys(term.strip().casefold() for term in terms if term.strip())
    return tuple(kept[folded] for folded in order)[:MAX_SEARCH_KEYWORDS]
