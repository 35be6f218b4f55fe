"""Chart history: stored issues, with missing ones read now or left to the background.

Decides when to refresh the list of issues, what a request waits for, and what the response says.
Not here: the rules (`pipelines.charts.rules.history`), HTTP (`api/routes/chart.py`).
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from anyio.to_thread import run_sync

from api.schemas.chart import ChartHistoryDocument
from api.services.reads.deadline import AGAIN_AFTER_S, Deadline, ReadOutcomes
from api.services.reads.documents import Songs, to_history_document
from api.services.reads.sources import Sources
from pipelines.captures.chart import ChartCaptures
from pipelines.charts.rules import history
from warehouse.queries.charts import KnownIssues, read_known_issues, read_songs_of_issues
from warehouse.records.charts import SONG_LIMIT, ChartIssue
from warehouse.records.errors import ChartUnavailableError, UnreachableError, UpstreamError

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
    ) -> tuple[KnownIssues, UpstreamError | None]:
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
        except UpstreamError as error:
            if listed is None:
                raise
            return listed, error
        listed_now = await run_sync(read_issues)
        if listed_now is None:
            raise ChartUnavailableError(
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
        self, read: ReadOutcomes[str, Songs], refusal: UpstreamError | None
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
        except UnreachableError:
            return ReadOutcomes(late=list(by_volid))

        async def read(volid: str) -> Songs:
            with self.refusals.remembered(volid):
                return await _songs(captures, by_volid[volid])

        outcomes = await self.deadline.each(by_volid, read, parallel=MAX_PARALLEL_READS)
        for error in outcomes.errors.values():
            if not isinstance(error, UpstreamError):
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
    _errors: dict[str, tuple[float, UpstreamError]] = field(default_factory=dict)

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
        except UpstreamError as error:
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
        raise ChartUnavailableError(
            f"The songs returned for issue {issue.volid} belong to another issue",
            surface=page.surface,
            reason="other_issue",
        )
    return songs
