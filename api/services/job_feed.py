"""Publishes job changes to subscribers, as server-sent events: the final document comes last.

One task polls all watched jobs for all streams. A slow subscriber misses intermediate states but
never the last one. The id of an event is the fingerprint of its document, so a client that
reconnects with `Last-Event-ID` gets the next change and not the same state again. Not here: the job
document (`job_document.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import structlog
from anyio.to_thread import run_sync
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.services.job_document import JobSnapshot
from warehouse.records.errors import CapacityExhaustedError, JobNotFoundError, SametrackError

POLL_INTERVAL_S = 0.25
RETRY_AFTER_S = 5.0

type ReadJob = Callable[[str], JobSnapshot]
"""Reads the current state of a job. Blocks."""

_log = structlog.get_logger("api")
HEARTBEAT_S = 10.0
# A stalled client must not hold its stream for ever.
MAX_STREAM_S = 3600.0
RECONNECT_AFTER_MS = 2000
# A proxy such as nginx would otherwise collect events before it passes them on.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class JobSubscription:
    """One subscription to a job. It holds the newest state that was not consumed yet."""

    def __init__(self, job_id: str, first: JobSnapshot, read_job: ReadJob) -> None:
        self.job_id = job_id
        self.read_job = read_job
        self.is_over = False
        self._newest: JobSnapshot | None = first
        self._has_news = asyncio.Event()
        self._has_news.set()

    def publish(self, snapshot: JobSnapshot) -> None:
        """Set the newest state, replacing one that was not consumed."""
        self._newest = snapshot
        self._has_news.set()

    def end(self) -> None:
        """End the subscription: no more states will come."""
        self.is_over = True
        self._has_news.set()

    async def next(self, *, within_s: float) -> JobSnapshot | None:
        """Wait for the newest state. Return None on a timeout or when the subscription has
        ended.
        """
        try:
            async with asyncio.timeout(within_s):
                await self._has_news.wait()
        except TimeoutError:
            return None
        # The end of the subscription is news without a state.
        self._has_news.clear()
        snapshot, self._newest = self._newest, None
        return snapshot


class JobBroadcaster:
    """All subscriptions of this process, on one event loop. `limit` is their maximum number."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._subscriptions: set[JobSubscription] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_stopped = False

    def subscribe(self, job_id: str, *, first: JobSnapshot, read_job: ReadJob) -> JobSubscription:
        """Subscribe to a job. The caller must call `unsubscribe` in the end.

        Raises:
            CapacityExhaustedError: The limit is reached, or the service is shutting down.
        """
        if self._is_stopped or len(self._subscriptions) >= self._limit:
            raise CapacityExhaustedError(
                f"All event streams are in use: {len(self._subscriptions)} of {self._limit}",
                hint="Poll the job instead, or raise EVENT_STREAMS_MAX",
                retry_after=RETRY_AFTER_S,
            )
        subscription = JobSubscription(job_id, first, read_job)
        self._subscriptions.add(subscription)
        # One task for all subscriptions: ten clients of a job cost one read of it.
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._poll_jobs())
        return subscription

    def unsubscribe(self, subscription: JobSubscription) -> None:
        """Unsubscribe. The polling task ends with the last subscription."""
        self._subscriptions.discard(subscription)
        if not self._subscriptions and self._task is not None:
            self._task.cancel()
            self._task = None

    def stop(self) -> None:
        """End every stream now: an open stream would keep the service from shutting down."""
        self._is_stopped = True
        for subscription in self._subscriptions:
            subscription.end()

    async def _poll_jobs(self) -> None:
        """Read each job that has subscribers, once for all of them, until the task is cancelled."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            readers = {entry.job_id: entry.read_job for entry in self._subscriptions}
            snapshots = await run_sync(_read_jobs, readers)
            for subscription in tuple(self._subscriptions):
                # A subscription that began during the read is served by the next one.
                if subscription.job_id not in snapshots:
                    continue
                snapshot = snapshots[subscription.job_id]
                if snapshot is None:
                    subscription.end()
                else:
                    subscription.publish(snapshot)


def _read_jobs(readers: Mapping[str, ReadJob]) -> dict[str, JobSnapshot | None]:
    """Read each job, None if its streams must end. A job that cannot be read is retried later."""
    snapshots: dict[str, JobSnapshot | None] = {}
    for job_id, read_job in readers.items():
        try:
            snapshots[job_id] = read_job(job_id)
        except JobNotFoundError:
            snapshots[job_id] = None
        except SametrackError as error:
            _log.warning("watched job could not be read", job_id=job_id, error=error.type)
        except Exception:  # noqa: BLE001  # a fault of ours ends the streams of this job alone
            _log.exception("reading a watched job failed", job_id=job_id)
            snapshots[job_id] = None
    return snapshots


class JobEvents(StreamingResponse):
    """The event stream of one client. It always unsubscribes when it ends.

    Args:
        feed: Where the subscription belongs to.
        subscription: The states to send.
        last_tag: Fingerprint of the state that the client has already.
        heartbeat_s: Seconds without an event after which a comment keeps the connection open.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: JobBroadcaster,
        subscription: JobSubscription,
        *,
        last_tag: str | None,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self._feed = feed
        self._subscription = subscription
        self._last_tag = last_tag
        self._heartbeat_s = heartbeat_s
        super().__init__(self._events(), headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the job ends, the client disconnects, the service stops or `MAX_STREAM_S` is
        over.
        """
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_STREAM_S):
                    await super().__call__(scope, receive, send)
        finally:
            self._feed.unsubscribe(self._subscription)

    async def _events(self) -> AsyncIterator[bytes]:
        yield format_sse_event(retry=RECONNECT_AFTER_MS)
        while not self._subscription.is_over:
            snapshot = await self._subscription.next(within_s=self._heartbeat_s)
            if snapshot is None:
                yield KEEPALIVE_COMMENT
                continue
            # A state that the client has already is not sent again.
            if snapshot.data.tag != self._last_tag:
                self._last_tag = snapshot.data.tag
                name = "ended" if snapshot.is_final else "progress"
                body = snapshot.data.body.decode()
                yield format_sse_event(data_str=body, event=name, id=self._last_tag)
            if snapshot.is_final:
                return
