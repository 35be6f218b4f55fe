"""Relevance of a search result to a song, by its public text alone.

This is corroboration by metadata, never a confirmation: only audio or the music id confirms.
"""

from collections.abc import Collection

from pipelines.documents.result_types import SearchRelevance
from pipelines.scan.rules.titles import song_names, video_mentions
from warehouse.records.videos import Music, Video

HIGH_RELEVANCE: frozenset[SearchRelevance] = frozenset({"exact_title", "music_id_corroborated"})
ORDER: tuple[SearchRelevance, ...] = (
    "music_id_corroborated",
    "exact_title",
    "expanded_candidate",
    "conflicting_music_title",
)
"""Most relevant first. A conflicting title ranks behind the other candidates."""


def relevance_of(video: Video, *, title: str | None, verified: Collection[str]) -> SearchRelevance:
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
    return "conflicting_music_title" if _conflicts(video.music, title) else "exact_title"


def _conflicts(music: Music | None, title: str | None) -> bool:
    """Whether the sound names another song; a user sound without a title does not."""
    if music is None:
        return False
    named = [name for text in (music.mapped_title, music.title) for name in song_names(text)]
    wanted = song_names(title)
    return bool(named) and not any(
        one in other or other in one for one in named for other in wanted
    )
