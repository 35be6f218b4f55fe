"""How old an asset may become, and which assets follow their tables by themselves.

The interval of a schedule is declared once, in `schedules.py`: the freshness policies of what its
job writes are derived from it. Nothing here requests the platform or starts a scan.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from dagster import (
    AssetKey,
    AssetsDefinition,
    AssetSelection,
    AssetSpec,
    AutomationCondition,
    AutomationConditionSensorDefinition,
    DefaultSensorStatus,
    FreshnessPolicy,
    map_asset_specs,
)

from pipelines.orchestration import chart_jobs
from pipelines.orchestration.assets.published_database import DATABASE
from pipelines.orchestration.assets.reports import REPORTS
from pipelines.orchestration.schedules import ScheduledJob, scheduled_jobs

LATE_AFTER = 1.25
"""Intervals until an asset is late: the next run has had a quarter of an interval to succeed."""

TOO_OLD_AFTER = 2.25
"""Intervals until an asset is too old: two runs in a row have failed or were missed."""

FOLLOWING = AssetSelection.assets(DATABASE, *(key for asset in REPORTS for key in asset.keys))
"""What is derived from stored rows alone; steps of scans follow one another in their own run."""

FOLLOW_CRON = "22 * * * *"
"""At most once an hour: a day of scans would render every report hundreds of times."""

AFTER_NEW_ROWS = (
    AutomationCondition.cron_tick_passed(FOLLOW_CRON)
    & AutomationCondition.any_deps_updated().since_last_handled()
    & ~AutomationCondition.in_progress()
).with_label("a table it reads has new rows, once an hour at most")


@dataclass(frozen=True, slots=True)
class AutomationRules:
    """The policies and conditions of assets, by key."""

    freshness: Mapping[AssetKey, FreshnessPolicy]
    conditions: Mapping[AssetKey, AutomationCondition[AssetKey]]

    def applied_to(
        self, assets: Iterable[AssetsDefinition | AssetSpec]
    ) -> list[AssetsDefinition | AssetSpec]:
        """Return the assets with their rules."""

        def apply(spec: AssetSpec) -> AssetSpec:
            return spec.replace_attributes(
                freshness_policy=self.freshness.get(spec.key),
                automation_condition=self.conditions.get(spec.key),
            )

        return list(map_asset_specs(apply, assets))


def automation_rules(
    assets: Iterable[AssetsDefinition], hours: Mapping[str, int], *, chart_daily: bool
) -> AutomationRules:
    """Return the rules of these assets.

    What only a stopped schedule would write gets no freshness policy: nobody expects it.
    """
    known = list(assets)
    running = [*scheduled_jobs(hours), *_chart(is_on=chart_daily)]
    following = FOLLOWING.resolve(known)
    return AutomationRules(
        freshness=dict(_policies(known, running)),
        conditions=dict.fromkeys(following, AFTER_NEW_ROWS),
    )


def follow_tables() -> AutomationConditionSensorDefinition:
    """Return the sensor that evaluates the conditions; stopped until somebody starts it."""
    return AutomationConditionSensorDefinition(
        name="follow_tables",
        target=FOLLOWING,
        default_status=DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=60,
        description="Renders reports and publishes the database again when one of their tables has "
        "new rows, once an hour at most. Requests nothing and starts no scan.",
    )


def _chart(*, is_on: bool) -> Iterator[ScheduledJob]:
    if is_on:
        yield ScheduledJob(chart_jobs.read_chart, chart_jobs.INTERVAL)


def _policies(
    assets: list[AssetsDefinition], running: Iterable[ScheduledJob]
) -> Iterator[tuple[AssetKey, FreshnessPolicy]]:
    for scheduled in running:
        policy = _policy(scheduled.interval)
        for key in scheduled.selection.resolve(assets):
            yield key, policy


def _policy(interval: timedelta) -> FreshnessPolicy:
    return FreshnessPolicy.time_window(
        warn_window=interval * LATE_AFTER, fail_window=interval * TOO_OLD_AFTER
    )
