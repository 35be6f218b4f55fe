"""A client of the service: sends requests with retries, and waits for jobs.

`api/client/blocking/` is made of `api/client/awaiting/` by `python -m api.generate.client`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

import httpx2

from .. import responses
from ..connection import ANSWER_S, EVENTS_PAUSE_S, EVENTS_SILENCE_S, AsyncPause, Connection
from ..errors import ConnectionFailedError, ServiceError, WaitTimeoutError
from ..operations import JOB_EVENTS, Operations
from ..request import ApiRequest

if TYPE_CHECKING:
    from .. import answers

type VideoPage = answers.HashtagVideosData | answers.MusicVideosData | answers.UserPostsData


class AsyncClient(Operations):
    """A client of one service. Close it, or use it as a context manager.

    Its operations are the methods of `Operations`.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: AsyncPause = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.connection = connection or Connection()
        self._sleep = sleep
        self._clock = clock
        self._http = httpx2.AsyncClient(
            base_url=self.connection.base_url,
            headers=dict(self.connection.headers()),
            timeout=self.connection.timeout_s,
            transport=transport,
            verify=self.connection.is_encrypted,
            trust_env=False,  # ignore proxy variables: the service is local or given by the user
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send[Data](self, request: ApiRequest[Data]) -> responses.ApiResponse[Data]:
        """Send a request; retry it where that is safe and useful, within its time limit.

        Raises:
            ServiceError: The service returned an error response.
            ConnectionFailedError: The service is unreachable, or not a Sametrack service.
        """
        # Retries share one time limit; each request states what is left of it.
        limits, attempt, begun = self.connection, 0, self._clock()
        left_s = limit_s = request.timeout_s or limits.timeout_s
        while True:
            try:
                return await self._send(request, left_s)
            except (ServiceError, httpx2.HTTPError) as error:
                spent_s = self._clock() - begun
                pause = responses.retry_delay(
                    request, error, attempt=attempt, limits=limits, left_s=limit_s - spent_s
                )
                attempt += 1
                if pause is None and isinstance(error, httpx2.HTTPError):
                    raise responses.to_connection_error(
                        limits.base_url, error, attempts=attempt, spent_s=spent_s
                    ) from error
                if pause is None:
                    raise
            await self._sleep(pause)
            left_s = limit_s - (self._clock() - begun)

    async def wait(
        self,
        job_id: str,
        *,
        timeout_s: float = float("inf"),
        on_change: Callable[[answers.JobData], None] | None = None,
    ) -> answers.JobData:
        """Wait for a job by its events, or by polling, and return it when it is completed.

        Raises:
            JobFailedError, JobCancelledError: It ended without a result.
            WaitTimeoutError: It did not end within `timeout_s`.
        """
        job = None
        async with aclosing(self.watch(job_id, timeout_s=timeout_s)) as changes:
            async for job in changes:
                if on_change is not None:
                    on_change(job)
                completed = responses.completed_job(job)
                if completed is not None:
                    return completed
        raise WaitTimeoutError(job, job_id=job_id, timeout_s=timeout_s)

    async def watch(
        self, job_id: str, *, timeout_s: float = float("inf")
    ) -> AsyncGenerator[answers.JobData, None]:
        """Yield the job at each change, until it ends or the time is over.

        If the service restarts meanwhile, wait for it about a minute.

        Raises:
            ServiceError: The service does not know the job, or rejects the request.
            ConnectionFailedError: The service is unreachable from the start, or stays so.
        """
        until = time.monotonic() + timeout_s
        last: answers.JobData | None = None
        # No poll may fail until the service has answered once: it may be the wrong address.
        lost_polls = responses.OUTAGE_POLLS
        async with aclosing(self._listen(job_id, until=until)) as events:
            async for job in events:
                lost_polls = 0
                if job is not None:
                    last = job
                    yield job
                    if job["status"] in responses.FINAL:
                        return
        # The stream ended early: the service restarts, or a proxy cut it. Continue by polling.
        async with aclosing(self._poll(job_id, until=until, lost_polls=lost_polls)) as polls:
            async for job in polls:
                if job != last:
                    last = job
                    yield job

    def each_user_post(
        self, sec_user_id: str, *, count: int = 20, sort_type: int = 0
    ) -> AsyncIterator[answers.VideoDocument]:
        """Iterate over all available posts of an account."""
        return self._pages(
            lambda cursor: Operations.user_posts.request(
                sec_user_id, max_cursor=cursor, count=count, sort_type=sort_type
            )
        )

    def each_music_video(
        self, music_id: str, *, count: int = 20, refresh: bool = False
    ) -> AsyncIterator[answers.VideoDocument]:
        """Iterate over the observed videos of a music id, as of the first page."""
        return self._pages(
            lambda cursor: Operations.music_videos.request(
                music_id, cursor=cursor, count=count, refresh=refresh and not cursor
            )
        )

    def each_hashtag_video(
        self, ch_id: str, *, count: int = 15, sort_type: int = 0, refresh: bool = False
    ) -> AsyncIterator[answers.VideoDocument]:
        """Iterate over the observed videos of a hashtag, as of the first page."""
        return self._pages(
            lambda cursor: Operations.hashtag_videos.request(
                ch_id,
                cursor=cursor,
                count=count,
                sort_type=sort_type,
                refresh=refresh and not cursor,
            )
        )

    async def _send[Data](
        self, request: ApiRequest[Data], left_s: float
    ) -> responses.ApiResponse[Data]:
        response = await self._http.request(
            request.method,
            request.path,
            params=request.params,
            json=request.body,
            headers={"Prefer": f"wait={max(1, round(left_s))}"},
            # The answer that the time is over must arrive, too.
            timeout=max(0.1, left_s + min(ANSWER_S, left_s)),
        )
        return responses.to_api_response(request, response)

    async def _pages[Page: VideoPage](
        self, request_at: Callable[[int], ApiRequest[Page]]
    ) -> AsyncIterator[answers.VideoDocument]:
        """Yield the videos of every page."""
        cursor: int | None = 0
        while cursor is not None:
            # The cursor names the page; the list may have grown since the first one.
            current = cursor
            data = (await self.send(request_at(current))).data
            for video in data["aweme_list"]:
                yield video
            cursor = responses.next_cursor(data, current=current)

    async def _listen(
        self, job_id: str, *, until: float
    ) -> AsyncGenerator[answers.JobData | None, None]:
        """Yield the documents of an event stream, and None for its other lines.

        It ends where its next line may come after `until`.
        """
        path = JOB_EVENTS.format(job_id=quote(job_id, safe=""))
        events = responses.EventText()
        wait_s = min(EVENTS_SILENCE_S, max(0.1, until - time.monotonic()))
        try:
            async with self._http.stream("GET", path, timeout=wait_s) as response:
                if response.is_success:
                    async for text in response.aiter_text():
                        for job in events.feed(text):
                            yield job
                        # The next line may come too late to notice that the time is over.
                        if until - time.monotonic() < EVENTS_PAUSE_S:
                            return
        except (httpx2.HTTPError, ValueError):
            return  # the caller continues by polling

    async def _poll(
        self, job_id: str, *, until: float, lost_polls: int
    ) -> AsyncGenerator[answers.JobData, None]:
        """Yield the job at every poll. `lost_polls`: how many have just failed in a row."""
        while True:
            try:
                answer = await self.job(job_id)
            except ConnectionFailedError:
                lost_polls += 1
                if (
                    lost_polls > responses.OUTAGE_POLLS
                    or time.monotonic() + responses.POLL_S > until
                ):
                    raise
                await self._sleep(responses.POLL_S)
                continue
            # A later outage is waited for as long as this one.
            lost_polls = 0
            yield answer.data
            pause = answer.retry_after or responses.POLL_S
            if answer.data["status"] in responses.FINAL or time.monotonic() + pause > until:
                return
            await self._sleep(pause)
