"""The guest search of a scan: its results become candidates and a list of their own.

Not here: terms and relevance (`rules/`), paging (`pipelines/captures/walks.py`).
"""

from collections.abc import Sequence

from pydantic import TypeAdapter

from pipelines.captures.chart import lyric_terms, song_terms
from pipelines.captures.walks import FinishedSearch, to_search_limits
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
    if session.keyword is not None:
        terms = scene_terms(session.keyword)
    else:
        track, song, title = session.state.track, session.state.song, session.song_title
        # The author of a user sound is its uploader, not the artist of a song named inside it.
        author = track.author if track and title == track.title else None
        # The music service has further names of the song, and lines of its lyrics.
        official = (*reversed(song_terms(song)), *lyric_terms(song)) if song is not None else ()
        keywords = session.parameters.search_keywords
        terms = search_terms(title, author, keywords, official=official)
    if not terms:
        session.state.not_reached.append(NO_TERM)
        return 0
    return walk_search(session, terms)


def is_search_wanted(session: ScanRun) -> bool:
    """Whether the job asks for a search, however small."""
    return session.parameters.search_enabled or session.keyword is not None


def walk_search(session: ScanRun, terms: tuple[str, ...]) -> int:
    """Search for these terms and add what this and earlier searches show; return the new videos.

    The limits count the union of all searches, so a term may need no request at all.
    """
    state, engine = session.state, session.runtime.engine

    def read_earlier() -> dict[str, tuple[str, ...]]:
        union = read_search_union(engine, terms)
        return {aweme_id: tuple(shown_by) for aweme_id, shown_by in union.items()}

    # The terms that showed each video in earlier searches, by video id. The journal keeps them for
    # later runs of this job, because its own pages are stored meanwhile.
    earlier: dict[str, tuple[str, ...]] = {}
    if not session.parameters.refresh:
        earlier = session.journal.once("search_union", _UNION, read_earlier)
    with session.stopwatch.waiting("upstream"):
        walk = session.run(
            session.captures.search(
                terms, limits=to_search_limits(session.parameters), known=earlier
            )
        )
    state.search = walk.finished()
    state.search_union = {
        aweme_id: tuple(
            dict.fromkeys((*earlier.get(aweme_id, ()), *walk.shown_by.get(aweme_id, ())))
        )
        for aweme_id in dict.fromkeys((*earlier, *walk.shown_by))
    }
    new = _add_sightings(session, walk.videos)
    for entry in walk.coverage:
        add_coverage(session, entry)

    # Add what only earlier searches showed. The stop reason of this source is that of the first
    # term that was not searched for again.
    missing = [aweme_id for aweme_id in earlier if aweme_id not in walk.shown_by]
    latest = read_latest_videos(engine, missing)
    videos = [latest[aweme_id] for aweme_id in missing if aweme_id in latest]
    new_earlier = _add_sightings(session, videos)
    skipped = (term.stop_reason for term in walk.terms if not term.requests and not term.pages)
    coverage = SourceCoverage(
        surface="search",
        requests=0,
        pages=0,
        items=len(videos),
        new_items=new_earlier,
        stop_reason=next(skipped, "completed"),
    )
    add_coverage(session, coverage)
    session.count()
    return new + new_earlier


def _add_sightings(session: ScanRun, videos: Sequence[Video]) -> int:
    """Add a sighting for each term that showed a video: every term is a source of its own."""
    state = session.state
    new = {video.aweme_id for video in videos} - state.seen_ids
    state.seen_ids |= new
    state.sightings.extend(
        to_sighting(session, video, "search", term)
        for video in videos
        for term in state.search_union[video.aweme_id]
    )
    return len(new)


def search_related(session: ScanRun) -> StoredSearch:
    """Build `search_related` from the union of all searches for these terms."""
    state, search = session.state, _finished_search(session)
    # A video comes from its detail page if it was read, else from the newest search.
    videos = {video.aweme_id: video for video in search.videos}
    videos |= {aweme_id: detail.video for aweme_id, detail in state.details.items()}
    earlier = sorted(set(state.search_union) - set(videos))
    if earlier:
        videos |= read_latest_videos(session.runtime.engine, earlier)
    return to_search_related(
        [
            videos[aweme_id]
            for aweme_id in state.search_union
            if aweme_id in videos and aweme_id not in state.unavailable
        ],
        search=search,
        shown_by=state.search_union,
        title=session.song_title,
        verified=state.verified,
    )


def search_summary(session: ScanRun) -> SearchSummary:
    """Build `discovery.official_comprehensive_search`."""
    return to_search_summary(_finished_search(session), union=len(session.state.search_union))


def _finished_search(session: ScanRun) -> FinishedSearch:
    """Return the search of this scan; a search without terms if there was none."""
    budget = session.parameters.search_request_budget
    nothing = FinishedSearch(
        terms=(), videos=(), shown_by={}, requests_used=0, request_budget=budget
    )
    return session.state.search or nothing
