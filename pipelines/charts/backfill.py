"""Back-fill the chart: read every missing issue of a date range into the lake.

Stored issues are never requested again. Missing ones are read in batches, each leased by one
process until it is stored, so a kill loses one batch and concurrent runs share the range. Not
here: reading an issue (`captures.chart`), finding gaps (`pipelines.charts.rules.backfill_plan`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.rules import backfill_plan
from pipelines.charts.rules.history import Span, issues_by_day, list_serves_until
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from warehouse.control import ControlStore
from warehouse.control import captures as shared_captures
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries import charts
from warehouse.records import errors
from warehouse.records.charts import SONG_LIMIT, ChartIssue

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
    """The counters of a running back-fill, and the refusals that it met."""

    was_listed: bool = False
    list_error: errors.UpstreamError | None = None
    missing_count: int = 0
    known_count: int = 0
    new_count: int = 0
    read_volids: set[str] = field(default_factory=set)
    refused: list[backfill_plan.RefusedIssue] = field(default_factory=list)
    consecutive_refusals: int = 0
    error: errors.UpstreamError | None = None


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
    on_progress: Callable[[backfill_plan.BackfillProgress], None] = lambda _progress: None
    cancelled: Callable[[], bool] = lambda: False
    hold_s: float = HELD_FOR_S
    clock: Clock = MACHINE_CLOCK

    async def run(self, span: Span) -> backfill_plan.BackfillResult:
        """Read the missing issues of a range; refused issues are reported, not raised.

        Raises:
            UpstreamError: No list of issues is stored, and it cannot be read.
            WarehouseError: A store cannot be used.
            RunCancelledError: Cancelled before the issues of the range were listed.
        """
        state = _BackfillState()
        async with self.open_chart(self.cancelled) as captures:
            listed = await self._list_issues(captures, span, state)
            issues = list(issues_by_day(listed.issues).values())
            # Until an issue is released, the source serves the songs of the previous issue.
            now = self.clock.now()
            released = [
                issue for issue in issues if issue.scheduled_at is None or issue.scheduled_at <= now
            ]
            missing = await asyncio.to_thread(self._missing, released)
            # Issues of the range that were read already, to learn their date.
            dated_count = len(state.read_volids & {issue.volid for issue in released})
            state.missing_count, state.new_count = len(missing) + dated_count, dated_count
            try:
                await self._read_all(captures, missing, state)
                state.error = state.error or state.list_error
                ending: backfill_plan.BackfillEnding = (
                    "completed" if state.error is None else "refused"
                )
            except errors.RunCancelledError:
                ending = "cancelled"
            requests_used = captures.requests_used
        undated_count = await asyncio.to_thread(charts.read_undated_count, self.engine)
        # Days after the latest issue are not gaps.
        last = min(span.end, listed.latest)
        days = [issue.chart_date for issue in issues if issue.chart_date is not None]
        return backfill_plan.BackfillResult(
            first=span.start,
            last=last,
            requested_last=span.requested_end,
            latest=listed.latest,
            issue_count=len(issues),
            known_count=len(released) - len(missing) - dated_count + state.known_count,
            new_count=state.new_count,
            unreleased_count=len(issues) - len(released),
            refused=tuple(state.refused),
            gaps=backfill_plan.find_gaps(days, first=span.start, last=last),
            undated_count=undated_count,
            was_listed=state.was_listed,
            requests_used=requests_used,
            ending=ending,
            error=None if state.error is None else state.error.to_document(),
        )

    async def _list_issues(
        self, captures: ChartCaptures, span: Span, state: _BackfillState
    ) -> charts.KnownIssues:
        """Return the issues of the range; read their list again if it is old or missing."""
        read_known = partial(charts.read_known_issues, self.engine, first=span.start, last=span.end)
        listed = await asyncio.to_thread(read_known)
        until = None
        if listed is not None:
            until = list_serves_until(span, latest=listed.latest, listed_at=listed.listed_at)
        if listed is None or (until is not None and self.clock.now() > until):
            try:
                await captures.issues()
            except errors.UpstreamError as error:
                if listed is None:
                    raise
                state.list_error = error  # issues that are already listed can still be read
            else:
                await captures.flush()
                state.was_listed = True
                listed = await asyncio.to_thread(read_known)
        if listed is None:
            raise errors.ChartUnavailableError(
                "the chart lists no issue with a date", surface="chart_issues", reason="no_dates"
            )
        # Some issues are listed without a date, but their songs have one: read up to a batch of
        # them first. A refused one is reported like any other.
        undated = await asyncio.to_thread(
            charts.read_unread_undated, self.engine, first=span.start, last=span.end
        )
        if not undated:
            return listed
        observed_at = self.clock.now()
        issues = [
            ChartIssue(volid=volid, surface="chart_issues", observed_at=observed_at)
            for volid in undated[:BATCH]
        ]
        await self._read_all(captures, issues, state)
        state.known_count = 0  # those of the range are counted with it
        self.engine.refresh()
        return await asyncio.to_thread(read_known) or listed

    async def _read_all(
        self, captures: ChartCaptures, issues: Sequence[ChartIssue], state: _BackfillState
    ) -> None:
        """Read issues in batches; those that another process reads are tried again at the end."""
        waiting = list(issues)
        while waiting and state.error is None:
            if self.cancelled():
                raise errors.RunCancelledError("cancellation was requested")
            batch = {issue.volid: issue for issue in waiting[:BATCH]}
            async with self._leases(list(batch)) as leased:
                ours = [batch[volid] for volid in leased]
                # Another process may have stored some of them before their leases were free.
                missing = await asyncio.to_thread(self._missing, ours)
                state.known_count += len(ours) - len(missing)
                count_before = state.new_count
                try:
                    await self._read_concurrently(captures, missing, state)
                except errors.RunCancelledError:
                    await captures.flush()
                    # Some responses were stored before the cancellation: count from the lake.
                    unread = await asyncio.to_thread(self._missing, missing)
                    state.new_count = count_before + len(missing) - len(unread)
                    raise
                finally:
                    await captures.flush()  # store before the leases end
            elsewhere = [issue for volid, issue in batch.items() if volid not in leased]
            if len(elsewhere) == len(waiting):
                await self.clock.sleep(BATCH_RETRY_S)  # other processes read all that is missing
            waiting = [*waiting[BATCH:], *elsewhere]

    async def _read_concurrently(
        self, captures: ChartCaptures, issues: Sequence[ChartIssue], state: _BackfillState
    ) -> None:
        """Read a batch, in order; start no issue after a refusal that ends the back-fill."""
        waiting = iter(issues)

        async def read_next() -> None:
            for issue in waiting:
                if state.error is not None:
                    return
                try:
                    await captures.songs(issue.volid, chart_date=issue.chart_date, limit=SONG_LIMIT)
                except errors.UpstreamError as error:
                    state.consecutive_refusals += 1
                    is_over = state.consecutive_refusals >= MAX_CONSECUTIVE_REFUSALS
                    if is_over or any(allows_policy(error, policy) for policy in _ENDING):
                        state.error = error
                    state.refused.append(
                        backfill_plan.RefusedIssue(
                            volid=issue.volid, chart_date=issue.chart_date, error_type=error.type
                        )
                    )
                else:
                    state.consecutive_refusals = 0
                    state.new_count += 1
                    state.read_volids.add(issue.volid)
                self.on_progress(
                    backfill_plan.BackfillProgress(
                        done_count=state.known_count + state.new_count + len(state.refused),
                        missing_count=state.missing_count,
                        requests_used=captures.requests_used,
                        chart_date=issue.chart_date,
                    )
                )

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(CONCURRENT_READS):
                    group.create_task(read_next())
        except ExceptionGroup as group:
            raise group.exceptions[0] from group

    @asynccontextmanager
    async def _leases(self, volids: Sequence[str]) -> AsyncIterator[list[str]]:
        """Yield the issues leased by this process until the block ends; others hold the rest.

        A lease lasts until the issue is in the lake, unlike that of a single capture, which ends
        with the response.
        """
        owner, leased = uuid4().hex, list[str]()

        def acquire() -> None:
            for volid in volids:
                claim = shared_captures.claim(self.store, _lease(volid), owner, ttl_s=self.hold_s)
                if claim.is_ours:
                    leased.append(volid)

        def renew() -> None:
            for volid in list(leased):  # `acquire` may still add some
                shared_captures.renew(self.store, _lease(volid), owner, ttl_s=self.hold_s)

        def release() -> None:
            for volid in leased:
                shared_captures.publish(self.store, _lease(volid), owner, None)

        async def renew_regularly() -> None:
            # If the store fails, the leases expire; each batch checks the lake anyway.
            with suppress(errors.WarehouseError):
                while True:
                    await self.clock.sleep(self.hold_s / 3)
                    await asyncio.to_thread(renew)

        acquiring = asyncio.ensure_future(asyncio.to_thread(acquire))
        renewing = asyncio.create_task(renew_regularly())
        try:
            await asyncio.shield(acquiring)
            yield leased
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError, errors.WarehouseError):
                await asyncio.shield(acquiring)  # so that leases still being acquired end too
            await asyncio.shield(asyncio.to_thread(release))

    def _missing(self, issues: Sequence[ChartIssue]) -> list[ChartIssue]:
        """Return the issues whose songs are not in the lake, oldest first."""
        self.engine.refresh()
        stored = charts.read_stored_issues(self.engine, [issue.volid for issue in issues])
        # Songs that state another day belong to another issue; songs without a day count.
        missing = [
            issue
            for issue in issues
            if issue.volid not in stored
            or (
                issue.chart_date is not None and stored[issue.volid] not in {None, issue.chart_date}
            )
        ]
        return sorted(missing, key=lambda issue: (str(issue.chart_date), issue.volid))


def _lease(volid: str) -> str:
    return f"chart issue {volid}"
