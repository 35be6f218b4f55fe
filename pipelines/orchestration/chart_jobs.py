"""Jobs, the schedule and the sensor of the chart.

Schedule and sensor are stopped unless `CHART_DAILY` is set; they can be started and tested in
Dagster's UI. Not here: the work (`pipelines/charts`).
"""

from datetime import datetime, timedelta

from dagster import (
    AssetSelection,
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SensorDefinition,
    SensorEvaluationContext,
    SkipReason,
    define_asset_job,
    schedule,
    sensor,
)

from pipelines.clock import MachineClock
from pipelines.orchestration.assets.chart import CHART_ISSUES, CHART_PLATFORM, CHART_SONGS, months
from pipelines.orchestration.assets.conclude import CONFIRMED
from pipelines.orchestration.runs.repeated_launches import find_ended_launches

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

read_chart = define_asset_job(
    "read_chart",
    selection=AssetSelection.assets(CHART_ISSUES, CHART_SONGS, CHART_PLATFORM).without_checks(),
    description="Read the missing chart issues of one or more months, then link their songs to "
    "music ids. Choose the months as partitions.",
)

judge_chart = define_asset_job(
    "judge_chart",
    selection=AssetSelection.assets(CHART_PLATFORM).without_checks(),
    description="Link the songs of the chart to music ids. Makes no requests.",
)


def chart_schedule(*, is_on: bool) -> ScheduleDefinition:
    """Return the daily schedule for new issues, with those that it has missed."""

    @schedule(
        name="chart_schedule",
        job=read_chart,
        cron_schedule=DAILY_AT,
        default_status=DefaultScheduleStatus.RUNNING if is_on else DefaultScheduleStatus.STOPPED,
        description="Read the new issues of the chart and link their songs.",
    )
    def due(context: ScheduleEvaluationContext) -> list[RunRequest]:
        now = context.scheduled_execution_time
        return [
            RunRequest(run_key=f"chart {key} {now:%Y-%m-%d}", partition_key=key)
            for key in _due_months(context.instance, now)
        ]

    return due


def _due_months(instance: DagsterInstance, now: datetime) -> list[str]:
    """Return the months from the newest that was read, which may have missed its end, to this one.

    Early in a month the previous one is among them.
    """
    current = _month(now)
    read = instance.get_materialized_partitions(CHART_SONGS)
    recent = [key for key in read if _month(now - timedelta(days=MADE_UP_DAYS)) <= key]
    first = min(_month(now - timedelta(days=LOOKED_BACK_DAYS)), max(recent, default=current))
    return [key for key in months.get_partition_keys(now) if first <= key <= current]


def _month(day: datetime) -> str:
    return f"{day:%Y-%m-01}"


def chart_sensor(*, is_on: bool) -> SensorDefinition:
    """Return the sensor that links songs again after new confirmed videos or issues."""

    @sensor(
        name="chart_platform",
        job=judge_chart,
        minimum_interval_seconds=CHART_SENSOR_INTERVAL_S,
        default_status=DefaultSensorStatus.RUNNING if is_on else DefaultSensorStatus.STOPPED,
        description="Links the songs of the chart again when confirmed videos or issues changed.",
    )
    def look(context: SensorEvaluationContext) -> RunRequest | SkipReason:
        newest = _newest(context)
        if not newest:
            return SkipReason("no confirmed videos and no chart issues yet")
        if newest == context.cursor or _is_judged(context.instance, newest):
            context.update_cursor(newest)
            return SkipReason("nothing has changed")
        tags = {CHART_INPUTS_TAG: newest}
        ended = find_ended_launches(context.instance, judge_chart.name, tags)
        if ended.is_pausing(MachineClock().now()):
            return SkipReason(f"{ended.count} runs have failed; the next one waits")
        return RunRequest(run_key=f"{newest} {ended.count}", tags=tags)

    return look


def _is_judged(instance: DagsterInstance, inputs: str) -> bool:
    """Whether a run for these inputs has succeeded; a later time alone might not include them."""
    succeeded = RunsFilter(
        job_name=judge_chart.name,
        tags={CHART_INPUTS_TAG: inputs},
        statuses=[DagsterRunStatus.SUCCESS],
    )
    return instance.get_runs_count(succeeded) > 0


def _newest(context: SensorEvaluationContext) -> str:
    """Return the last materialization of each asset that the mart is made from."""
    events = {
        record.asset_entry.asset_key.to_user_string(): record.asset_entry.last_materialization
        for record in context.instance.get_asset_records([CONFIRMED, CHART_SONGS])
    }
    return " ".join(
        f"{name}:{event.timestamp}" for name, event in sorted(events.items()) if event is not None
    )
