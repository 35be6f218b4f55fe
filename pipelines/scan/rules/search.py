"""The guest search of a song: its terms, the relevance of what it shows, and the list of a result.

A term only decides where to look for videos. Public text relates a video to the song, and confirms
nothing: only audio or the music id does.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from pipelines.captures.walks import FinishedSearch, distinct_terms
from pipelines.documents import result_types
from pipelines.documents.videos import to_statistics, to_video_document
from pipelines.parameters.scan import MAX_SEARCH_KEYWORDS
from warehouse.records.videos import Video

# Match texts against a song title; used to choose candidates, never to confirm them.
#
# Titles are compared after folding case, width and punctuation. The title of a user sound
# ("@Name创作的原声") names its uploader, not a song, so it matches nothing.

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


SCENES_ZH = ("原声", "翻唱", "舞蹈", "现场", "BGM", "卡点", "加速版")
"""Typical uses of a song; each is appended to the full title."""
_HIGH_RELEVANCE: frozenset[result_types.SearchRelevance] = frozenset(
    {"exact_title", "music_id_corroborated"}
)
# Most relevant first. A conflicting title ranks behind the other candidates.
_ORDER: tuple[result_types.SearchRelevance, ...] = (
    "music_id_corroborated",
    "exact_title",
    "expanded_candidate",
    "conflicting_music_title",
)


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
    own: tuple[str, ...] = ()
    if title is not None and names_song(title):
        name = title.strip()
        with_artist = f"{name} {(author or '').strip()}"
        # A title of one letter is searched for with its artist only.
        own = (name, with_artist) if song_names(title) else (with_artist,)
    return distinct_terms(keywords or (*own, *official))[:MAX_SEARCH_KEYWORDS]


def scene_terms(keyword: str) -> tuple[str, ...]:
    """Return the terms of a search by name: the name itself, and the name with each scene."""
    name = keyword.strip()
    return distinct_terms((name, *(f"{name} {scene}" for scene in SCENES_ZH)))


def relevance_of(
    video: Video, *, title: str | None, verified: Collection[str]
) -> result_types.SearchRelevance:
    """Return the relevance level of a video.

    Args:
        video: A search result.
        title: The song's title, or the keyword of a search by name.
        verified: Music ids that carry the track.
    """
    if video.music is not None and video.music.music_id in verified:
        return "music_id_corroborated"
    if not video_mentions(video, title):
        return "expanded_candidate"
    # The title conflicts if the sound names another song; a user sound without a title names none.
    sound = video.music
    texts = (sound.mapped_title, sound.title) if sound else ()
    sound_names = [name for text in texts for name in song_names(text)]
    names = song_names(title)
    is_same = any(a in b or b in a for a in sound_names for b in names)
    return "exact_title" if is_same or not sound_names else "conflicting_music_title"


def to_search_related(
    videos: Iterable[Video],
    *,
    search: FinishedSearch,
    shown_by: Mapping[str, Sequence[str]],
    title: str | None,
    verified: Collection[str],
) -> result_types.StoredSearch:
    """Build `search_related` of a result, most relevant first, then by engagement.

    Args:
        videos: All videos found by searches for these terms, each in its best known state.
        search: The search of this job.
        shown_by: The terms that found each video.
        title: The song's title, or the keyword of a search by name.
        verified: Music ids that carry the track.
    """
    entries: list[result_types.FoundVideo] = []
    for video in videos:
        document = to_video_document(video)
        entry: result_types.FoundVideo = {
            **document,
            "hot_score": to_statistics(document).hot_score,
            "search_relevance_level": relevance_of(video, title=title, verified=verified),
            "search_terms": list(shown_by.get(video.aweme_id, ())),
        }
        entries.append(entry)

    def rank(entry: result_types.FoundVideo) -> tuple[int, int, str]:
        level = _ORDER.index(entry["search_relevance_level"])
        return (level, -(entry["hot_score"] or 0), entry["aweme_id"])

    entries.sort(key=rank)
    levels = Counter(entry["search_relevance_level"] for entry in entries)
    high = sum(levels[level] for level in _HIGH_RELEVANCE)
    return {
        "aweme_list": entries,
        "returned_count": len(entries),
        "high_relevance_count": high,
        "conflicting_music_title_count": levels["conflicting_music_title"],
        "expanded_candidate_count": len(entries) - high,
        "visible_ranking_overlap_count": 0,  # depends on the request: `view_result` counts it
        "pagination": to_pagination(search),
    }


def to_search_summary(search: FinishedSearch, *, union: int) -> result_types.SearchSummary:
    """Build `discovery.official_comprehensive_search`: terms, pages and the size of the union."""
    return {
        "terms": [term.term for term in search.terms],
        "cursor_pages": sum(term.pages for term in search.terms),
        "observed_union_count": union,
    }


def to_pagination(search: FinishedSearch) -> result_types.SearchPagination:
    """Build the `pagination` of a result: pages and stop reason of each term."""
    return {
        "pages_fetched": sum(term.pages for term in search.terms),
        "terms_paginated": sum(term.pages > 0 for term in search.terms),
        "terms": [
            cast(
                "result_types.SearchTerm",
                {name: getattr(term, name) for name in result_types.SearchTerm.__annotations__},
            )
            for term in search.terms
        ],
        "request_budget": search.request_budget,
        "requests_used": search.requests_used,
    }
