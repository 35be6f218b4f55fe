"""Sends requests with retries, and reads event streams.

`make docs` generates the synchronous module from this one.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, Self

import httpx2

from ..connection import EVENTS_SILENCE_S, Connection
from ..errors import ServiceError
from ..events import EventLines
from ..paging import next_cursor
from ..requests.operations import ApiRequest
from ..responses import ApiResponse, retry_delay, to_api_response, to_connection_error
from ..types.answers import JobData, VideoDocument


class AsyncSender:
    """Holds the connections to one service. Close it, or use it in an `async with`."""

    def __init__(
        self,
        connection: Connection | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.connection = connection or Connection()
        self._sleep = sleep
        self._http = httpx2.AsyncClient(
            base_url=self.connection.base_url,
            headers=dict(self.connection.headers()),
            timeout=self.connection.timeout_s,
            transport=transport,
            trust_env=False,  # ignore proxy variables: the service is local or given by the user
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send[Data](
        self, ask: ApiRequest[Data], *, timeout_s: float | None = None
    ) -> ApiResponse[Data]:
        """Send a request; retry it where that is safe and useful.

        Raises:
            ServiceError: The service returned an error response.
            ConnectionFailedError: The service is unreachable, or not a Sametrack service.
        """
        attempt = 0
        while True:
            try:
                return await self._send(ask, timeout_s)
            except ServiceError as error:
                pause = retry_delay(ask, error, attempt=attempt, limits=self.connection)
                if pause is None:
                    raise
            except httpx2.HTTPError as error:
                pause = retry_delay(ask, error, attempt=attempt, limits=self.connection)
                if pause is None:
                    raise to_connection_error(self.connection.base_url, error) from error
            attempt += 1
            await self._sleep(pause)

    async def _send[Data](
        self, ask: ApiRequest[Data], timeout_s: float | None
    ) -> ApiResponse[Data]:
        response = await self._http.request(
            ask.method,
            ask.path,
            params=ask.params,
            json=ask.body,
            timeout=timeout_s or self.connection.timeout_s,
        )
        return to_api_response(ask, response)

    async def _pages(
        self, ask_at: Callable[[int], ApiRequest[Any]], name: str
    ) -> AsyncIterator[VideoDocument]:
        """Yield the videos of every page; `name` is the field of the cursor."""
        cursor: int | None = 0
        while cursor is not None:
            now = cursor
            data = (await self.send(ask_at(now))).data
            for video in data["aweme_list"]:
                yield video
            cursor = next_cursor(data, name, now=now)

    async def _listen(self, path: str, *, silence_s: float) -> AsyncGenerator[JobData | None, None]:
        """Yield the documents of an event stream, and None for its other lines."""
        lines = EventLines()
        wait_s = min(EVENTS_SILENCE_S, silence_s)
        try:
            async with self._http.stream("GET", path, timeout=wait_s) as response:
                if response.is_success:
                    async for line in response.aiter_lines():
                        yield lines.take(line)
        except httpx2.HTTPError:
            return  # the caller continues by polling
