"""Reads a list surface page by page, with a reason for every stop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import ProviderUnsupportedError, UpstreamError
from warehouse.records.videos import Video, VideoPage

FetchPage = Callable[[int], Awaitable[VideoPage]]

EMPTY_PAGES_IN_A_ROW = 3
"""How many empty pages with a moved cursor are passed over before a list counts as stalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWalk:
    """Result of a walk: videos in the order shown, and its coverage with the stop reason.

    `error` is the upstream error that ended it. `cursor` is the platform's cursor of the next page,
    `has_more` its signal that there is one; None if it gave none.
    """

    videos: tuple[Video, ...]
    coverage: SourceCoverage
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
    items: int = 0
    pages: int = 0
    pages_with_videos: int = 0
    empty_in_a_row: int = 0
    cursor: int = 0
    has_more: bool | None = None
    error: UpstreamError | None = None

    async def walk(self, fetch_page: FetchPage) -> str:
        """Read pages until a stop condition holds, and return the stop reason."""
        begun_at = self.cursor
        while True:
            try:
                page = await fetch_page(self.cursor)
            except UpstreamError as error:
                self.error = error
                return error.stop_reason
            except ProviderUnsupportedError as error:
                if self.pages == 0:
                    raise
                return error.stop_reason  # the source reads first screens only
            stop = self._take(page, begun_at)
            if stop is not None:
                return stop

    def to_walk(self, surface: str, *, requests: int, stop_reason: str) -> ListWalk:
        """Return the result of the walk."""
        return ListWalk(
            videos=tuple(self.videos.values()),
            coverage=SourceCoverage(
                surface=surface,
                requests=requests,
                pages=self.pages,
                items=self.items,
                new_items=len(self.videos),
                stop_reason=stop_reason,
            ),
            error=self.error,
            cursor=self.cursor,
            has_more=self.has_more,
        )

    def _take(self, page: VideoPage, begun_at: int) -> str | None:
        """Add a page; return a stop reason, or None to continue."""
        self.pages += 1
        self.items += len(page.videos)
        known = len(self.videos)
        for video in page.videos:
            self.videos.setdefault(video.aweme_id, video)
        before, self.cursor = self.cursor, page.cursor or 0
        self.has_more = page.has_more
        if not page.has_more:  # an empty list may be all there is, or all that a guest is shown
            return "exhausted" if self.videos or begun_at else "empty_ambiguous"
        if self.cursor == before:  # it would give the same page for ever
            return "cursor_stalled"
        if not page.videos:
            self.empty_in_a_row += 1
            return "cursor_stalled" if self.empty_in_a_row > EMPTY_PAGES_IN_A_ROW else None
        self.empty_in_a_row = 0
        self.pages_with_videos += 1
        if len(self.videos) == known:
            return "no_new_items"
        if len(self.videos) >= self.limit:
            return "candidate_limit"
        return "page_limit" if self.pages_with_videos >= self.page_limit else None
