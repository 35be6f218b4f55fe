"""Reading every issue of a range into the lake: once, politely, again where it was ended.

What is in the lake is never asked for; what is missing is read in batches, each held by one
process until it is kept, so a kill loses one batch and two runs share the work. Not here: how an
issue is read (`captures.chart`), what gaps are (`pipelines.charts.rules.backfill_plan`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.issue_leases import HELD_FOR_S, Book, IssueLeases
from pipelines.charts.rules.backfill_plan import Ending, Filled, Progress, Refused, find_gaps
from pipelines.charts.rules.history import LISTED_FOR_S, Span, issues_by_day
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.refusal_table import Policy, allows
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.charts.history import (
    KnownIssues,
    read_kept_issues,
    read_known_issues,
    read_undated_count,
)
from warehouse.records.charts import SONG_LIMIT, ChartIssue
from warehouse.records.errors import ChartUnavailableError, RunCancelledError, UpstreamError

BATCH = 40
"""Issues kept in one commit per table: what a kill costs at most."""
AT_ONCE = 4
MOST_IN_A_ROW = 5
"""Refusals of single issues, one after the other, after which the chart as a whole says no."""
LOOK_AGAIN_S = 0.5
_ENDING = (Policy.STOP, Policy.WAIT)

type OpenChart = Callable[[Callable[[], bool]], AbstractAsyncContextManager[ChartCaptures]]


@dataclass(slots=True)
class _State:
    """What a run has done so far."""

    missing_count: int = 0
    known_count: int = 0
    new_count: int = 0
    refused: list[Refused] = field(default_factory=list)
    in_a_row: int = 0
    error: UpstreamError | None = None

    @property
    def done_count(self) -> int:
        return self.known_count + self.new_count + len(self.refused)


class Backfill:
    """One run over a range of days.

    Args:
        open_chart: Captures of the chart, told how to learn of cancelling.
        engine: Over the lake that they write to.
        book: The control store, for who reads what.
        told: Hears of progress, after each issue.
        cancelled: Whether somebody has asked for the end.
        hold_s: How long who died with issues holds up others.
    """

    def __init__(
        self,
        *,
        open_chart: OpenChart,
        engine: Engine,
        book: Book,
        told: Callable[[Progress], None] = lambda _progress: None,
        cancelled: Callable[[], bool] = lambda: False,
        hold_s: float = HELD_FOR_S,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self._open_chart = open_chart
        self._engine = engine
        self._leases = IssueLeases(book, hold_s=hold_s, clock=clock)
        self._told = told
        self._cancelled = cancelled
        self._clock = clock

    async def run(self, span: Span) -> Filled:
        """Read what is missing of a range; what could not be read is told, not raised.

        Raises:
            UpstreamError: The list of issues was never read, and cannot be.
            WarehouseError: The stores cannot be used.
            RunCancelledError: Cancelled before a list of issues was known.
        """
        async with self._open_chart(self._cancelled) as captures:
            known, was_listed = await self._list(captures, span)
            issues = list(issues_by_day(known.issues).values())
            missing = await asyncio.to_thread(self._missing, issues)
            state = _State(missing_count=len(missing))
            try:
                await self._read_all(captures, missing, state)
                ending: Ending = "completed" if state.error is None else "refused"
            except RunCancelledError:
                ending = "cancelled"
            requests_used = captures.requests_used
        undated = await asyncio.to_thread(read_undated_count, self._engine)
        last = min(span.end, known.latest)
        days = [issue.chart_date for issue in issues if issue.chart_date is not None]
        return Filled(
            first=span.start,
            last=last,
            asked_last=span.asked_end,
            latest=known.latest,
            issue_count=len(issues),
            known_count=len(issues) - len(missing) + state.known_count,
            new_count=state.new_count,
            refused=tuple(state.refused),
            gaps=find_gaps(days, first=span.start, last=last),
            undated_count=undated,
            was_listed=was_listed,
            requests_used=requests_used,
            ending=ending,
            error=None if state.error is None else state.error.to_document(),
        )

    async def _list(self, captures: ChartCaptures, span: Span) -> tuple[KnownIssues, bool]:
        """The issues of the range; the list is read anew where the range goes beyond it."""
        look = partial(read_known_issues, self._engine, first=span.start, last=span.end)
        known = await asyncio.to_thread(look)
        if known is not None and not _is_behind(known, span, now=self._clock.now()):
            return known, False
        try:
            await captures.issues()
        except UpstreamError:
            if known is None:
                raise
            return known, False  # what is listed already can be read all the same
        await captures.flush()
        found = await asyncio.to_thread(look)
        if found is None:
            raise ChartUnavailableError(
                "the chart lists no issue with a date", surface="chart_issues", reason="no_dates"
            )
        return found, True

    async def _read_all(
        self, captures: ChartCaptures, missing: Sequence[ChartIssue], state: _State
    ) -> None:
        left = list(missing)
        while left and state.error is None:
            if self._cancelled():
                raise RunCancelledError("cancelling was asked for")
            batch, later = left[:BATCH], left[BATCH:]
            elsewhere = await self._read_batch(captures, batch, state)
            if len(elsewhere) == len(batch) == len(left):
                await self._clock.sleep(LOOK_AGAIN_S)  # somebody reads all that is left
            left = [*later, *elsewhere]

    async def _read_batch(
        self, captures: ChartCaptures, batch: Sequence[ChartIssue], state: _State
    ) -> list[ChartIssue]:
        """Read what nobody else reads; returns the issues that somebody does."""
        by_id = {issue.volid: issue for issue in batch}
        async with self._leases.held(list(by_id)) as mine:
            ours = [by_id[volid] for volid in mine]
            missing = await asyncio.to_thread(self._missing, ours)  # others kept some meanwhile
            state.known_count += len(ours) - len(missing)
            new_before = state.new_count
            try:
                await self._read_issues(captures, missing, state)
            except RunCancelledError:
                await captures.flush()
                # The end overtakes answers that are kept already: what is kept is what counts.
                left = await asyncio.to_thread(self._missing, missing)
                state.new_count = new_before + len(missing) - len(left)
                raise
            finally:
                await captures.flush()  # what was read is kept before anybody else may look
        return [issue for issue in batch if issue.volid not in mine]

    async def _read_issues(
        self, captures: ChartCaptures, issues: Sequence[ChartIssue], state: _State
    ) -> None:
        """A few at a time, in order; none is begun once one has ended it all."""
        waiting = iter(issues)

        async def work() -> None:
            for issue in waiting:
                if state.error is not None:
                    return
                await self._read_issue(captures, issue, state)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(AT_ONCE):
                    group.create_task(work())
        except ExceptionGroup as group:
            raise group.exceptions[0] from group

    async def _read_issue(self, captures: ChartCaptures, issue: ChartIssue, state: _State) -> None:
        try:
            await captures.songs(issue.volid, chart_date=issue.chart_date, limit=SONG_LIMIT)
        except UpstreamError as error:
            state.in_a_row += 1
            is_over = state.in_a_row >= MOST_IN_A_ROW
            if is_over or any(allows(error, policy) for policy in _ENDING):
                state.error = error
            state.refused.append(
                Refused(volid=issue.volid, chart_date=issue.chart_date, error_type=error.type)
            )
        else:
            state.in_a_row = 0
            state.new_count += 1
        self._told(
            Progress(
                done_count=state.done_count,
                missing_count=state.missing_count,
                requests_used=captures.requests_used,
                chart_date=issue.chart_date,
            )
        )

    def _missing(self, issues: Sequence[ChartIssue]) -> list[ChartIssue]:
        """Issues without songs of their own in the lake, oldest first."""
        self._engine.refresh()
        kept = read_kept_issues(self._engine, [issue.volid for issue in issues])
        return sorted(
            (one for one in issues if not _is_kept(one, kept)),
            key=lambda one: (str(one.chart_date), one.volid),
        )


def _is_kept(issue: ChartIssue, kept: Mapping[str, date | None]) -> bool:
    return issue.volid in kept and kept[issue.volid] in {None, issue.chart_date}


def _is_behind(known: KnownIssues, span: Span, *, now: datetime) -> bool:
    """True when the range goes beyond what is listed, and that is not of just now."""
    age = now - known.listed_at
    return span.end > known.latest and age.total_seconds() > LISTED_FOR_S
