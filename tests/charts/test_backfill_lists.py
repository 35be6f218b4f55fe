"""The list of issues that a back-fill begins with: refused, without dates, or all that is read."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.chart import ChartCaptures
from pipelines.charts.backfill import Backfill
from pipelines.charts.rules.backfill_plan import BackfillResult
from pipelines.charts.rules.history import read_span
from pipelines.platform.providers import build_chart_provider
from pipelines.platform.providers.provider import ProviderDependencies
from tests.fake_clock import FakeClock
from tests.scripted_reads import ReadService, open_reads
from warehouse.records.errors import ChartUnavailableError, ForbiddenError

pytestmark = pytest.mark.full

FEW_DAYS = ("2022-01-01", "2022-01-03")
MUCH_LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def reads(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


def backfill(reads: ReadService, **options: Any) -> Backfill:
    given: dict[str, Any] = {"open_chart": lambda _cancelled: reads.sources.chart()}
    return Backfill(engine=reads.engine, store=reads.control, **given | options)


async def filled(reads: ReadService, days: tuple[str, str], **options: Any) -> BackfillResult:
    return await backfill(reads, **options).run(read_span(*days))


class Undated:
    """A chart that lists its issues without their days."""

    def __init__(self, chart: Any) -> None:
        self.name, self.aclose = chart.name, chart.aclose
        self._chart = chart

    async def fetch_issues(self) -> Any:
        reading = await self._chart.fetch_issues()
        issues = tuple(replace(issue, chart_date=None) for issue in reading.value.issues)
        return replace(reading, value=replace(reading.value, issues=issues))


async def test_backfill_reads_issues_of_the_stored_list_if_a_new_list_is_refused(
    reads: ReadService,
) -> None:
    """The range is not complete then: what the newer list names is unknown."""
    known = await filled(reads, FEW_DAYS)
    reads.script.asked.clear()
    reads.script.errors = {"fetch_issues": ForbiddenError("no", surface="chart_issues")}
    days = (str(known.latest), str(known.latest.replace(year=known.latest.year + 1)))
    beyond = await filled(reads, days, clock=FakeClock(MUCH_LATER, is_held=True))
    assert ("fetch_issues",) in reads.script.asked
    assert (beyond.was_listed, beyond.ending) == (False, "refused")
    assert beyond.error is not None
    assert beyond.error["type"] == "upstream_forbidden"
    assert (beyond.new_count, beyond.last, beyond.is_cut) == (1, known.latest, True)


async def test_an_old_list_is_read_again_where_the_range_goes_beyond_it(reads: ReadService) -> None:
    known = await filled(reads, FEW_DAYS)
    days = (str(known.latest), str(known.latest.replace(year=known.latest.year + 1)))
    assert (await filled(reads, days, clock=FakeClock(MUCH_LATER, is_held=True))).was_listed


async def test_a_list_without_any_day_cannot_be_filled(reads: ReadService) -> None:
    sources = reads.sources

    def open_chart(_cancelled: object) -> AbstractAsyncContextManager[ChartCaptures]:
        inner: Any = build_chart_provider(
            ProviderDependencies(
                settings=sources.settings, profile=sources.profile, control=sources.control
            )
        )
        provider: Any = Undated(inner)
        return ChartCaptures(
            provider=provider, lake=reads.engine.lake, engine=reads.engine, control=reads.control
        )

    with pytest.raises(ChartUnavailableError) as met:
        await filled(reads, FEW_DAYS, open_chart=open_chart)
    assert met.value.reason == "no_dates"
    assert reads.rows("select * from raw.chart_songs") == []


async def test_one_cancelled_after_the_list_reads_no_issue(reads: ReadService) -> None:
    ended = await filled(reads, FEW_DAYS, cancelled=lambda: True)
    assert (ended.ending, ended.new_count, ended.was_listed) == ("cancelled", 0, True)
    assert ended.left_count == ended.issue_count > 0
    assert reads.script.asked == [("fetch_issues",)]
    assert (await filled(reads, FEW_DAYS)).new_count == ended.issue_count
