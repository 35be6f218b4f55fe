"""Declare how old an asset may become, and which assets follow their tables by themselves.

The interval of a schedule is declared once, in `schedules.py`: the freshness policies of what its
job writes are derived from it. Nothing here requests the platform or starts a scan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import dagster as dg

from pipelines.orchestration import chart_runs
from pipelines.orchestration.assets.reports import DATABASE, REPORTS
from pipelines.orchestration.schedules import ScheduledJob, scheduled_jobs

LATE_AFTER = 1.25
"""Intervals until an asset is late: its next run then had a quarter of an interval to succeed."""

TOO_OLD_AFTER = 2.25
"""Intervals until an asset is too old: two runs in a row have failed or were missed."""

FOLLOWING = dg.AssetSelection.assets(DATABASE, *(key for asset in REPORTS for key in asset.keys))
"""Assets derived from stored rows alone; the steps of a scan follow each other in its run."""

FOLLOW_CRON = "22 * * * *"
"""At most once an hour: a day of scans would render every report hundreds of times."""

AFTER_NEW_ROWS = (
    dg.AutomationCondition.cron_tick_passed(FOLLOW_CRON)
    & dg.AutomationCondition.any_deps_updated().since_last_handled()
    & ~dg.AutomationCondition.in_progress()
).with_label("a table it reads has new rows, once an hour at most")


@dataclass(frozen=True, slots=True)
class AutomationRules:
    """The policies and conditions of assets, by key."""

    freshness: Mapping[dg.AssetKey, dg.FreshnessPolicy]
    conditions: Mapping[dg.AssetKey, dg.AutomationCondition[dg.AssetKey]]

    def applied_to(
        self, assets: Iterable[dg.AssetsDefinition | dg.AssetSpec]
    ) -> list[dg.AssetsDefinition | dg.AssetSpec]:
        """Return the assets with their rules."""

        def apply(spec: dg.AssetSpec) -> dg.AssetSpec:
            return spec.replace_attributes(
                freshness_policy=self.freshness.get(spec.key),
                automation_condition=self.conditions.get(spec.key),
            )

        return list(dg.map_asset_specs(apply, assets))


def automation_rules(
    assets: Iterable[dg.AssetsDefinition], hours: Mapping[str, int], *, chart_daily: bool
) -> AutomationRules:
    """Return the rules of these assets.

    `hours` is the interval of each schedule by name. Assets that only a stopped schedule would
    write get no freshness policy.
    """
    all_assets = list(assets)
    # The chart's schedule is not among `SCHEDULES`, because it runs at a fixed time of the day.
    running = scheduled_jobs(hours)
    if chart_daily:
        running.append(ScheduledJob(chart_runs.read_chart, chart_runs.INTERVAL))
    freshness: dict[dg.AssetKey, dg.FreshnessPolicy] = {}
    for scheduled in running:
        policy = dg.FreshnessPolicy.time_window(
            warn_window=scheduled.interval * LATE_AFTER,
            fail_window=scheduled.interval * TOO_OLD_AFTER,
        )
        freshness |= dict.fromkeys(scheduled.selection.resolve(all_assets), policy)
    following = FOLLOWING.resolve(all_assets)
    return AutomationRules(freshness, dict.fromkeys(following, AFTER_NEW_ROWS))


def follow_tables() -> dg.AutomationConditionSensorDefinition:
    """Return the sensor that evaluates the conditions; a user has to start it."""
    return dg.AutomationConditionSensorDefinition(
        name="follow_tables",
        target=FOLLOWING,
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=60,
        description="Renders reports and publishes the database again when one of their tables has "
        "new rows, once an hour at most. Requests nothing and starts no scan.",
    )
