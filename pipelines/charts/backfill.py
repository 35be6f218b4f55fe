"""Back-fill the chart: read every missing issue of a date range into the lake.

Stored issues are never requested again. Missing ones are read in batches, each leased by one
process until it is stored, so a kill loses one batch and concurrent runs share the range. Not
here: reading an issue (`captures.chart`), finding gaps (`pipelines.charts.rules.backfill_plan`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from uuid import uuid4

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.rules.backfill_plan import (
    BackfillEnding,
    BackfillProgress,
    BackfillResult,
    RefusedIssue,
    find_gaps,
)
from pipelines.charts.rules.history import Span, issues_by_day, list_serves_until
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from warehouse.control import ControlStore
from warehouse.control.captures import capture_claims
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.charts import (
    KnownIssues,
    read_known_issues,
    read_stored_issues,
    read_undated_count,
    read_unread_undated,
)
from warehouse.records.charts import SONG_LIMIT, ChartIssue
from warehouse.records.errors import (
    ChartUnavailableError,
    RunCancelledError,
    UpstreamError,
    WarehouseError,
)

BATCH = 40
"""Issues stored per commit and table; a kill loses at most one batch."""
CONCURRENT_READS = 4
MAX_CONSECUTIVE_REFUSALS = 5
"""Consecutive refusals of single issues that end the whole back-fill."""
BATCH_RETRY_S = 0.5
HELD_FOR_S = 15.0
"""Lifetime of a lease that is not renewed; a killed process blocks others for so long."""
_ENDING = (RefusalPolicy.STOP, RefusalPolicy.WAIT)

type OpenChart = Callable[[Callable[[], bool]], AbstractAsyncContextManager[ChartCaptures]]


@dataclass(slots=True)
class _BackfillState:
    """The counters of a running back-fill."""

    missing_count: int = 0
    known_count: int = 0
    read: set[str] = field(default_factory=set)
    new_count: int = 0
    refused: list[RefusedIssue] = field(default_factory=list)
    in_a_row: int = 0
    error: UpstreamError | None = None

    @property
    def done_count(self) -> int:
        return self.known_count + self.new_count + len(self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """One back-fill over a range of days.

    Attributes:
        open_chart: Opens the captures of the chart, given a function that reports cancellation.
        engine: Query engine over the lake that the captures write to.
        store: The control store, which holds the leases.
        on_progress: Called with the progress after each issue.
        cancelled: Returns True once cancellation was requested.
        hold_s: Lifetime of a lease.
    """

    open_chart: OpenChart
    engine: Engine
    store: ControlStore
    on_progress: Callable[[BackfillProgress], None] = lambda _progress: None
    cancelled: Callable[[], bool] = lambda: False
    hold_s: float = HELD_FOR_S
    clock: Clock = MACHINE_CLOCK

    async def run(self, span: Span) -> BackfillResult:
        """Read the missing issues of a range; refused issues are reported, not raised.

        Raises:
            UpstreamError: No list of issues is stored, and it cannot be read.
            WarehouseError: A store cannot be used.
            RunCancelledError: Cancelled before the list of issues was known.
        """
        async with self.open_chart(self.cancelled) as captures:
            known, was_listed, unlisted = await self._list(captures, span)
            state = _BackfillState()
            known = await self._date(captures, span, known, state)
            issues = list(issues_by_day(known.issues).values())
            released = [one for one in issues if _is_released(one, now=self.clock.now())]
            missing = await asyncio.to_thread(self._missing, released)
            dated_count = len(state.read & {one.volid for one in released})
            state.missing_count, state.new_count = len(missing) + dated_count, dated_count
            try:
                await self._read_all(captures, missing, state)
                state.error = state.error or unlisted
                ending: BackfillEnding = "completed" if state.error is None else "refused"
            except RunCancelledError:
                ending = "cancelled"
            requests_used = captures.requests_used
        undated = await asyncio.to_thread(read_undated_count, self.engine)
        last = min(span.end, known.latest)
        days = [issue.chart_date for issue in issues if issue.chart_date is not None]
        return BackfillResult(
            first=span.start,
            last=last,
            asked_last=span.asked_end,
            latest=known.latest,
            issue_count=len(issues),
            known_count=len(released) - len(missing) - dated_count + state.known_count,
            new_count=state.new_count,
            unreleased_count=len(issues) - len(released),
            refused=tuple(state.refused),
            gaps=find_gaps(days, first=span.start, last=last),
            undated_count=undated,
            was_listed=was_listed,
            requests_used=requests_used,
            ending=ending,
            error=None if state.error is None else state.error.to_document(),
        )

    async def _list(
        self, captures: ChartCaptures, span: Span
    ) -> tuple[KnownIssues, bool, UpstreamError | None]:
        """Return the issues of the range, whether their list was read again, and its refusal."""
        look = partial(read_known_issues, self.engine, first=span.start, last=span.end)
        known = await asyncio.to_thread(look)
        if known is not None:
            until = list_serves_until(span, latest=known.latest, listed_at=known.listed_at)
            if until is None or self.clock.now() <= until:
                return known, False, None
        try:
            await captures.issues()
        except UpstreamError as error:
            if known is None:
                raise
            return known, False, error  # issues that are already listed can still be read
        await captures.flush()
        found = await asyncio.to_thread(look)
        if found is None:
            raise ChartUnavailableError(
                "the chart lists no issue with a date", surface="chart_issues", reason="no_dates"
            )
        return found, True, None

    async def _date(
        self, captures: ChartCaptures, span: Span, known: KnownIssues, state: _BackfillState
    ) -> KnownIssues:
        """Read issues without a date, since songs give one, too; return all issues of the range.

        At most a batch is read in one run; a refused one is reported as any other.
        """
        look = partial(read_unread_undated, self.engine, first=span.start, last=span.end)
        undated = (await asyncio.to_thread(look))[:BATCH]
        if not undated:
            return known
        observed_at = self.clock.now()
        issues = [
            ChartIssue(volid=volid, surface="chart_issues", observed_at=observed_at)
            for volid in undated
        ]
        await self._read_all(captures, issues, state)
        state.known_count = 0  # those of the range are counted with it
        self.engine.refresh()
        look_again = partial(read_known_issues, self.engine, first=span.start, last=span.end)
        return await asyncio.to_thread(look_again) or known

    async def _read_all(
        self, captures: ChartCaptures, missing: Sequence[ChartIssue], state: _BackfillState
    ) -> None:
        left = list(missing)
        while left and state.error is None:
            if self.cancelled():
                raise RunCancelledError("cancellation was requested")
            batch, later = left[:BATCH], left[BATCH:]
            elsewhere = await self._read_batch(captures, batch, state)
            if len(elsewhere) == len(batch) == len(left):
                await self.clock.sleep(BATCH_RETRY_S)  # another process reads all the rest
            left = [*later, *elsewhere]

    async def _read_batch(
        self, captures: ChartCaptures, batch: Sequence[ChartIssue], state: _BackfillState
    ) -> list[ChartIssue]:
        """Read the issues that no other process reads; return the others."""
        by_id = {issue.volid: issue for issue in batch}
        async with self._leases(list(by_id)) as mine:
            ours = [by_id[volid] for volid in mine]
            missing = await asyncio.to_thread(self._missing, ours)  # others may have stored some
            state.known_count += len(ours) - len(missing)
            new_before = state.new_count
            try:
                await self._read_issues(captures, missing, state)
            except RunCancelledError:
                await captures.flush()
                # Some responses were stored before the cancellation arrived: count from the lake.
                left = await asyncio.to_thread(self._missing, missing)
                state.new_count = new_before + len(missing) - len(left)
                raise
            finally:
                await captures.flush()  # store before the leases end
        return [issue for issue in batch if issue.volid not in mine]

    async def _read_issues(
        self, captures: ChartCaptures, issues: Sequence[ChartIssue], state: _BackfillState
    ) -> None:
        """Read a few issues concurrently, in order; start none after a fatal refusal."""
        waiting = iter(issues)

        async def read_next() -> None:
            for issue in waiting:
                if state.error is not None:
                    return
                await self._read_issue(captures, issue, state)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(CONCURRENT_READS):
                    group.create_task(read_next())
        except ExceptionGroup as group:
            raise group.exceptions[0] from group

    async def _read_issue(
        self, captures: ChartCaptures, issue: ChartIssue, state: _BackfillState
    ) -> None:
        try:
            await captures.songs(issue.volid, chart_date=issue.chart_date, limit=SONG_LIMIT)
        except UpstreamError as error:
            state.in_a_row += 1
            is_over = state.in_a_row >= MAX_CONSECUTIVE_REFUSALS
            if is_over or any(allows_policy(error, policy) for policy in _ENDING):
                state.error = error
            state.refused.append(
                RefusedIssue(volid=issue.volid, chart_date=issue.chart_date, error_type=error.type)
            )
        else:
            state.in_a_row = 0
            state.new_count += 1
            state.read.add(issue.volid)
        self.on_progress(
            BackfillProgress(
                done_count=state.done_count,
                missing_count=state.missing_count,
                requests_used=captures.requests_used,
                chart_date=issue.chart_date,
            )
        )

    @asynccontextmanager
    async def _leases(self, volids: Sequence[str]) -> AsyncIterator[list[str]]:
        """Yield the issues leased by this process until the block ends; others hold the rest.

        A lease lasts until the issue is in the lake, unlike that of a single capture, which ends
        with the response.
        """
        owner, mine = uuid4().hex, list[str]()

        def begin() -> None:
            for volid in volids:
                if capture_claims.claim(
                    self.store, _lease(volid), owner, ttl_s=self.hold_s
                ).is_ours:
                    mine.append(volid)  # the renewal reads it meanwhile

        def leave() -> None:
            for volid in mine:
                capture_claims.publish(self.store, _lease(volid), owner, None)

        beginning = asyncio.ensure_future(asyncio.to_thread(begin))
        renewing = asyncio.create_task(self._renew(mine, owner))
        try:
            await asyncio.shield(beginning)
            yield mine
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError, WarehouseError):
                await asyncio.shield(beginning)  # so that leases still being acquired end too
            await asyncio.shield(asyncio.to_thread(leave))

    async def _renew(self, mine: Sequence[str], owner: str) -> None:
        def prolong(volids: Sequence[str]) -> None:
            for volid in volids:
                capture_claims.renew(self.store, _lease(volid), owner, ttl_s=self.hold_s)

        with suppress(WarehouseError):  # the leases expire; each batch checks the lake anyway
            while True:
                await self.clock.sleep(self.hold_s / 3)
                await asyncio.to_thread(prolong, list(mine))

    def _missing(self, issues: Sequence[ChartIssue]) -> list[ChartIssue]:
        """Return the issues whose songs are not in the lake, oldest first."""
        self.engine.refresh()
        kept = read_stored_issues(self.engine, [issue.volid for issue in issues])
        return sorted(
            (one for one in issues if not _is_kept(one, kept)),
            key=lambda one: (str(one.chart_date), one.volid),
        )


def _lease(volid: str) -> str:
    return f"chart issue {volid}"


def _is_released(issue: ChartIssue, *, now: datetime) -> bool:
    """Whether an issue has songs of its own: before, they may be those of the issue before."""
    return issue.scheduled_at is None or issue.scheduled_at <= now


def _is_kept(issue: ChartIssue, kept: Mapping[str, date | None]) -> bool:
    return issue.volid in kept and (
        issue.chart_date is None or kept[issue.volid] in {None, issue.chart_date}
    )
