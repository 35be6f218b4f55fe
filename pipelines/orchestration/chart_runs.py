"""The chart in Dagster: its assets, jobs, schedule and sensor.

Issues are partitioned by month: five years are about sixty partitions instead of 1,800 days. Stored
issues are not requested again, so the current month is continued day by day, and any range of
months is one run. Schedule and sensor are stopped unless `CHART_DAILY` is set; they can be started
and tested in Dagster's UI. Not here: the work itself (`pipelines/charts`).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import dagster as dg

from pipelines.charts.rules.backfill_plan import BackfillProgress, BackfillResult
from pipelines.charts.rules.history import FIRST_DAY, Span
from pipelines.clock import MachineClock
from pipelines.orchestration.assets.decorators import KINDS, OWNERS, READS_PLATFORM, Result
from pipelines.orchestration.assets.scan_steps import CONFIRMED
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import ChartResource
from pipelines.orchestration.runs.reconciliation import find_ended_launches

CHART_ISSUES = dg.AssetKey(["raw", "chart_issues"])
CHART_SONGS = dg.AssetKey(["raw", "chart_songs"])
CHART_LINKS = dg.AssetKey(["marts", "chart_links"])
CHART_PLATFORM = dg.AssetKey(["marts", "chart_platform"])
VARIANTS = dg.AssetKey(["marts", "variants"])
GROUP = "chart"
_LOG_EVERY = 50
_MOST_GAPS = 100

DAILY_AT = "10 2 * * *"
"""UTC: after the release of a new issue, which is dated 08:30 and appears by 10:00 in Shanghai."""
INTERVAL = timedelta(days=1)
LOOKED_BACK_DAYS = 10
"""For so many days into a month the previous month is read too: the machine may have been off."""
MADE_UP_DAYS = 92
"""Months that were missed are made up for if an earlier one was read at most so long ago."""
CHART_SENSOR_INTERVAL_S = 300

CHART_INPUTS_TAG = "sametrack/chart_inputs"
"""Tag on the runs of the sensor; its value names the inputs that they were launched for."""

months = dg.MonthlyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), end_offset=1)
"""One partition per month from the first issue to the current month."""


@dg.multi_asset(
    name="keep_chart_issues",
    partitions_def=months,
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name=GROUP,
    specs=[
        dg.AssetSpec(
            CHART_ISSUES,
            description="Issues of the chart with their dates.",
            owners=OWNERS,
            kinds=READS_PLATFORM,
        ),
        dg.AssetSpec(
            CHART_SONGS,
            deps=[CHART_ISSUES],
            description="Songs of every issue, verified against the issue and stored permanently.",
            owners=OWNERS,
            kinds=READS_PLATFORM,
        ),
    ],
)
def chart_issues(
    context: dg.AssetExecutionContext, chart: dg.ResourceParam[ChartResource]
) -> Iterator[Result]:
    """Read the missing issues of one or more months."""
    window = context.partition_time_window
    last = window.end.date() - timedelta(days=1)
    span = Span(start=window.start.date(), end=last, requested_end=last)

    def log_progress(progress: BackfillProgress) -> None:
        if progress.done_count % _LOG_EVERY == 0 or progress.done_count == progress.missing_count:
            context.log.info(
                "%s of %s issues, %s requests, at %s",
                progress.done_count,
                progress.missing_count,
                progress.requests_used,
                progress.chart_date,
            )

    with reasons_as_failures(), chart.open() as chart_service:
        result = chart_service.fill(span, on_progress=log_progress)
    metadata = _backfill_metadata(result)
    if result.error is not None:
        raise dg.Failure(str(result.error["detail"]), metadata=metadata)
    yield dg.MaterializeResult(asset_key=CHART_ISSUES, metadata=metadata)
    yield dg.MaterializeResult(asset_key=CHART_SONGS, metadata=metadata)


@dg.asset(
    key=CHART_PLATFORM,
    deps=[CHART_SONGS, CONFIRMED, VARIANTS, CHART_LINKS],
    group_name=GROUP,
    owners=OWNERS,
    kinds=KINDS,
)
def chart_platform(chart: dg.ResourceParam[ChartResource]) -> Result:
    """Songs of the chart linked to music ids of the platform, with reasons and lead or lag."""
    with reasons_as_failures(), chart.open() as chart_service:
        result = chart_service.judge()
    return dg.MaterializeResult(
        metadata={
            "songs": result.song_count,
            "issues": result.issue_count,
            "leads_estimated": result.lead_count,
            "rows_written": result.row_count,
            "pairs": _table("relation", "pairs", sorted(result.relations.items())),
        }
    )


def _backfill_metadata(result: BackfillResult) -> dict[str, dg.MetadataValue]:
    """Return counts and dates of a run only; text from outside stays out of the metadata."""
    counts = {
        "issues_seen": result.issue_count,
        "issues_new": result.new_count,
        "issues_known_before": result.known_count,
        "issues_unreleased": result.unreleased_count,
        "issues_refused": len(result.refused),
        "gap_days": sum(gap.day_count for gap in result.gaps),
        "issues_without_a_day": result.undated_count,
        "requests_used": result.requests_used,
    }
    gaps = [(str(gap.first), f"to {gap.last}, {gap.day_count} d") for gap in result.gaps]
    # The days with an issue per month, as bars in a Markdown table.
    missing = {gap.first + timedelta(days=n) for gap in result.gaps for n in range(gap.day_count)}
    days_by_month: dict[str, int] = {}
    for n in range((result.last - result.first).days + 1):
        day = result.first + timedelta(days=n)
        days_by_month.setdefault(f"{day:%Y-%m}", 0)
        days_by_month[f"{day:%Y-%m}"] += day not in missing
    plot = ["| month | issues | |", "| --- | ---: | --- |"]
    plot += [f"| {month} | {count} | {'▇' * count} |" for month, count in days_by_month.items()]
    is_before = result.latest < result.first  # no issue of the range has been published yet
    return {
        **{name: dg.MetadataValue.int(count) for name, count in counts.items()},
        "first_day": dg.MetadataValue.text(str(result.first)),
        "last_day": dg.MetadataValue.text("none" if is_before else str(result.last)),
        "latest_issue": dg.MetadataValue.text(str(result.latest)),
        "requested_last_day": dg.MetadataValue.text(str(result.requested_last)),
        "is_cut": dg.MetadataValue.bool(result.is_cut),
        "list_read_anew": dg.MetadataValue.bool(result.was_listed),
        "ending": dg.MetadataValue.text(result.ending),
        "gaps": _table("from", "days without an issue", gaps[:_MOST_GAPS]),
        "issues_by_month": dg.MetadataValue.md("\n".join(plot)),
    }


def _table(first: str, second: str, rows: Sequence[tuple[str, object]]) -> dg.MetadataValue:
    names = (first, second)
    records = [dg.TableRecord(dict(zip(names, map(str, row), strict=True))) for row in rows]
    schema = dg.TableSchema(columns=[dg.TableColumn(name, "string") for name in names])
    return dg.MetadataValue.table(records=records, schema=schema)


read_chart = dg.define_asset_job(
    "read_chart",
    selection=dg.AssetSelection.assets(CHART_ISSUES, CHART_SONGS, CHART_PLATFORM).without_checks(),
    description="Read the missing chart issues of one or more months, then link their songs to "
    "music ids. Choose the months as partitions.",
)

judge_chart = dg.define_asset_job(
    "judge_chart",
    selection=dg.AssetSelection.assets(CHART_PLATFORM).without_checks(),
    description="Link the songs of the chart to music ids. Makes no requests.",
)


def chart_schedule(*, is_on: bool) -> dg.ScheduleDefinition:
    """Return the daily schedule for new issues, with those that it has missed."""

    @dg.schedule(
        name="chart_schedule",
        job=read_chart,
        cron_schedule=DAILY_AT,
        default_status=dg.DefaultScheduleStatus.RUNNING
        if is_on
        else dg.DefaultScheduleStatus.STOPPED,
        description="Read the new issues of the chart and link their songs.",
    )
    def due(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        now = context.scheduled_execution_time
        current = _month(now)
        # From the newest month that was read, which may have missed its end, to this one; early in
        # a month at least from the previous one.
        read = context.instance.get_materialized_partitions(CHART_SONGS)
        recent = [key for key in read if _month(now - timedelta(days=MADE_UP_DAYS)) <= key]
        first = min(_month(now - timedelta(days=LOOKED_BACK_DAYS)), max(recent, default=current))
        return [
            dg.RunRequest(run_key=f"chart {key} {now:%Y-%m-%d}", partition_key=key)
            for key in months.get_partition_keys(now)
            if first <= key <= current
        ]

    return due


def _month(day: datetime) -> str:
    return f"{day:%Y-%m-01}"


def chart_sensor(*, is_on: bool) -> dg.SensorDefinition:
    """Return the sensor that links songs again after new confirmed videos or issues."""

    @dg.sensor(
        name="chart_platform",
        job=judge_chart,
        minimum_interval_seconds=CHART_SENSOR_INTERVAL_S,
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description="Links the songs of the chart again when confirmed videos or issues changed.",
    )
    def request_when_changed(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        # The last materialization of each asset that the mart is made from.
        events = {
            record.asset_entry.asset_key.to_user_string(): record.asset_entry.last_materialization
            for record in context.instance.get_asset_records([CONFIRMED, CHART_SONGS])
        }
        inputs = " ".join(
            f"{name}:{event.timestamp}"
            for name, event in sorted(events.items())
            if event is not None
        )
        if not inputs:
            return dg.SkipReason("no confirmed videos and no chart issues yet")
        # Whether a run for these inputs has succeeded; a later time alone might not include them.
        tags = {CHART_INPUTS_TAG: inputs}
        succeeded = dg.RunsFilter(
            job_name=judge_chart.name, tags=tags, statuses=[dg.DagsterRunStatus.SUCCESS]
        )
        if inputs == context.cursor or context.instance.get_runs_count(succeeded) > 0:
            context.update_cursor(inputs)
            return dg.SkipReason("nothing has changed")
        ended = find_ended_launches(context.instance, judge_chart.name, tags)
        if ended.is_pausing(MachineClock().now()):
            return dg.SkipReason(f"{ended.count} runs have failed; the next one waits")
        return dg.RunRequest(run_key=f"{inputs} {ended.count}", tags=tags)

    return request_when_changed
