"""How requests are sent, again where that is safe, and how event streams are read.

The twin of this module without `async` is written by `make docs`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, Self

import httpx2

from ..connection import EVENTS_SILENCE_S, Connection
from ..errors import ServiceError
from ..events import EventLines
from ..paging import next_cursor
from ..requests.operations import Ask
from ..responses import Answer, pause_before_again, to_answer, to_no_answer
from ..types.answers import JobData, Video


class AsyncSender:
    """One service and the connections to it. Close it, or use it in an `async with`."""

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
            trust_env=False,  # the service is on this machine or named by its owner: no proxy
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def send[Data](self, ask: Ask[Data], *, timeout_s: float | None = None) -> Answer[Data]:
        """Send one request, again where that is safe and of use.

        Raises:
            ServiceError: The service said no.
            NoAnswerError: None answers, or what does is no Sametrack service.
        """
        attempt = 0
        while True:
            try:
                return await self._send(ask, timeout_s)
            except ServiceError as error:
                pause = pause_before_again(ask, error, attempt=attempt, limits=self.connection)
                if pause is None:
                    raise
            except httpx2.HTTPError as error:
                pause = pause_before_again(ask, error, attempt=attempt, limits=self.connection)
                if pause is None:
                    raise to_no_answer(self.connection.base_url, error) from error
            attempt += 1
            await self._sleep(pause)

    async def _send[Data](self, ask: Ask[Data], timeout_s: float | None) -> Answer[Data]:
        response = await self._http.request(
            ask.method,
            ask.path,
            params=ask.params,
            json=ask.body,
            timeout=timeout_s or self.connection.timeout_s,
        )
        return to_answer(ask, response)

    async def _pages(self, ask_at: Callable[[int], Ask[Any]], name: str) -> AsyncIterator[Video]:
        """The works of every page; the cursor of a page is its field `name`."""
        cursor: int | None = 0
        while cursor is not None:
            now = cursor
            data = (await self.send(ask_at(now))).data
            for work in data["aweme_list"]:
                yield work
            cursor = next_cursor(data, name, now=now)

    async def _listen(self, path: str, *, silence_s: float) -> AsyncGenerator[JobData | None, None]:
        """Documents of an event stream, None for its other signs of life; whatever ends it, ends
        this too.
        """
        lines = EventLines()
        wait_s = min(EVENTS_SILENCE_S, silence_s)
        try:
            async with self._http.stream("GET", path, timeout=wait_s) as response:
                if response.is_success:
                    async for line in response.aiter_lines():
                        yield lines.take(line)
        except httpx2.HTTPError:
            return  # polling goes on where listening broke off
