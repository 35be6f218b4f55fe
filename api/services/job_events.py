"""Server-sent events of a job: the job document at each change, the final one last.

The id of an event is the fingerprint of its document, so a client that reconnects with
`Last-Event-ID` gets the next change and not the same state again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.services.job_feed import JobBroadcaster, JobSubscription

HEARTBEAT_S = 10.0
MAX_STREAM_S = 3600.0  # a stalled client must not hold its stream for ever
RECONNECT_AFTER_MS = 2000
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class JobEvents(StreamingResponse):
    """The event stream of one client. It always unsubscribes when it ends."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: JobBroadcaster,
        watch: JobSubscription,
        *,
        known: str | None,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        super().__init__(_events(watch, known, heartbeat_s), headers=HEADERS)
        self._feed = feed
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the job ends, the client disconnects, the service stops or `MAX_STREAM_S` is
        over.
        """
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_STREAM_S):
                    await super().__call__(scope, receive, send)
        finally:
            self._feed.leave(self._watch)


async def _events(
    watch: JobSubscription, known: str | None, heartbeat_s: float
) -> AsyncIterator[bytes]:
    yield format_sse_event(retry=RECONNECT_AFTER_MS)
    while not watch.is_over:
        shown = await watch.take(within_s=heartbeat_s)
        if shown is None:
            yield KEEPALIVE_COMMENT
        elif shown.data.tag != known:
            known = shown.data.tag
            name = "ended" if shown.is_final else "progress"
            yield format_sse_event(data_str=shown.data.body.decode(), event=name, id=known)
        if shown is not None and shown.is_final:
            return
