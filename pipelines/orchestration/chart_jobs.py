"""What of the chart can be launched, and what launches it: jobs, a schedule, a sensor.

Each is stopped unless `CHART_DAILY` says otherwise; anybody may start or try it in the
orchestrator's UI. The work is in `pipelines/charts`.
"""

from datetime import timedelta

from dagster import (
    AssetSelection,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SensorDefinition,
    SensorEvaluationContext,
    SkipReason,
    define_asset_job,
    schedule,
    sensor,
)

from pipelines.orchestration.assets.chart import CHART_ISSUES, CHART_PLATFORM, CHART_SONGS
from pipelines.orchestration.assets.conclude import CONFIRMED

DAILY_AT = "40 1 * * *"
"""UTC: an hour and more after an issue appears, which it does at half past eight in Shanghai."""
LOOKED_BACK_DAYS = 10
"""So long into a month the one before is read on as well: the machine may have been off."""
LOOK_EVERY_S = 300

read_chart = define_asset_job(
    "read_chart",
    selection=AssetSelection.assets(CHART_ISSUES, CHART_SONGS, CHART_PLATFORM).without_checks(),
    description="Read the issues of the chart of one or more months that are not in the lake yet, "
    "then judge their songs against the platform. Choose the months as partitions.",
)

judge_chart = define_asset_job(
    "judge_chart",
    selection=AssetSelection.assets(CHART_PLATFORM).without_checks(),
    description="Judge the songs of the chart against the platform. Asks nobody for anything.",
)


def chart_schedule(*, is_on: bool) -> ScheduleDefinition:
    """New issues every day; of a young month, the one before as well."""

    @schedule(
        name="chart_schedule",
        job=read_chart,
        cron_schedule=DAILY_AT,
        default_status=DefaultScheduleStatus.RUNNING if is_on else DefaultScheduleStatus.STOPPED,
        description="Read the new issues of the chart, and judge their songs.",
    )
    def due(context: ScheduleEvaluationContext) -> list[RunRequest]:
        now = context.scheduled_execution_time
        days = (now, now - timedelta(days=LOOKED_BACK_DAYS))
        return [
            RunRequest(run_key=f"chart {key} {now:%Y-%m-%d}", partition_key=key)
            for key in sorted({f"{day:%Y-%m-01}" for day in days})
        ]

    return due


def chart_sensor(*, is_on: bool) -> SensorDefinition:
    """Judges songs again when scans have confirmed works, or issues came in by other ways."""

    @sensor(
        name="chart_platform",
        job=judge_chart,
        minimum_interval_seconds=LOOK_EVERY_S,
        default_status=DefaultSensorStatus.RUNNING if is_on else DefaultSensorStatus.STOPPED,
        description="Judges the songs of the chart again when confirmed works or issues changed.",
    )
    def look(context: SensorEvaluationContext) -> RunRequest | SkipReason:
        newest = _newest(context)
        if not newest:
            return SkipReason("nothing was confirmed and no issue read yet")
        if newest == context.cursor:
            return SkipReason("nothing has changed")
        context.update_cursor(newest)
        return RunRequest(run_key=newest)

    return look


def _newest(context: SensorEvaluationContext) -> str:
    """The last materialization of each asset that the mart is made from."""
    events = {
        record.asset_entry.asset_key.to_user_string(): record.asset_entry.last_materialization
        for record in context.instance.get_asset_records([CONFIRMED, CHART_SONGS])
    }
    return " ".join(
        f"{name}:{event.timestamp}" for name, event in sorted(events.items()) if event is not None
    )
