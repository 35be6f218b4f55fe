"""Walking a list surface page by page, with a reason for every stop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pipelines.domain.coverage import SourceCoverage
from pipelines.domain.errors import UpstreamError
from pipelines.domain.records import Video, VideoPage

FetchPage = Callable[[int], Awaitable[VideoPage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a walk saw, in the order shown, and why it stopped. `error`: the upstream ended it."""

    videos: tuple[Video, ...]
    coverage: SourceCoverage
    error: UpstreamError | None = None


@dataclass(slots=True)
class Steps:
    """A walk while it goes."""

    limit: int
    page_limit: int
    videos: dict[str, Video] = field(default_factory=dict)
    items: int = 0
    pages: int = 0
    cursor: int = 0
    error: UpstreamError | None = None

    async def walk(self, fetch_page: FetchPage) -> str:
        """Read pages until something says stop; returns what did."""
        while True:
            try:
                page = await fetch_page(self.cursor)
            except UpstreamError as error:
                self.error = error
                return error.type
            stop = self._take(page)
            if stop is not None:
                return stop

    def _take(self, page: VideoPage) -> str | None:
        """Add a page; a stop reason, or None to go on."""
        self.pages += 1
        self.items += len(page.videos)
        known = len(self.videos)
        for video in page.videos:
            self.videos.setdefault(video.aweme_id, video)
        before, self.cursor = self.cursor, page.cursor or 0
        if not page.has_more:
            return "exhausted"
        if not page.videos or self.cursor == before:
            return "cursor_stalled"
        if len(self.videos) == known:
            return "no_new_items"
        if len(self.videos) >= self.limit:
            return "candidate_limit"
        return "page_limit" if self.pages >= self.page_limit else None
