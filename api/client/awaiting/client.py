"""The client that awaits its answers. What is sent is described in `asking.py`.

The twin of this module without `async` is written by `make docs`.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Unpack

from ..connection import DISCOVERY_TIMEOUT_S
from ..errors import WaitTimeoutError
from ..requests import operations as asking
from ..requests.operations import JobStatus, RelatedOptions, ScanOptions
from ..responses import FINAL, POLL_S, Answer, ended
from ..types.answers import (
    BatchData,
    ChartHistoryData,
    HashtagVideosData,
    HotVideosData,
    JobData,
    JobListData,
    MusicVideosData,
    RelatedVideosData,
    SecUserIdData,
    UserMetricsData,
    UserPostsData,
    UserProfileData,
    Video,
    VideosData,
)
from .extensions import AsyncExtensions


class AsyncClient(AsyncExtensions):
    """All operations of the service that answer with data, one method each.

    Files (pictures, excerpts, exports) come by a plain GET of their addresses. Every method raises
    `ServiceError` when the service says no and `NoAnswerError` when none answers.
    """

    async def sec_user_id(self, url: str) -> Answer[SecUserIdData]:
        """Read a `sec_user_id` from a profile link, a short link or text around one."""
        return await self.send(asking.sec_user_id(url))

    async def user_profile(self, sec_user_id: str) -> Answer[UserProfileData]:
        """What an account shows of itself."""
        return await self.send(asking.user_profile(sec_user_id))

    async def user_posts(
        self,
        sec_user_id: str,
        *,
        max_cursor: int = 0,
        count: int | None = None,
        sort_type: int | None = None,
    ) -> Answer[UserPostsData]:
        """One page of an account's works; `sort_type` 0 newest, 1 hottest."""
        return await self.send(asking.user_posts(sec_user_id, max_cursor, count, sort_type))

    async def user_metrics(
        self, sec_user_id: str, *, days: int | None = None, count: int | None = None
    ) -> Answer[UserMetricsData]:
        """Followers, likes, and the average and best work of the last `days`."""
        return await self.send(asking.user_metrics(sec_user_id, days, count))

    async def hot_videos(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> Answer[HotVideosData]:
        """The ranking of a track from a stored result, or the job that makes it (status 202)."""
        return await self.send(asking.hot_videos(music, keywords, options))

    async def hot_videos_batch(
        self, inputs: Sequence[str], *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> Answer[BatchData]:
        """Up to ten tracks, each with its result, its job or its error."""
        return await self.send(asking.hot_videos_batch(inputs, keywords, options))

    async def related_videos(
        self, music: str, **options: Unpack[RelatedOptions]
    ) -> Answer[RelatedVideosData]:
        """Works related to a track, with what became of every candidate. Takes a while."""
        ask = asking.related_videos(music, options)
        return await self.send(ask, timeout_s=DISCOVERY_TIMEOUT_S)

    async def music_videos(
        self,
        music_id: str,
        *,
        cursor: int = 0,
        count: int | None = None,
        refresh: bool | None = None,
    ) -> Answer[MusicVideosData]:
        """One page of the observed works under a music id."""
        return await self.send(asking.music_videos(music_id, cursor, count, refresh))

    async def hashtag_videos(
        self,
        ch_id: str,
        *,
        cursor: int = 0,
        count: int | None = None,
        sort_type: int | None = None,
        refresh: bool | None = None,
    ) -> Answer[HashtagVideosData]:
        """One page of the observed works of a hashtag; `sort_type` 1 by likes, 2 by time."""
        return await self.send(asking.hashtag_videos(ch_id, cursor, count, sort_type, refresh))

    async def videos(self, aweme_ids: Sequence[str]) -> Answer[VideosData]:
        """Up to 50 videos by id; what cannot be read is in `filter_list` with its reason."""
        return await self.send(asking.videos(aweme_ids, is_web=True))

    async def videos_v1(self, aweme_ids: Sequence[str]) -> Answer[VideosData]:
        """The same for up to 10 ids, at the path of the app family."""
        return await self.send(asking.videos(aweme_ids, is_web=False))

    async def music_search(self, keyword: str) -> Answer[object]:
        """Always raises `UnsupportedError`: the platform protects this search."""
        return await self.send(asking.music_search(keyword))

    async def video_search(self, keyword: str) -> Answer[object]:
        """Always raises `UnsupportedError`: the platform protects this search."""
        return await self.send(asking.video_search(keyword))

    async def chart_history(self, start_date: str, end_date: str) -> Answer[ChartHistoryData]:
        """Top 20 of one chart issue for every ten days of the range (`YYYY-MM-DD`)."""
        return await self.send(asking.chart_history(start_date, end_date))

    async def create_job(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> Answer[JobData]:
        """Start a scan of a track; 200 with its result where a stored one serves."""
        return await self.send(asking.create_job(music, keywords, options))

    async def create_search_job(
        self, keyword: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> Answer[JobData]:
        """Start a search by a song's name alone. It confirms nothing."""
        return await self.send(asking.create_search_job(keyword, keywords, options))

    async def job(self, job_id: str) -> Answer[JobData]:
        """A job now."""
        return await self.send(asking.job(job_id))

    async def cancel_job(self, job_id: str) -> Answer[JobData]:
        """Ask a job to end; what it has read is kept."""
        return await self.send(asking.cancel_job(job_id))

    async def jobs(
        self, *, limit: int | None = None, status: JobStatus | None = None
    ) -> Answer[JobListData]:
        """The newest jobs, without their results."""
        return await self.send(asking.jobs(limit, status))

    async def wait(
        self,
        job_id: str,
        *,
        timeout_s: float = float("inf"),
        on_change: Callable[[JobData], None] | None = None,
    ) -> JobData:
        """The job once it is completed, by its live events, else by polling.

        Raises:
            JobFailedError, JobCancelledError: It ended without a result.
            WaitTimeoutError: It goes on after `timeout_s`, looked at on every sign of life.
        """
        job = None
        async with aclosing(self.watch(job_id, timeout_s=timeout_s)) as changes:
            async for job in changes:
                if on_change is not None:
                    on_change(job)
                found = ended(job)
                if found is not None:
                    return found
        raise WaitTimeoutError(job, job_id=job_id, timeout_s=timeout_s)

    async def watch(
        self, job_id: str, *, timeout_s: float = float("inf")
    ) -> AsyncGenerator[JobData, None]:
        """The job at each change, until it ends or the time is over."""
        until = time.monotonic() + timeout_s
        path = asking.job_events(job_id)
        async with aclosing(self._listen(path, silence_s=max(0.1, timeout_s))) as heard:
            async for job in heard:
                if job is not None:
                    yield job
                if time.monotonic() >= until or (job is not None and job["status"] in FINAL):
                    return
        while True:
            answer = await self.job(job_id)
            yield answer.data
            pause = answer.retry_after or POLL_S
            if answer.data["status"] in FINAL or time.monotonic() + pause > until:
                return
            await self._sleep(pause)

    def each_user_post(
        self, sec_user_id: str, *, count: int = 20, sort_type: int = 0
    ) -> AsyncIterator[Video]:
        """Every work of an account that can be paged to, page by page."""
        return self._pages(
            lambda cursor: asking.user_posts(sec_user_id, cursor, count, sort_type), "max_cursor"
        )

    def each_music_video(
        self, music_id: str, *, count: int = 20, refresh: bool = False
    ) -> AsyncIterator[Video]:
        """Every observed work under a music id; all pages show the moment of the first."""
        return self._pages(
            lambda cursor: asking.music_videos(music_id, cursor, count, refresh and not cursor),
            "cursor",
        )

    def each_hashtag_video(
        self, ch_id: str, *, count: int = 15, sort_type: int = 0, refresh: bool = False
    ) -> AsyncIterator[Video]:
        """Every observed work of a hashtag; all pages show the moment of the first."""
        return self._pages(
            lambda cursor: asking.hashtag_videos(
                ch_id, cursor, count, sort_type, refresh and not cursor
            ),
            "cursor",
        )
