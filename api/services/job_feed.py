"""Publishes job changes to subscribers, as server-sent events: the final document comes last.

One task polls all watched jobs for all streams. A slow subscriber misses intermediate states but
never the last one. The id of an event is the fingerprint of its document, so a client that
reconnects with `Last-Event-ID` gets the next change and not the same state again. Not here: the job
document (`job_responses.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import structlog
from anyio.to_thread import run_sync
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.services.job_responses import JobSnapshot
from warehouse.records.errors import CapacityExhaustedError, JobNotFoundError, SametrackError

POLL_INTERVAL_S = 0.25
RETRY_AFTER_S = 5.0

type ReadJob = Callable[[str], JobSnapshot]
"""Reads the current state of a job. Blocks."""

_log = structlog.get_logger("api")
HEARTBEAT_S = 10.0
MAX_STREAM_S = 3600.0  # a stalled client must not hold its stream for ever
RECONNECT_AFTER_MS = 2000
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class JobSubscription:
    """One subscription to a job. It holds the newest state that was not consumed yet."""

    def __init__(self, job_id: str, first: JobSnapshot, look: ReadJob) -> None:
        self.job_id = job_id
        self.look = look
        self.is_over = False
        self._newest: JobSnapshot | None = first
        self._news = asyncio.Event()
        self._news.set()

    def offer(self, shown: JobSnapshot) -> None:
        """Set the newest state, replacing one that was not consumed."""
        self._newest = shown
        self._news.set()

    def end(self) -> None:
        """End the subscription: no more states will come."""
        self.is_over = True
        self._news.set()

    async def take(self, *, within_s: float) -> JobSnapshot | None:
        """Wait for the newest state. Return None on a timeout or when the subscription has
        ended.
        """
        try:
            async with asyncio.timeout(within_s):
                await self._news.wait()
        except TimeoutError:
            return None
        self._news.clear()
        taken, self._newest = self._newest, None
        return taken


class JobBroadcaster:
    """All subscriptions of this process, on one event loop. `limit` is their maximum number."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._watches: set[JobSubscription] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_stopped = False

    def follow(self, job_id: str, *, first: JobSnapshot, look: ReadJob) -> JobSubscription:
        """Subscribe to a job. The caller must call `leave` in the end.

        Raises:
            CapacityExhaustedError: The limit is reached, or the service is shutting down.
        """
        if self._is_stopped or len(self._watches) >= self._limit:
            raise CapacityExhaustedError(
                f"All event streams are in use: {len(self._watches)} of {self._limit}",
                hint="Poll the job instead, or raise EVENT_STREAMS_MAX",
                retry_after=RETRY_AFTER_S,
            )
        watch = JobSubscription(job_id, first, look)
        self._watches.add(watch)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return watch

    def leave(self, watch: JobSubscription) -> None:
        """Unsubscribe. The polling task ends with the last subscription."""
        self._watches.discard(watch)
        if not self._watches and self._task is not None:
            self._task.cancel()
            self._task = None

    def stop(self) -> None:
        """End every stream now: an open stream would keep the service from shutting down."""
        self._is_stopped = True
        for watch in self._watches:
            watch.end()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            wanted = {watch.job_id: watch.look for watch in self._watches}
            found = await run_sync(_read_jobs, wanted)
            for watch in tuple(self._watches):
                # Who subscribed during the read is served by the next one.
                if watch.job_id in found:
                    _publish(watch, found[watch.job_id])


def _publish(watch: JobSubscription, shown: JobSnapshot | None) -> None:
    if shown is None:
        watch.end()
    else:
        watch.offer(shown)


def _read_jobs(wanted: Mapping[str, ReadJob]) -> dict[str, JobSnapshot | None]:
    """Read each job, None if its streams must end. A job that cannot be read is retried later."""
    found: dict[str, JobSnapshot | None] = {}
    for job_id, look in wanted.items():
        try:
            found[job_id] = look(job_id)
        except JobNotFoundError:
            found[job_id] = None
        except SametrackError as error:
            _log.warning("watched job could not be read", job_id=job_id, error=error.type)
        except Exception:  # noqa: BLE001  # a fault of ours ends the streams of this job alone
            _log.exception("reading a watched job failed", job_id=job_id)
            found[job_id] = None
    return found


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
