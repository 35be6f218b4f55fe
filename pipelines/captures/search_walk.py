"""Walk over a guest search: which page to request next, and why each term ended. Pure.

Here: stop rules and counters of a walk. The scan chooses the terms, `session.py` sends requests.
Limits: `SearchLimits`. Stop reasons: `search.SearchStop`, or that of the error that ended a term.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields

from pipelines.captures.list_walk import EMPTY_PAGES_IN_A_ROW
from pipelines.parameters.scan import ScanParameters
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import (
    SURFACE_OFF,
    BudgetSpentError,
    ForbiddenError,
    LoginRequiredError,
    ProviderUnsupportedError,
    RateLimitedError,
    RefusedLatelyError,
    RegionBlockedError,
    SametrackError,
    SignatureDemandedError,
    VerificationDemandedError,
)
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPage, SearchPosition
from warehouse.records.videos import Video

SOURCE = "search"
ENDS_ALL_TERMS = (
    VerificationDemandedError,
    LoginRequiredError,
    SignatureDemandedError,
    ForbiddenError,
    RateLimitedError,
    RegionBlockedError,
    BudgetSpentError,
    RefusedLatelyError,
    ProviderUnsupportedError,
)
"""Refusals that concern the visitor, not the term: the next term would be refused as well."""
_OF_LATER_PAGES = frozenset({ProviderUnsupportedError.type, SURFACE_OFF})
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

    error: SametrackError | None = None

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
        self._error: SametrackError | None = None

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

    def refuse(self, error: SametrackError, *, requests: int) -> None:
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
