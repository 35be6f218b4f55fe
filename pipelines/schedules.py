"""What runs by itself, and when. Each is stopped unless a setting says otherwise; anybody may
start it in the orchestrator's UI.
"""

from dagster import DefaultScheduleStatus, ScheduleDefinition

from pipelines.jobs import canaries, publish_database

USUAL_H = 6
"""Hours between two rounds of canaries when somebody starts the schedule without naming any."""
_DAY_H = 24


def canary_schedule(every_h: int) -> ScheduleDefinition:
    """The canaries every so many hours; 0: stopped until somebody starts it."""
    return ScheduleDefinition(
        name="canaries_schedule",
        job=canaries,
        cron_schedule=_cron(every_h or USUAL_H),
        default_status=DefaultScheduleStatus.RUNNING if every_h else DefaultScheduleStatus.STOPPED,
        description="Ask every surface of the platform one question.",
    )


def database_schedule(every_h: int) -> ScheduleDefinition:
    """The published database every so many hours; 0: stopped until somebody starts it."""
    return ScheduleDefinition(
        name="database_schedule",
        job=publish_database,
        cron_schedule=_cron(every_h or _DAY_H),
        default_status=DefaultScheduleStatus.RUNNING if every_h else DefaultScheduleStatus.STOPPED,
        description="Write all marts into one DuckDB file for other tools.",
    )


def _cron(every_h: int) -> str:
    """Some minutes past the hour, when nobody else's schedules begin."""
    if every_h < _DAY_H:
        return f"17 */{every_h} * * *"
    return f"17 5 */{every_h // _DAY_H} * *"
