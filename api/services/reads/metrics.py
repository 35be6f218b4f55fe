"""Creator metrics: likes of an account's recent videos, from its newest posts and their details.

Decides which posts to read and when there are enough. `documents.py` computes the
metrics.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from anyio.to_thread import run_sync

from api.schemas.lists import CreatorMetrics
from api.services.reads.documents import ReadResult, TimeWindow, to_metrics_document
from api.services.reads.posts import find_posts
from api.services.reads.sources import FALLBACK_PROVIDER, Deadline, Sources
from api.services.reads.users import SURFACE, fetch_profile, known_profile
from api.services.reads.videos import lately_unavailable
from pipelines.captures.session import Captures
from pipelines.captures.walks import ListWalk
from pipelines.platform.parsers.lists import foreign_rows_error
from warehouse.queries.videos import read_listed_videos
from warehouse.records.errors import ProviderUnsupportedError, SametrackError, UpstreamError
from warehouse.records.videos import Video, VideoPage, is_of_other_account

MAX_PAGES = 3
"""Maximum pages of posts per window; pinned videos take up space on the first page."""

MAX_PARALLEL_READS = 8


async def read_metrics(
    sources: Sources, sec_user_id: str, *, window: TimeWindow, count: int, deadline: Deadline
) -> ReadResult[CreatorMetrics]:
    """Return the likes of the newest videos in the window, and the account's own counts.

    Raises:
        UnresolvedIdError: The account does not exist.
        UpstreamError: Neither the account nor any of its videos could be read, or most of the
            details are of other accounts.
    """
    stored = await known_profile(sources, sec_user_id, now=window.end)
    async with AsyncExitStack() as stack:
        async with deadline.guard(SURFACE):
            captures = await stack.enter_async_context(sources.open("users"))
            profile = stored or await fetch_profile(sources, captures, sec_user_id)
        collector = _Collector(sources, captures, sec_user_id, window, count, deadline)
        await collector.collect()
        is_fallback = captures.fallback_count > 0
    analyzed = collector.newest
    if not analyzed and collector.refused:
        raise collector.refused[0]
    document = to_metrics_document(
        replace(profile.account, sec_uid=sec_user_id),  # also for demo data
        window,
        analyzed,
        is_complete=collector.is_complete,
        data_provider=FALLBACK_PROVIDER if is_fallback else profile.data_provider,
        is_demo=sources.is_demo or is_fallback,
    )
    return ReadResult(document, is_cacheable=False)  # the window ends at the time of the request


@dataclass(slots=True)
class _Collector:
    """Collects the videos of one request."""

    sources: Sources
    captures: Captures
    sec_user_id: str
    window: TimeWindow
    count: int
    deadline: Deadline
    videos: dict[str, Video] = field(default_factory=dict)
    refused: list[SametrackError] = field(default_factory=list)
    own: dict[str, Video] = field(default_factory=dict)
    foreign: dict[str, Video] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def newest(self) -> list[Video]:
        """The newest videos in the window."""
        return self.window.newest(self.videos.values(), self.count)

    async def collect(self) -> None:
        """Read page by page until the window is full, posts are older, or there are no more.

        A post may not state its author, but its detail does: one of another account is left out.

        Raises:
            SubstitutionError: Most of the details are of other accounts.
        """
        await self._collect_pages()
        details = VideoPage(
            videos=tuple(self.own.values()),
            foreign=tuple(self.foreign.values()),
            cursor=None,
            has_more=None,
        )
        if details.is_substituted:
            raise foreign_rows_error(details, surface="user_posts")

    async def _collect_pages(self) -> None:
        cursor = 0
        for number in range(MAX_PAGES):
            try:
                async with self.deadline.guard("user_posts"):
                    page = await self._posts(cursor)
            except ProviderUnsupportedError:
                return  # a source of first screens has no second page
            except UpstreamError as error:
                if number == 0:
                    raise
                self._miss(error)
                return
            for part in _parts(page.videos, self.count):
                await self._details(part)
                is_full = len(self.newest) >= self.count
                if is_full or not self._may_continue(part) or self.deadline.left_s == 0:
                    return
            if not page.has_more or page.cursor in {None, cursor}:
                return
            cursor = page.cursor or 0

    def _miss(self, error: SametrackError | None = None) -> None:
        """Record that something was not read: too late, or refused."""
        self.is_complete = False
        self.refused += [] if error is None else [error]

    async def _posts(self, cursor: int) -> VideoPage:
        page = await find_posts(
            self.sources, self.captures, self.sec_user_id, cursor=cursor, now=self.window.end
        )
        if isinstance(page, ListWalk):  # demo data as a fallback
            self.videos.update((video.aweme_id, video) for video in page.videos)
            return VideoPage(videos=page.videos, cursor=page.cursor, has_more=page.has_more)
        listed = await run_sync(read_listed_videos, self.sources.engine, page.aweme_ids)
        for name, entry in listed.items():
            self._take(name, entry)
        videos = tuple(listed[name] for name in page.aweme_ids if name in self.videos)
        return VideoPage(videos=videos, cursor=page.cursor, has_more=page.has_more)

    def _take(self, aweme_id: str, video: Video) -> None:
        """Take a post, unless it states another author; demo data in its place always does."""
        is_demo = self.captures.fallback_count > 0
        if not is_demo and is_of_other_account(video, self.sec_user_id):
            self.foreign[aweme_id] = video
            self.videos.pop(aweme_id, None)
            return
        if video.author is not None:
            self.own[aweme_id] = video
        self.videos[aweme_id] = video

    async def _details(self, candidates: Sequence[Video]) -> None:
        """Read the details of candidates that are or may be in the window."""
        posts = {
            video.aweme_id: video
            for video in candidates
            if video.create_time is None or self.window.holds(video.create_time)
        }
        gone = await lately_unavailable(self.sources, list(posts))
        read = partial(self.captures.video, max_age_s=self.sources.settings.video_ttl)
        readings = await self.deadline.each(
            [name for name in posts if name not in gone], read, parallel=MAX_PARALLEL_READS
        )
        readings.values.update(gone)
        for name, detail in readings.values.items():
            if isinstance(detail, Video):
                first_observed_at = posts[name].first_observed_at
                self._take(name, replace(detail, first_observed_at=first_observed_at))
            else:
                self.videos.pop(name, None)  # deleted or hidden in the meantime
        for error in readings.errors.values():
            self._miss(error)
        if readings.late:
            self._miss()

    def _may_continue(self, part: Sequence[Video]) -> bool:
        """Return True if later posts may still be in the window: the last unpinned one is."""
        moving = [video for video in part if not video.is_top]
        videos = (self.videos.get(video.aweme_id) for video in reversed(moving))
        last = next((video for video in videos if video is not None and video.create_time), None)
        return last is not None and (last.create_time or 0) >= self.window.start.timestamp()


def _parts(videos: Sequence[Video], count: int) -> list[Sequence[Video]]:
    """Split a page into the parts in which details are read.

    First all pinned videos and as many others as requested, then the rest. A page is sorted by time
    except for pinned videos; where it does not say which are pinned, any may be.
    """
    if not videos or any(video.is_top is None for video in videos):
        return [videos]
    others = [video for video in videos if not video.is_top]
    first = [video for video in videos if video.is_top] + others[:count]
    return [first, others[count:]] if others[count:] else [first]
