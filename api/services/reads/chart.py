"""Chart history: stored issues, with missing ones read now or left to the background.

Decides when to refresh the list of issues, what a request waits for, and what the response says.
Not here: the rules (`pipelines.charts.rules.history`), HTTP (`api/routes/chart.py`).
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Self

import structlog
from anyio.to_thread import run_sync

from api.schemas.chart import ChartHistoryDocument
from api.services.reads.documents import Songs, to_history_document
from api.services.reads.sources import AGAIN_AFTER_S, Deadline, ReadOutcomes, Sources
from pipelines.captures.chart import ChartCaptures
from pipelines.charts.rules import history
from warehouse.control import ControlStore
from warehouse.control import captures as shared_captures
from warehouse.control.captures import BacklogItem
from warehouse.queries.charts import KnownIssues, read_known_issues, read_songs_of_issues
from warehouse.records import errors
from warehouse.records.charts import SONG_LIMIT, ChartIssue

MAX_PARALLEL_READS = 8
BACKLOG_RATE = 4.0
"""Maximum issues per second read in the background, used to compute `Retry-After`."""

ISSUE_LIST = ""
LATE = "deadline"


@dataclass(frozen=True, slots=True)
class ChartHistoryResult:
    """Result of a read.

    `retry_after` is set if a later request will return more. `until` is when a newer list may
    change it, None if none can.
    """

    document: ChartHistoryDocument
    retry_after: float | None
    until: datetime | None


class ChartHistoryReader:
    """Reads the chart history in one process.

    Args:
        sources: The configured sources.
        leave: Queues issues that did not fit into a request.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        leave: Callable[[Iterable[ChartIssue]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = sources
        self._leave = leave
        self._refusals = _RefusalCache(sources.settings.negative_ttl, clock)

    async def read(self, requested: history.Span, *, deadline: Deadline) -> ChartHistoryResult:
        """Return the nodes of a range of days.

        Raises:
            InvalidDateRangeError: The range starts after the latest issue.
            UpstreamError: The chart refused every issue, and none is stored.
            WarehouseError: A store is unavailable.
        """
        async with AsyncExitStack() as stack:
            reader = _ChartReader(self._sources, stack, self._refusals, deadline)
            listed, refusal = await self._issues(requested, reader)
            if refusal is not None and requested.start > listed.latest:
                raise refusal  # the issue may exist, but the list could not be read
            span = history.cut_span(requested, latest=listed.latest)
            nodes = history.choose_issues(span, listed.issues)
            issues = {node.issue.volid: node.issue for node in nodes if node.issue is not None}
            stored = await run_sync(partial(self._stored, issues))
            read = await reader.songs([issues[volid] for volid in issues if volid not in stored])
        songs = {**stored, **read.values}
        if read.errors and not (songs or read.late):
            raise next(iter(read.errors.values()))
        if read.late:
            await run_sync(self._leave, [issues[volid] for volid in read.late])
        awaited_by = _next_issue_by(listed, span)
        document = to_history_document(
            span,
            nodes,
            songs,
            read.errors,
            latest=listed.latest,
            next_issue_by=awaited_by,
            is_refreshed=refusal is None,
            data_provider=self._sources.data_provider,
            is_demo=self._sources.is_demo,
        )
        listed_until = history.list_serves_until(
            requested, latest=listed.latest, listed_at=listed.listed_at
        )
        return ChartHistoryResult(
            document,
            self._retry_after(read, refusal),
            min(filter(None, (listed_until, awaited_by)), default=None),
        )

    async def _issues(
        self, requested: history.Span, reader: "_ChartReader"
    ) -> tuple[KnownIssues, errors.UpstreamError | None]:
        """Return the listed issues, with the error if the list could not be refreshed."""
        read_issues = partial(
            read_known_issues,
            self._sources.engine,
            first=requested.oldest_issue,
            last=requested.end,
        )
        listed = await run_sync(read_issues)
        if listed is not None:
            until = history.list_serves_until(
                requested, latest=listed.latest, listed_at=listed.listed_at
            )
            if until is None or datetime.now(UTC) <= until:
                return listed, None
        try:
            await reader.list_issues()
        except errors.UpstreamError as error:
            if listed is None:
                raise
            return listed, error
        listed_now = await run_sync(read_issues)
        if listed_now is None:
            raise errors.ChartUnavailableError(
                "The chart lists no issue with a date", surface="chart_issues", reason="no_dates"
            )
        return listed_now, None

    def _stored(self, issues: Mapping[str, ChartIssue]) -> dict[str, Songs]:
        """Return stored songs that belong to their issue; other issues are read again."""
        stored = read_songs_of_issues(self._sources.engine, list(issues), limit=SONG_LIMIT)
        checked = {
            volid: history.songs_of(
                issues[volid], entry.songs, volid=volid, chart_date=entry.chart_date
            )
            for volid, entry in stored.items()
        }
        return {volid: songs for volid, songs in checked.items() if songs is not None}

    def _retry_after(
        self, read: ReadOutcomes[str, Songs], refusal: errors.UpstreamError | None
    ) -> float | None:
        if read.late:
            return max(AGAIN_AFTER_S, math.ceil(len(read.late) / BACKLOG_RATE))
        return float(self._sources.settings.negative_ttl) if read.errors or refusal else None


def _next_issue_by(listed: KnownIssues, span: history.Span) -> datetime | None:
    """Return by when the newest issue of the span is released, if it is not yet."""
    if span.end < listed.latest:
        return None
    released_by = history.next_issue_by(
        listed.latest, now=datetime.now(UTC), scheduled_at=listed.scheduled_at
    )
    is_listed = listed.scheduled_at is not None and released_by == listed.scheduled_at
    return released_by if span.is_cut or is_listed else None


@dataclass(slots=True)
class _ChartReader:
    """Chart reads of one request. The source is opened on first use."""

    sources: Sources
    stack: AsyncExitStack
    refusals: "_RefusalCache"
    deadline: Deadline
    _captures: ChartCaptures | None = None

    async def list_issues(self) -> None:
        """Read the list of issues into the store."""
        with self.refusals.remembered(ISSUE_LIST):
            async with self.deadline.guard("chart_issues"):
                captures = await self._open()
                await captures.issues()
        await captures.flush()

    async def songs(self, issues: Sequence[ChartIssue]) -> ReadOutcomes[str, Songs]:
        """Read issues. Refusals and missed deadlines are reported per issue.

        Raises:
            WarehouseError: The songs could not be stored.
        """
        if not issues:
            return ReadOutcomes()
        by_volid = {issue.volid: issue for issue in issues}
        try:
            async with self.deadline.guard("chart_songs"):  # others may have the source
                captures = await self._open()
        except errors.UnreachableError:
            return ReadOutcomes(late=list(by_volid))

        async def read(volid: str) -> Songs:
            with self.refusals.remembered(volid):
                return await _songs(captures, by_volid[volid])

        outcomes = await self.deadline.each(by_volid, read, parallel=MAX_PARALLEL_READS)
        for error in outcomes.errors.values():
            if not isinstance(error, errors.UpstreamError):
                raise error
        return outcomes

    async def _open(self) -> ChartCaptures:
        if self._captures is None:
            self._captures = await self.stack.enter_async_context(self.sources.chart())
        return self._captures


@dataclass(slots=True)
class _RefusalCache:
    """Remembers recent refusals of the chart, so that it is not asked for the same thing again."""

    ttl_s: float
    clock: Callable[[], float]
    _errors: dict[str, tuple[float, errors.UpstreamError]] = field(default_factory=dict)

    @contextmanager
    def remembered(self, name: str) -> Iterator[None]:
        """Request `name` inside this block.

        Raises:
            UpstreamError: The remembered refusal, or the one raised inside the block.
        """
        until, refusal = self._errors.get(name, (0.0, None))
        if refusal is not None and self.clock() < until:
            raise refusal.with_traceback(None)
        try:
            yield
        except errors.UpstreamError as error:
            if error.reason != LATE:  # a deadline is ours, not a refusal of the chart
                self._errors[name] = (self.clock() + self.ttl_s, error)
            raise
        self._errors.pop(name, None)


async def _songs(captures: ChartCaptures, issue: ChartIssue) -> Songs:
    """Read the songs of one issue.

    Raises:
        ChartUnavailableError: The songs belong to another issue.
    """
    page = await captures.songs(issue.volid, chart_date=issue.chart_date, limit=SONG_LIMIT)
    songs = history.songs_of(issue, page.songs, volid=page.volid, chart_date=page.chart_date)
    if songs is None:
        raise errors.ChartUnavailableError(
            f"The songs returned for issue {issue.volid} belong to another issue",
            surface=page.surface,
            reason="other_issue",
        )
    return songs


# Reads chart issues in the background that did not fit into a request.
#
# The queue is in the control store, so it survives a restart, and any of several API processes may
# work on it. The work runs in a thread with its own event loop, so requests are not delayed. It
# needs no worker, because the chart is also read where scans never run.

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
            except errors.SametrackError as error:
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
        except errors.UpstreamError as error:
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
