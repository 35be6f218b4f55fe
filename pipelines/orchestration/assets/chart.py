"""Assets of the chart: its issues with their songs, and the chart linked to the platform.

Issues are partitioned by month: five years are about sixty partitions instead of 1,800 days.
Stored issues are not requested again, so the current month is continued day by day. Any range of
months is one run. Not here: the work itself (`pipelines/charts`).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetSpec,
    BackfillPolicy,
    Failure,
    MaterializeResult,
    MetadataValue,
    MonthlyPartitionsDefinition,
    ResourceParam,
    TableColumn,
    TableRecord,
    TableSchema,
    asset,
    multi_asset,
)

from pipelines.charts.rules.backfill_plan import BackfillProgress, BackfillResult, Gap
from pipelines.charts.rules.history import FIRST_DAY, Span
from pipelines.orchestration.assets.conclude import CONFIRMED
from pipelines.orchestration.assets.decorators import KINDS, OWNERS, READS_PLATFORM, Result
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import ChartResource

CHART_ISSUES = AssetKey(["raw", "chart_issues"])
CHART_SONGS = AssetKey(["raw", "chart_songs"])
CHART_LINKS = AssetKey(["marts", "chart_links"])
CHART_PLATFORM = AssetKey(["marts", "chart_platform"])
VARIANTS = AssetKey(["marts", "variants"])
GROUP = "chart"
_LOG_EVERY = 50
_MOST_GAPS = 100

months = MonthlyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), end_offset=1)
"""One partition per month from the first issue to the current month."""


@multi_asset(
    name="keep_chart_issues",
    partitions_def=months,
    backfill_policy=BackfillPolicy.single_run(),
    group_name=GROUP,
    specs=[
        AssetSpec(
            CHART_ISSUES,
            description="Issues of the chart with their dates.",
            owners=OWNERS,
            kinds=READS_PLATFORM,
        ),
        AssetSpec(
            CHART_SONGS,
            deps=[CHART_ISSUES],
            description="Songs of every issue, verified against the issue and stored permanently.",
            owners=OWNERS,
            kinds=READS_PLATFORM,
        ),
    ],
)
def read_chart(
    context: AssetExecutionContext, chart: ResourceParam[ChartResource]
) -> Iterator[Result]:
    """Read the missing issues of one or more months."""
    window = context.partition_time_window
    last = window.end.date() - timedelta(days=1)
    span = Span(start=window.start.date(), end=last, requested_end=last)
    with reasons_as_failures(), chart.open() as chart_service:
        filled = chart_service.fill(span, on_progress=_progress_logger(context))
    metadata = _metadata(filled)
    if filled.error is not None:
        raise Failure(str(filled.error["detail"]), metadata=metadata)
    yield MaterializeResult(asset_key=CHART_ISSUES, metadata=metadata)
    yield MaterializeResult(asset_key=CHART_SONGS, metadata=metadata)


@asset(
    key=CHART_PLATFORM,
    deps=[CHART_SONGS, CONFIRMED, VARIANTS, CHART_LINKS],
    group_name=GROUP,
    owners=OWNERS,
    kinds=KINDS,
)
def chart_platform(chart: ResourceParam[ChartResource]) -> Result:
    """Songs of the chart linked to music ids of the platform, with reasons and lead or lag."""
    with reasons_as_failures(), chart.open() as chart_service:
        judged = chart_service.judge()
    return MaterializeResult(
        metadata={
            "songs": judged.song_count,
            "issues": judged.issue_count,
            "leads_estimated": judged.lead_count,
            "rows_written": judged.row_count,
            "pairs": _table("relation", "pairs", sorted(judged.relations.items())),
        }
    )


def _progress_logger(context: AssetExecutionContext) -> Callable[[BackfillProgress], None]:
    def tell(progress: BackfillProgress) -> None:
        if progress.done_count % _LOG_EVERY == 0 or progress.done_count == progress.missing_count:
            context.log.info(
                "%s of %s issues, %s requests, at %s",
                progress.done_count,
                progress.missing_count,
                progress.requests_used,
                progress.chart_date,
            )

    return tell


def _metadata(filled: BackfillResult) -> dict[str, MetadataValue]:
    """Return counts and dates of a run only; text from outside stays out of the metadata."""
    counts = {
        "issues_seen": filled.issue_count,
        "issues_new": filled.new_count,
        "issues_known_before": filled.known_count,
        "issues_unreleased": filled.unreleased_count,
        "issues_refused": len(filled.refused),
        "gap_days": sum(gap.day_count for gap in filled.gaps),
        "issues_without_a_day": filled.undated_count,
        "requests_used": filled.requests_used,
    }
    gaps = [(str(gap.first), f"to {gap.last}, {gap.day_count} d") for gap in filled.gaps]
    is_before = filled.latest < filled.first  # no issue of the range has been published yet
    return {
        **{name: MetadataValue.int(count) for name, count in counts.items()},
        "first_day": MetadataValue.text(str(filled.first)),
        "last_day": MetadataValue.text("none" if is_before else str(filled.last)),
        "latest_issue": MetadataValue.text(str(filled.latest)),
        "requested_last_day": MetadataValue.text(str(filled.requested_last)),
        "is_cut": MetadataValue.bool(filled.is_cut),
        "list_read_anew": MetadataValue.bool(filled.was_listed),
        "ending": MetadataValue.text(filled.ending),
        "gaps": _table("from", "days without an issue", gaps[:_MOST_GAPS]),
        "issues_by_month": MetadataValue.md(_plot(filled.first, filled.last, filled.gaps)),
    }


def _plot(first: date, last: date, gaps: tuple[Gap, ...]) -> str:
    """Render the days with an issue per month as bars in a Markdown table."""
    missing = {gap.first + timedelta(days=n) for gap in gaps for n in range(gap.day_count)}
    counts: dict[str, int] = {}
    for n in range((last - first).days + 1):
        day = first + timedelta(days=n)
        counts.setdefault(f"{day:%Y-%m}", 0)
        counts[f"{day:%Y-%m}"] += day not in missing
    lines = [f"| {month} | {count} | {'▇' * count} |" for month, count in counts.items()]
    return "\n".join(["| month | issues | |", "| --- | ---: | --- |", *lines])


def _table(first: str, second: str, rows: Sequence[tuple[str, object]]) -> MetadataValue:
    names = (first, second)
    records = [TableRecord(dict(zip(names, map(str, row), strict=True))) for row in rows]
    schema = TableSchema(columns=[TableColumn(name, "string") for name in names])
    return MetadataValue.table(records=records, schema=schema)
