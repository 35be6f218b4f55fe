"""The guest search of a scan: its results become candidates and a list of their own.

Not here: terms and relevance (`rules/`), paging (`pipelines/captures/search_walk.py`).
"""

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from pipelines.captures.search_walk import FinishedSearch, SearchWalk, to_search_limits
from pipelines.captures.songs import lyric_terms, song_terms
from pipelines.documents.result_types import SearchSummary, StoredSearch
from pipelines.scan.collect import add_coverage, to_sighting
from pipelines.scan.rules.search import (
    scene_terms,
    search_terms,
    to_search_related,
    to_search_summary,
)
from pipelines.scan.scan_run import ScanRun
from warehouse.queries.captures import read_search_union
from warehouse.queries.results import read_latest_videos
from warehouse.records.coverage import SourceCoverage
from warehouse.records.videos import Video

_UNION = TypeAdapter(dict[str, tuple[str, ...]])
NO_TERM = "search:no_title_to_search"


def read_search(session: ScanRun) -> int:
    """Search for the song; return how many videos are new to this scan.

    A refused search ends with the refusal as stop reason, and the scan continues.
    """
    if not is_search_wanted(session) or not session.parameters.search_candidate_limit:
        return 0
    terms = _terms(session)
    if not terms:
        session.state.not_reached.append(NO_TERM)
        return 0
    return walk_search(session, terms)


def is_search_wanted(session: ScanRun) -> bool:
    """Whether the job asks for a search, however small."""
    return session.parameters.search_enabled or session.keyword is not None


def _terms(session: ScanRun) -> tuple[str, ...]:
    if session.keyword is not None:
        return scene_terms(session.keyword)
    track, keywords = session.state.track, session.parameters.search_keywords
    title = session.song_title
    # The author of a user sound is its uploader, who has nothing to do with a song named inside it.
    author = track.author if track and title == track.title else None
    song = session.state.song
    official = (*reversed(song_terms(song)), *lyric_terms(song)) if song is not None else ()
    return search_terms(title, author, keywords, official=official)


def walk_search(session: ScanRun, terms: tuple[str, ...]) -> int:
    """Search for these terms and add what this and earlier searches show; return the new videos.

    The limits count the union of all searches, so a term may be asked nothing at all.
    """
    found = session.state
    is_fresh = session.parameters.refresh
    known = {} if is_fresh else _known_union(session, terms)
    with session.stopwatch.waiting("upstream"):
        walk = session.run(
            session.captures.search(terms, limits=to_search_limits(session.parameters), known=known)
        )
    found.search, found.search_union = walk.finished(), _union_of(known, walk.shown_by)
    new = _add_shown(session, walk.videos)
    for line in walk.coverage:
        add_coverage(session, line)
    new += _add_earlier(session, known, walk)
    session.count()
    return new


def _union_of(*searches: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the terms that showed each video in one of these searches."""
    names = dict.fromkeys(name for shown_by in searches for name in shown_by)
    return {
        name: tuple(dict.fromkeys(term for shown in searches for term in shown.get(name, ())))
        for name in names
    }


def _add_shown(session: ScanRun, videos: Sequence[Video]) -> int:
    """Add a sighting for each term that showed a video: every term is a source of its own."""
    found = session.state
    fresh = {video.aweme_id for video in videos} - found.seen_ids
    found.seen_ids |= fresh
    found.sightings.extend(
        to_sighting(session, video, "search", term)
        for video in videos
        for term in found.search_union[video.aweme_id]
    )
    return len(fresh)


def _add_earlier(session: ScanRun, known: Mapping[str, Sequence[str]], walk: SearchWalk) -> int:
    """Add what only earlier searches showed; return how many videos are new to this scan.

    The stop reason in the coverage report is that of the first term that was not asked again.
    """
    earlier = [name for name in known if name not in walk.shown_by]
    latest = read_latest_videos(session.runtime.engine, earlier)
    videos = [latest[name] for name in earlier if name in latest]
    new = _add_shown(session, videos)
    unasked = (term.stop_reason for term in walk.terms if not term.requests and not term.pages)
    stop, items = next(unasked, "completed"), len(videos)
    entry = SourceCoverage(
        surface="search", requests=0, pages=0, items=items, new_items=new, stop_reason=stop
    )
    add_coverage(session, entry)
    return new


def _known_union(session: ScanRun, terms: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return what earlier searches have shown; what this scan has read meanwhile is not in it."""

    def read() -> dict[str, tuple[str, ...]]:
        union = read_search_union(session.runtime.engine, terms)
        return {aweme_id: tuple(shown) for aweme_id, shown in union.items()}

    return session.journal.once("search_union", _UNION, read)


def search_related(session: ScanRun) -> StoredSearch:
    """Build `search_related` from the union of all searches for these terms."""
    found, walk = session.state, _finished(session)
    return to_search_related(
        _best_known(session, walk),
        walk=walk,
        shown_by=found.search_union,
        title=session.song_title,
        verified=found.verified,
    )


def search_summary(session: ScanRun) -> SearchSummary:
    """Build `discovery.official_comprehensive_search`."""
    return to_search_summary(_finished(session), union=len(session.state.search_union))


def _finished(session: ScanRun) -> FinishedSearch:
    """Return the search of this scan; one without terms if it searched for nothing."""
    budget = session.parameters.search_request_budget
    nothing = FinishedSearch(
        terms=(), videos=(), shown_by={}, requests_used=0, request_budget=budget
    )
    return session.state.search or nothing


def _best_known(session: ScanRun, walk: FinishedSearch) -> list[Video]:
    """Return each video from its detail page if it was read, else from the newest search."""
    found = session.state
    shown = {video.aweme_id: video for video in walk.videos}
    details = {name: detail.video for name, detail in found.details.items()}
    earlier = set(found.search_union) - set(shown) - set(details)
    known = read_latest_videos(session.runtime.engine, sorted(earlier)) if earlier else {}
    best = known | shown | details
    return [
        best[name] for name in found.search_union if name in best and name not in found.unavailable
    ]
