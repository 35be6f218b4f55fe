"""Dagster schedules. Each is stopped unless its setting gives an interval in hours.

Schedules can also be started and tested in Dagster's UI: their jobs need no configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagster import DefaultScheduleStatus, JobDefinition, ScheduleDefinition

from pipelines.orchestration.jobs import (
    canaries,
    check_tables,
    doctor,
    maintain,
    publish_database,
    render_reports,
)

if TYPE_CHECKING:
    from pipelines.orchestration.dagster_compat import UnresolvedAssetJobDefinition

_DAY_H = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSpec:
    """The specification of one schedule.

    Attributes:
        name: Name of the schedule; its setting is `<name>_every_h`, 0 stops it.
        job: The job to launch, without configuration.
        usual_h: Interval in hours if the schedule is started although its setting is 0.
        at: Hour of the day (UTC) for intervals of a day or more.
        minute: Minute of the hour, distinct so that no two schedules start together.
    """

    name: str
    job: "JobDefinition | UnresolvedAssetJobDefinition"
    usual_h: int = _DAY_H
    at: int = 5
    minute: int


SCHEDULES = (
    ScheduleSpec(name="canaries", job=canaries, usual_h=6, minute=17),
    ScheduleSpec(name="database", job=publish_database, minute=37),
    ScheduleSpec(name="maintenance", job=maintain, at=3, minute=7),
    ScheduleSpec(name="checks", job=check_tables, at=4, minute=27),
    ScheduleSpec(name="doctor", job=doctor, usual_h=6, minute=47),
    ScheduleSpec(name="reports", job=render_reports, at=6, minute=57),
)


def build_schedules(hours: Mapping[str, int]) -> list[ScheduleDefinition]:
    """Build all schedules. `hours` is their interval by name; 0 or absent leaves one stopped."""
    return [_build(spec, hours.get(spec.name, 0)) for spec in SCHEDULES]


def _build(spec: ScheduleSpec, every_h: int) -> ScheduleDefinition:
    return ScheduleDefinition(
        name=f"{spec.name}_schedule",
        job=spec.job,
        cron_schedule=_cron(spec, every_h or spec.usual_h),
        default_status=DefaultScheduleStatus.RUNNING if every_h else DefaultScheduleStatus.STOPPED,
        description=f"{spec.job.description} Setting: {spec.name.upper()}_EVERY_H.",
    )


def _cron(spec: ScheduleSpec, every_h: int) -> str:
    if every_h < _DAY_H:
        return f"{spec.minute} */{every_h} * * *"
    return f"{spec.minute} {spec.at} */{every_h // _DAY_H} * *"
