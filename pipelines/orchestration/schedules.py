"""Dagster schedules. Each is stopped unless its setting gives an interval in hours.

Schedules can also be started and tested in Dagster's UI: their jobs need no configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from dagster import AssetSelection, DefaultScheduleStatus, JobDefinition, ScheduleDefinition

from pipelines.orchestration import jobs

type AnyJob = Any
"""A `JobDefinition`, or what `define_asset_job` returns, whose type has no public name."""

_DAY_H = 24
_WEEK = timedelta(days=7)


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
    job: AnyJob
    usual_h: int = _DAY_H
    at: int = 5
    minute: int


SCHEDULES = (
    ScheduleSpec(name="canaries", job=jobs.canaries, usual_h=6, minute=17),
    ScheduleSpec(name="database", job=jobs.publish_database, minute=37),
    ScheduleSpec(name="maintenance", job=jobs.maintain, at=3, minute=7),
    ScheduleSpec(name="checks", job=jobs.check_tables, at=4, minute=27),
    ScheduleSpec(name="doctor", job=jobs.doctor, usual_h=6, minute=47),
    ScheduleSpec(name="reports", job=jobs.render_reports, at=6, minute=57),
)


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A job that a running schedule launches, and the longest time between two launches."""

    job: AnyJob
    interval: timedelta

    @property
    def selection(self) -> AssetSelection:
        """The assets that the job writes; empty for a job of ops."""
        if isinstance(self.job, JobDefinition):
            return AssetSelection.assets()
        selection: AssetSelection = self.job.selection
        return selection


def scheduled_jobs(hours: Mapping[str, int]) -> list[ScheduledJob]:
    """Return the jobs of the schedules that run; `hours` is their interval by name."""
    return [
        ScheduledJob(spec.job, _interval(hours[spec.name]))
        for spec in SCHEDULES
        if hours.get(spec.name)
    ]


def build_schedules(hours: Mapping[str, int]) -> list[ScheduleDefinition]:
    """Build all schedules. `hours` is their interval by name; 0 or absent leaves one stopped."""
    schedules = []
    for spec in SCHEDULES:
        every_h = hours.get(spec.name, 0)
        interval = _interval(every_h or spec.usual_h)
        if interval == _WEEK:
            # A Monday: every seventh day of a month would be three days after the 29th.
            cron = f"{spec.minute} {spec.at} * * 1"
        elif interval.days:
            cron = f"{spec.minute} {spec.at} */{interval.days} * *"
        else:
            cron = f"{spec.minute} */{every_h or spec.usual_h} * * *"
        schedules.append(
            ScheduleDefinition(
                name=f"{spec.name}_schedule",
                job=spec.job,
                cron_schedule=cron,
                default_status=DefaultScheduleStatus.RUNNING
                if every_h
                else DefaultScheduleStatus.STOPPED,
                description=f"{spec.job.description} Setting: {spec.name.upper()}_EVERY_H.",
            )
        )
    return schedules


def _interval(every_h: int) -> timedelta:
    """Return whole hours below a day, else whole days: what a cron expression can state."""
    return timedelta(hours=every_h) if every_h < _DAY_H else timedelta(days=every_h // _DAY_H)
