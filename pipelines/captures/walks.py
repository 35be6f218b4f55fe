"""Walks over lists and searches, page by page: which page is next, and why each walk ended.

Here: stop rules and counters. `session.py` sends the requests; the scan chooses search terms. Stop
reasons: those of this module, `search.SearchStop`, or that of the error that ended a walk.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, fields

from pipelines.parameters.scan import ScanParameters
from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.parsers.lists import foreign_rows_error
from warehouse.records import errors
from warehouse.records.coverage import SourceCoverage
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPage, SearchPosition
from warehouse.records.videos import Video, VideoPage

FetchPage = Callable[[int], Awaitable[VideoPage]]

EMPTY_PAGES_IN_A_ROW = 3
"""How many empty pages with a moved cursor are passed over before a list counts as stalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWalk:
    """Result of a walk: videos in the order shown, and its coverage with the stop reason.

    `error` is the upstream error that ended it, or the substitution that a page was. `cursor` is
    the platform's cursor of the next page, `has_more` its signal that there is one; None if it gave
    none. `foreign` are the videos that state another entity than the list's: they are no part of
    the list, but those of a music list are candidates under the music id that they state.
    """

    videos: tuple[Video, ...]
    coverage: SourceCoverage
    foreign: tuple[Video, ...] = ()
    error: errors.UpstreamError | None = None
    cursor: int | None = None
    has_more: bool | None = None


@dataclass(slots=True)
class ListWalkState:
    """State of a walk in progress.

    `page_limit` counts pages with videos; `empty_in_a_row` empty ones since the last of these.
    """

    limit: int
    page_limit: int
    videos: dict[str, Video] = field(default_factory=dict)
    foreign: dict[str, Video] = field(default_factory=dict)
    foreign_rows: int = 0
    items: int = 0
    pages: int = 0
    pages_with_videos: int = 0
    empty_in_a_row: int = 0
    cursor: int = 0
    has_more: bool | None = None
    error: errors.UpstreamError | None = None

    async def walk(self, surface: str, fetch_page: FetchPage) -> ListWalk:
        """Read pages until a stop condition holds.

        Raises:
            ProviderUnsupportedError: The source cannot read the list at all.
        """
        begun_at = self.cursor
        stop_reason: str | None = None
        with open_call_trace() as call_trace:
            while stop_reason is None:
                try:
                    page = await fetch_page(self.cursor)
                except errors.UpstreamError as error:
                    self.error, stop_reason = error, error.stop_reason
                except errors.ProviderUnsupportedError as error:
                    if self.pages == 0:
                        raise
                    stop_reason = error.stop_reason  # the source reads first screens only
                else:
                    stop_reason = self._take(page, begun_at)
                    if stop_reason is not None and self.error is not None:
                        stop_reason = self.error.stop_reason
        return ListWalk(
            videos=tuple(self.videos.values()),
            coverage=SourceCoverage(
                surface=surface,
                requests=call_trace.request_count,
                pages=self.pages,
                items=self.items,
                new_items=len(self.videos),
                stop_reason=stop_reason,
                foreign_rows=self.foreign_rows,
            ),
            foreign=tuple(self.foreign.values()),
            error=self.error,
            cursor=self.cursor,
            has_more=self.has_more,
        )

    def _take(self, page: VideoPage, begun_at: int) -> str | None:
        """Add a page; return a stop reason, or None to continue."""
        self.pages += 1
        self.items += len(page.videos) + len(page.foreign)
        self.foreign_rows += len(page.foreign)
        # Such a page does not end the walk: the rows of the entity that later pages have are no
        # less genuine, and each foreign row says itself what it is. The walk ends as it would have,
        # with the substitution as its error and its stop reason.
        if page.is_substituted and self.error is None:
            self.error = foreign_rows_error(page)
        # Foreign videos count: they are read and compared, too.
        count_before = len(self.videos) + len(self.foreign)
        for video in page.videos:
            self.videos.setdefault(video.aweme_id, video)
        for video in page.foreign:
            self.foreign.setdefault(video.aweme_id, video)
        count = len(self.videos) + len(self.foreign)
        before, self.cursor = self.cursor, page.cursor or 0
        self.has_more = page.has_more
        if not page.has_more:  # an empty list may be all there is, or all that a guest is shown
            return "exhausted" if count or begun_at else "empty_ambiguous"
        if self.cursor == before:  # it would give the same page for ever
            return "cursor_stalled"
        if not (page.videos or page.foreign):
            self.empty_in_a_row += 1
            return "cursor_stalled" if self.empty_in_a_row > EMPTY_PAGES_IN_A_ROW else None
        self.empty_in_a_row = 0
        self.pages_with_videos += 1
        if count == count_before:
            return "no_new_items"
        if count >= self.limit:
            return "candidate_limit"
        return "page_limit" if self.pages_with_videos >= self.page_limit else None


SOURCE = "search"
ENDS_ALL_TERMS = (
    errors.VerificationDemandedError,
    errors.LoginRequiredError,
    errors.SignatureDemandedError,
    errors.ForbiddenError,
    errors.RateLimitedError,
    errors.RegionBlockedError,
    errors.BudgetSpentError,
    errors.RefusedLatelyError,
    errors.ProviderUnsupportedError,
)
"""Refusals that concern the visitor, not the term: the next term would be refused as well."""
_OF_LATER_PAGES = frozenset({errors.ProviderUnsupportedError.type, errors.SURFACE_OFF})
"""Stop reasons that, after a first page, concern later ones alone: other terms have a first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """Limits of a walk.

    `page_limit` is per term; the others are per job: requests, videos new to the union, size of the
    union (videos known before included).
    """

    page_limit: int = 30
    request_budget: int = 180
    batch_target: int = 150
    candidate_limit: int = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class TermWalk:
    """One term. `new_items` were new to the union; `finished`: the platform signalled the end."""

    term: str
    pages: int
    items: int
    new_items: int
    last_cursor: int | None
    finished: bool
    stop_reason: str
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSearch:
    """All terms of a job.

    `videos` are in the order first shown; `shown_by` lists the terms that showed a video.
    """

    terms: tuple[TermWalk, ...]
    videos: tuple[Video, ...]
    shown_by: dict[str, tuple[str, ...]]
    requests_used: int
    request_budget: int

    @property
    def coverage(self) -> list[SourceCoverage]:
        """Return one coverage entry per requested term."""
        return [
            SourceCoverage(
                surface=SOURCE,
                requests=term.requests,
                pages=term.pages,
                items=term.items,
                new_items=term.new_items,
                stop_reason=term.stop_reason,
            )
            for term in self.terms
            if term.requests or term.pages
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWalk(FinishedSearch):
    """A search as it was walked. `error` ended every remaining term."""

    error: errors.SametrackError | None = None

    def finished(self) -> FinishedSearch:
        """Return what a scan keeps of it: an error is the stop reason of its term already."""
        names = [column.name for column in fields(FinishedSearch)]
        return FinishedSearch(**{name: getattr(self, name) for name in names})


@dataclass(slots=True)
class _OpenTerm:
    """State of a term in progress."""

    term: str
    place: SearchPosition = field(default_factory=SearchPosition)
    pages: int = 0
    items: int = 0
    new_items: int = 0
    requests: int = 0
    is_cut: bool = False
    empty_in_a_row: int = 0
    shown: set[str] = field(default_factory=set)
    cursors: set[int] = field(default_factory=set)

    def closed(self, stop_reason: str) -> TermWalk:
        return TermWalk(
            term=self.term,
            pages=self.pages,
            items=self.items,
            new_items=self.new_items,
            last_cursor=self.place.cursor if self.pages else None,
            finished=stop_reason == "exhausted",
            stop_reason=stop_reason,
            requests=self.requests,
        )


def distinct_terms(terms: Sequence[str]) -> tuple[str, ...]:
    """Return each term once, whatever its case, in its first spelling; blanks are left out."""
    named = [term.strip() for term in terms if term.strip()]
    first = {term.casefold(): term for term in reversed(named)}
    return tuple(dict.fromkeys(first[term.casefold()] for term in named))


class SearchWalkState:
    """A walk over terms in order. Call `next_page`, then `take` or `refuse` with the result.

    Args:
        terms: Search terms; blanks and duplicates are skipped.
        limits: See `SearchLimits`.
        known: Videos in the union before this walk; they do not count as new.
    """

    def __init__(
        self, terms: Sequence[str], limits: SearchLimits, *, known: Collection[str] = ()
    ) -> None:
        self._waiting = deque(distinct_terms(terms))
        self._limits = limits
        self._union = set(known)
        self._known_before = len(self._union)
        self._open: _OpenTerm | None = None
        self._closed: list[TermWalk] = []
        self._videos: dict[str, Video] = {}
        self._shown_by: dict[str, list[str]] = {}
        self._asked = 0
        self._requests = 0
        self._error: errors.SametrackError | None = None

    def next_page(self) -> tuple[str, SearchPosition] | None:
        """Return the next term and position to request; None when the walk is over."""
        stop = self._job_stop()
        if stop is not None:
            self._close_all(stop)
        if self._open is None and self._waiting:
            self._open = _OpenTerm(self._waiting.popleft())
        if self._open is None:
            return None
        self._asked += 1
        return self._open.term, self._open.place

    def take(self, page: SearchPage, *, requests: int) -> None:
        """Add the requested page, which took `requests` requests."""
        term = self._count(requests)
        fresh = self._add(term, page)
        stop = self._page_stop(term, page, fresh)
        # A response that broke off may have lost videos: the term was not read to its end.
        if stop == "exhausted" and term.is_cut:
            stop = "response_cut"
        term.place = page.next_position
        if stop is None:
            stop = self._job_stop()
        if stop is None and term.pages >= self._limits.page_limit:
            stop = "search_page_limit"
        if stop is not None:
            self._close(stop)

    def refuse(self, error: errors.SametrackError, *, requests: int) -> None:
        """Record an error instead of the page."""
        term = self._count(requests)
        self._close(error.stop_reason)
        is_only_deep = term.pages > 0 and error.stop_reason in _OF_LATER_PAGES
        if isinstance(error, ENDS_ALL_TERMS) and not is_only_deep:
            self._error = error

    def result(self) -> SearchWalk:
        """Return the walk so far."""
        return SearchWalk(
            terms=tuple(self._closed),
            videos=tuple(self._videos.values()),
            shown_by={name: tuple(terms) for name, terms in self._shown_by.items()},
            requests_used=self._requests,
            request_budget=self._limits.request_budget,
            error=self._error,
        )

    def _job_stop(self) -> str | None:
        """Return why the job sends no more requests. A page costs at least one of the budget."""
        if self._error is not None:
            return self._error.stop_reason
        if len(self._union) >= self._limits.candidate_limit:
            return "search_candidate_limit"
        if len(self._union) - self._known_before >= self._limits.batch_target:
            return "batch_target_reached"
        if max(self._asked, self._requests) >= self._limits.request_budget:
            return "request_budget"
        return None

    def _page_stop(self, term: _OpenTerm, page: SearchPage, fresh: int) -> str | None:
        """Return why the page itself ends its term."""
        if page.is_cut and page.has_more is None:
            return "response_cut"
        if page.nil_type is not None and not page.videos:
            return "exhausted" if page.nil_type in HARMLESS_NIL_TYPES else "empty_ambiguous"
        is_empty = not page.videos and not page.skipped_cards
        # An empty page without a reason says something only after pages with videos: a guest may
        # get it where others get results.
        if is_empty and (page.has_more is None or not term.items):
            return "empty_ambiguous"
        if page.has_more is False:
            return "exhausted"
        if page.next_position.cursor in term.cursors or term.empty_in_a_row > EMPTY_PAGES_IN_A_ROW:
            return "cursor_stalled"
        return "no_new_items" if page.videos and not fresh else None

    def _add(self, term: _OpenTerm, page: SearchPage) -> int:
        """Add the videos of a page; return how many this term had not shown before."""
        before = len(term.shown)
        term.pages += 1
        term.is_cut |= page.is_cut
        term.items += len(page.videos)
        is_empty = not page.videos and not page.skipped_cards
        term.empty_in_a_row = term.empty_in_a_row + 1 if is_empty else 0
        term.cursors.add(term.place.cursor)
        for video in page.videos:
            name = video.aweme_id
            if name not in term.shown:
                term.shown.add(name)
                self._shown_by.setdefault(name, []).append(term.term)
            if name not in self._union:
                self._union.add(name)
                term.new_items += 1
            self._videos.setdefault(name, video)
        return len(term.shown) - before

    def _count(self, requests: int) -> _OpenTerm:
        assert self._open is not None, "no page was requested"
        self._requests += requests
        self._open.requests += requests
        return self._open

    def _close(self, stop: str) -> None:
        if self._open is not None:
            self._closed.append(self._open.closed(stop))
            self._open = None

    def _close_all(self, stop: str) -> None:
        self._close(stop)
        self._closed += [_OpenTerm(term).closed(stop) for term in self._waiting]
        self._waiting.clear()


def to_search_limits(parameters: ScanParameters) -> SearchLimits:
    """Return the limits set by the parameters of a scan."""
    return SearchLimits(
        page_limit=parameters.search_page_limit,
        request_budget=parameters.search_request_budget,
        batch_target=parameters.search_batch_target,
        candidate_limit=parameters.search_candidate_limit,
    )
