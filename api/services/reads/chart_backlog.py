"""Reads chart issues in the background that did not fit into a request.

The queue is in the control store, so it survives a restart, and any of several API processes may
work on it. The work runs in a thread with its own event loop, so requests are not delayed. It needs
no worker, because the chart is also read where scans never run.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Self

import structlog

from api.services.reads.chart import ChartHistoryReader
from api.services.reads.sources import Sources
from pipelines.captures.chart import ChartCaptures
from warehouse.control import ControlStore
from warehouse.control import captures as shared_captures
from warehouse.control.captures import BacklogItem
from warehouse.queries.charts import read_songs_of_issues
from warehouse.records.charts import SONG_LIMIT, ChartIssue
from warehouse.records.errors import SametrackError, UpstreamError

SURFACE = "chart_songs"
BATCH_SIZE = 10
LEASE_S = 120.0
"""Much longer than a batch takes; a longer lease would delay recovery from a killed process."""

MAX_ATTEMPTS = 3
RETRY_DELAY_S = 60.0
POLL_INTERVAL_S = 300.0
SHUTDOWN_TIMEOUT_S = 10.0
log = structlog.get_logger(__name__)


@dataclass(eq=False)
class ChartBacklog:
    """Captures queued issues while it is entered as a context manager.

    Attributes:
        store: The control store.
        open_chart: Opens captures of the chart, only when there is something to capture.
        is_known: Returns whether the songs of an issue are already stored.
    """

    store: ControlStore
    open_chart: Callable[[], AbstractAsyncContextManager[ChartCaptures]]
    is_known: Callable[[str], bool]

    def __post_init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chart backlog", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_up.wait(SHUTDOWN_TIMEOUT_S)
        return self

    def __exit__(self, *_exc: object) -> None:
        """Stop at the next step. Unfinished issues are due again at once for the next process.

        Finished captures are kept.
        """
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(SHUTDOWN_TIMEOUT_S)

    def leave(self, issues: Iterable[ChartIssue]) -> None:
        """Queue issues. Blocks on the disk, so do not call it on the event loop.

        Raises:
            WarehouseError: The control store cannot store them.
        """
        documents = {issue.volid: {"chart_date": _text(issue.chart_date)} for issue in issues}
        shared_captures.add_to_backlog(self.store, SURFACE, documents)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self._task = self._loop.create_task(self._work())
            self._is_up.set()
            try:
                self._loop.run_until_complete(self._task)
            except asyncio.CancelledError:
                return

    async def _work(self) -> None:
        while True:
            wait_s = POLL_INTERVAL_S
            try:
                while await self._capture_some():
                    pass
                wait_s = await asyncio.to_thread(self._until_next)
            except SametrackError as error:
                log.warning("chart backlog waits", error=error.type, detail=error.detail)
                wait_s = RETRY_DELAY_S
            except Exception:
                log.exception("chart backlog failed")
            await self._rest(wait_s)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()

    async def _capture_some(self) -> bool:
        """Capture one batch with one commit per table. Return False if nothing is due."""
        taken = await asyncio.to_thread(
            shared_captures.claim_backlog, self.store, SURFACE, limit=BATCH_SIZE, hold_s=LEASE_S
        )
        if not taken:
            return False
        try:
            async with self.open_chart() as captures:
                refused = [item for item in taken if not await self._is_captured(captures, item)]
        except BaseException:
            # stored issues are recognised on the next attempt
            names = [item.entity_id for item in taken]
            putting_back = asyncio.to_thread(
                shared_captures.postpone_backlog, self.store, SURFACE, names, wait_s=0
            )
            await asyncio.shield(putting_back)
            raise
        await asyncio.to_thread(self._settle, taken, refused)
        return True

    async def _is_captured(self, captures: ChartCaptures, item: BacklogItem) -> bool:
        if item.tries > MAX_ATTEMPTS:
            return False
        if await asyncio.to_thread(self.is_known, item.entity_id):
            return True
        day = item.document.get("chart_date")
        try:
            await captures.songs(
                item.entity_id,
                chart_date=date.fromisoformat(str(day)) if day else None,
                limit=SONG_LIMIT,
            )
        except UpstreamError as error:
            log.info("chart issue refused", volid=item.entity_id, error=error.type)
            return False
        return True

    def _settle(self, taken: list[BacklogItem], refused: list[BacklogItem]) -> None:
        """Remove captured issues, and retry refused ones later up to `MAX_ATTEMPTS` times."""
        again = [item for item in refused if item.tries < MAX_ATTEMPTS]
        for item in again:
            wait_s = RETRY_DELAY_S * item.tries
            shared_captures.postpone_backlog(self.store, SURFACE, [item.entity_id], wait_s=wait_s)
        shared_captures.remove_from_backlog(
            self.store, SURFACE, [item.entity_id for item in taken if item not in again]
        )

    def _until_next(self) -> float:
        due = shared_captures.backlog_due_at(self.store, SURFACE)
        if due is None:
            return POLL_INTERVAL_S
        return min(POLL_INTERVAL_S, max(1.0, (due - datetime.now(UTC)).total_seconds()))


@contextmanager
def open_chart_history(sources: Sources | None) -> Iterator[ChartHistoryReader | None]:
    """Open the chart history with its background reader. Yields None without sources."""
    if sources is None:
        yield None
        return
    engine = sources.engine
    later = ChartBacklog(
        store=sources.control,
        open_chart=sources.apart().chart,
        is_known=lambda volid: volid in read_songs_of_issues(engine, [volid], limit=1),
    )
    with later:
        yield ChartHistoryReader(sources, leave=later.leave)


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
