"""The search-related list of a result: guest search results, separate from the ranking.

Public text relates these videos to the song; the list confirms none of them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pipelines.captures.search_walk import FinishedSearch
from pipelines.documents.result_types import (
    FoundVideo,
    SearchPagination,
    SearchSummary,
    StoredSearch,
)
from pipelines.documents.videos import to_statistics, to_video_document
from pipelines.scan.rules.ranking import hot_score
from pipelines.scan.rules.relevance import HIGH_RELEVANCE, ORDER, relevance_of
from warehouse.records.videos import Video


def to_search_related(
    videos: Iterable[Video],
    *,
    walk: FinishedSearch,
    shown_by: Mapping[str, Sequence[str]],
    title: str | None,
    verified: Collection[str],
) -> StoredSearch:
    """Build `search_related` of a result, most relevant first, then by engagement.

    Args:
        videos: All videos found by searches for these terms, each in its best known state.
        walk: The search of this job.
        shown_by: The terms that found each video.
        title: The song's title, or the keyword of a search by name.
        verified: Music ids that carry the track.
    """
    entries = [_entry(video, shown_by, title, verified) for video in videos]
    entries.sort(key=_place)
    levels = Counter(entry["search_relevance_level"] for entry in entries)
    high = sum(levels[level] for level in HIGH_RELEVANCE)
    return {
        "aweme_list": entries,
        "returned_count": len(entries),
        "high_relevance_count": high,
        "conflicting_music_title_count": levels["conflicting_music_title"],
        "expanded_candidate_count": len(entries) - high,
        "visible_ranking_overlap_count": 0,  # depends on the request: `view_result` counts it
        "pagination": to_pagination(walk),
    }


def to_search_summary(walk: FinishedSearch, *, union: int) -> SearchSummary:
    """Build `discovery.official_comprehensive_search`: terms, pages and the size of the union."""
    return {
        "terms": [term.term for term in walk.terms],
        "cursor_pages": sum(term.pages for term in walk.terms),
        "observed_union_count": union,
    }


def to_pagination(walk: FinishedSearch) -> SearchPagination:
    """Build the `pagination` of a result: pages and stop reason of each term."""
    return {
        "pages_fetched": sum(term.pages for term in walk.terms),
        "terms_paginated": sum(term.pages > 0 for term in walk.terms),
        "terms": [
            {
                "term": term.term,
                "pages": term.pages,
                "items": term.items,
                "new_items": term.new_items,
                "last_cursor": term.last_cursor,
                "finished": term.finished,
                "stop_reason": term.stop_reason,
            }
            for term in walk.terms
        ],
        "request_budget": walk.request_budget,
        "requests_used": walk.requests_used,
    }


def _entry(
    video: Video,
    shown_by: Mapping[str, Sequence[str]],
    title: str | None,
    verified: Collection[str],
) -> FoundVideo:
    document = to_video_document(video)
    return {
        **document,
        "hot_score": hot_score(to_statistics(document)),
        "search_relevance_level": relevance_of(video, title=title, verified=verified),
        "search_terms": list(shown_by.get(video.aweme_id, ())),
    }


def _place(entry: FoundVideo) -> tuple[int, int, str]:
    level = ORDER.index(entry["search_relevance_level"])
    return (level, -(entry["hot_score"] or 0), entry["aweme_id"])
