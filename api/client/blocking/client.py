"""The synchronous client. Requests are built in `requests/`.

Written by `make docs` from `awaiting/client.py`.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Unpack

from ..connection import DISCOVERY_TIMEOUT_S
from ..errors import WaitTimeoutError
from ..requests import operations
from ..requests.operations import JobStatus, RelatedOptions, ScanOptions
from ..responses import FINAL, POLL_S, ApiResponse, completed_job
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
    VideoDocument,
    VideosData,
)
from .extensions import Extensions


class Client(Extensions):
    """All operations of the service that return data, one method each.

    Files (plots, excerpts, exports) are downloaded with a plain GET. Every method raises
    `ServiceError` for an error response and `ConnectionFailedError` if the service is unreachable.
    """

    def sec_user_id(self, url: str) -> ApiResponse[SecUserIdData]:
        """Resolve a profile link, a short link or text with one to its `sec_user_id`."""
        return self.send(operations.sec_user_id(url))

    def user_profile(self, sec_user_id: str) -> ApiResponse[UserProfileData]:
        """Return the profile of an account."""
        return self.send(operations.user_profile(sec_user_id))

    def user_posts(
        self,
        sec_user_id: str,
        *,
        max_cursor: int = 0,
        count: int | None = None,
        sort_type: int | None = None,
    ) -> ApiResponse[UserPostsData]:
        """Return one page of the posts of an account; `sort_type` 0 newest, 1 hottest."""
        return self.send(operations.user_posts(sec_user_id, max_cursor, count, sort_type))

    def user_metrics(
        self, sec_user_id: str, *, days: int | None = None, count: int | None = None
    ) -> ApiResponse[UserMetricsData]:
        """Return followers, likes, and the average and best post of the last `days`."""
        return self.send(operations.user_metrics(sec_user_id, days, count))

    def hot_videos(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> ApiResponse[HotVideosData]:
        """Return the stored ranking of a track, or the job that creates it (status 202)."""
        return self.send(operations.hot_videos(music, keywords, options))

    def hot_videos_batch(
        self, inputs: Sequence[str], *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> ApiResponse[BatchData]:
        """Return the result, the job or the error of each of up to ten tracks."""
        return self.send(operations.hot_videos_batch(inputs, keywords, options))

    def related_videos(
        self, music: str, **options: Unpack[RelatedOptions]
    ) -> ApiResponse[RelatedVideosData]:
        """Return videos related to a track, and the outcome of every candidate. Slow."""
        request = operations.related_videos(music, options)
        return self.send(request, timeout_s=DISCOVERY_TIMEOUT_S)

    def music_videos(
        self,
        music_id: str,
        *,
        cursor: int = 0,
        count: int | None = None,
        refresh: bool | None = None,
    ) -> ApiResponse[MusicVideosData]:
        """Return one page of the observed videos of a music id."""
        return self.send(operations.music_videos(music_id, cursor, count, refresh))

    def hashtag_videos(
        self,
        ch_id: str,
        *,
        cursor: int = 0,
        count: int | None = None,
        sort_type: int | None = None,
        refresh: bool | None = None,
    ) -> ApiResponse[HashtagVideosData]:
        """Return one page of the observed videos of a hashtag; `sort_type` 1 likes, 2 time."""
        return self.send(operations.hashtag_videos(ch_id, cursor, count, sort_type, refresh))

    def videos(self, aweme_ids: Sequence[str]) -> ApiResponse[VideosData]:
        """Return up to 50 videos by id; unavailable ones are in `filter_list` with a reason."""
        return self.send(operations.videos(aweme_ids, is_web=True))

    def videos_v1(self, aweme_ids: Sequence[str]) -> ApiResponse[VideosData]:
        """Return up to 10 videos by id, through the app endpoint."""
        return self.send(operations.videos(aweme_ids, is_web=False))

    def music_search(self, keyword: str) -> ApiResponse[object]:
        """Always raise `UnsupportedError`: the platform protects this search."""
        return self.send(operations.music_search(keyword))

    def video_search(self, keyword: str) -> ApiResponse[object]:
        """Always raise `UnsupportedError`: the platform protects this search."""
        return self.send(operations.video_search(keyword))

    def chart_history(self, start_date: str, end_date: str) -> ApiResponse[ChartHistoryData]:
        """Return the top 20 of one chart issue per ten days of the range (`YYYY-MM-DD`)."""
        return self.send(operations.chart_history(start_date, end_date))

    def create_job(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> ApiResponse[JobData]:
        """Start a scan of a track (202), or return a stored result (200)."""
        return self.send(operations.create_job(music, keywords, options))

    def create_search_job(
        self, keyword: str, *, keywords: Sequence[str] = (), **options: Unpack[ScanOptions]
    ) -> ApiResponse[JobData]:
        """Start a search by the name of a song. It confirms nothing."""
        return self.send(operations.create_search_job(keyword, keywords, options))

    def job(self, job_id: str) -> ApiResponse[JobData]:
        """Return a job."""
        return self.send(operations.job(job_id))

    def cancel_job(self, job_id: str) -> ApiResponse[JobData]:
        """Cancel a job. Everything read so far is kept."""
        return self.send(operations.cancel_job(job_id))

    def jobs(
        self, *, limit: int | None = None, status: JobStatus | None = None
    ) -> ApiResponse[JobListData]:
        """Return the newest jobs, without results."""
        return self.send(operations.jobs(limit, status))

    def wait(
        self,
        job_id: str,
        *,
        timeout_s: float = float("inf"),
        on_change: Callable[[JobData], None] | None = None,
    ) -> JobData:
        """Wait for a job by its events, or by polling, and return it when it is completed.

        Raises:
            JobFailedError, JobCancelledError: It ended without a result.
            WaitTimeoutError: It did not end within `timeout_s`.
        """
        job = None
        with closing(self.watch(job_id, timeout_s=timeout_s)) as changes:
            for job in changes:
                if on_change is not None:
                    on_change(job)
                found = completed_job(job)
                if found is not None:
                    return found
        raise WaitTimeoutError(job, job_id=job_id, timeout_s=timeout_s)

    def watch(
        self, job_id: str, *, timeout_s: float = float("inf")
    ) -> Generator[JobData, None, None]:
        """Yield the job at each change, until it ends or the time is over."""
        until = time.monotonic() + timeout_s
        path = operations.job_events(job_id)
        with closing(self._listen(path, silence_s=max(0.1, timeout_s))) as events:
            for job in events:
                if job is not None:
                    yield job
                if time.monotonic() >= until or (job is not None and job["status"] in FINAL):
                    return
        while True:
            answer = self.job(job_id)
            yield answer.data
            pause = answer.retry_after or POLL_S
            if answer.data["status"] in FINAL or time.monotonic() + pause > until:
                return
            self._sleep(pause)

    def each_user_post(
        self, sec_user_id: str, *, count: int = 20, sort_type: int = 0
    ) -> Iterator[VideoDocument]:
        """Iterate over all available posts of an account."""
        return self._pages(
            lambda cursor: operations.user_posts(sec_user_id, cursor, count, sort_type),
            "max_cursor",
        )

    def each_music_video(
        self, music_id: str, *, count: int = 20, refresh: bool = False
    ) -> Iterator[VideoDocument]:
        """Iterate over the observed videos of a music id, as of the first page."""
        return self._pages(
            lambda cursor: operations.music_videos(music_id, cursor, count, refresh and not cursor),
            "cursor",
        )

    def each_hashtag_video(
        self, ch_id: str, *, count: int = 15, sort_type: int = 0, refresh: bool = False
    ) -> Iterator[VideoDocument]:
        """Iterate over the observed videos of a hashtag, as of the first page."""
        return self._pages(
            lambda cursor: operations.hashtag_videos(
                ch_id, cursor, count, sort_type, refresh and not cursor
            ),
            "cursor",
        )
