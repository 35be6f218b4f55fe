"""Reads a list surface page by page, with a reason for every stop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.parsers.lists import foreign_rows_error
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import ProviderUnsupportedError, UpstreamError
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
    error: UpstreamError | None = None
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
    error: UpstreamError | None = None

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
                except UpstreamError as error:
                    self.error, stop_reason = error, error.stop_reason
                except ProviderUnsupportedError as error:
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
