"""Checks of every lake table, built from the data contract: one step per table.

A step scans its table once, reports all of its checks and the row count. Not here: the rules
(`warehouse/tables/row_rules.py`), the queries (`warehouse/maintenance/table_review.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import dagster as dg

from pipelines.documents.videos import to_time
from pipelines.orchestration.assets.decorators import RunMetadata
from pipelines.orchestration.assets.tables import asset_key
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import ReviewResource
from warehouse.maintenance.table_review import RuleResult, TableReview
from warehouse.tables import TABLES, Table
from warehouse.tables.row_rules import MEANINGS, rule_names

_BARS = "▁▂▃▄▅▆▇█"


def to_result(key: dg.AssetKey, finding: RuleResult, row_count: int) -> dg.AssetCheckResult:
    """Convert a finding to a check result. Row keys are shown as text, never as markup."""
    metadata: RunMetadata = {"row_count": row_count, "wrong_count": finding.wrong_count}
    if finding.examples:
        metadata["examples"] = dg.MetadataValue.json(
            [
                {
                    name: value if isinstance(value, int) else str(value)
                    for name, value in row.items()
                }
                for row in finding.examples
            ]
        )
    if finding.says:
        metadata["says"] = dg.MetadataValue.text(finding.says)
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=finding.rule,
        passed=finding.holds,
        severity=dg.AssetCheckSeverity.WARN if finding.is_warning else dg.AssetCheckSeverity.ERROR,
        metadata=metadata,
    )


def to_observation(key: dg.AssetKey, review: TableReview) -> dg.AssetObservation:
    """Convert a review to an asset observation with row count, files and size."""
    return dg.AssetObservation(
        key,
        metadata={
            "dagster/row_count": review.row_count,
            "files": review.file_count,
            "size_bytes": review.size_bytes,
            "newest_row_at": to_time(review.newest_at) or "never",
            "rows_by_day": dg.MetadataValue.md(rows_of_days(review.rows_by_day)),
        },
    )


def rows_of_days(counts: Mapping[date, int]) -> str:
    """Render the rows per day as a Markdown bar chart; days without rows are dots."""
    if not counts:
        return "no rows in the last 30 days"
    first, last = min(counts), max(counts)
    most = max(counts.values())
    bars = ""
    for n in range((last - first).days + 1):
        count = counts.get(first + timedelta(days=n), 0)
        bars += "·" if count == 0 else _BARS[(count * (len(_BARS) - 1) + most - 1) // most]
    return f"`{bars}`\n\n{first} to {last}, at most {most:,} rows a day"


def _checks_of(table: Table) -> dg.AssetChecksDefinition:
    key = asset_key(table)

    @dg.multi_asset_check(
        name=f"check_{'_'.join(key.path)}",
        specs=[
            dg.AssetCheckSpec(rule, asset=key, description=MEANINGS[rule])
            for rule in rule_names(table)
        ],
        description=f"Check every row of {table.name} in one pass.",
        can_subset=True,  # lets the UI run a single check
    )
    def checks(
        context: dg.AssetCheckExecutionContext, reviews: dg.ResourceParam[ReviewResource]
    ) -> Iterator[dg.AssetCheckResult]:
        with reasons_as_failures():
            review = reviews.review(table, now=datetime.now(UTC))
        context.op_execution_context.log_event(to_observation(key, review))
        for finding in review.findings:
            if dg.AssetCheckKey(key, finding.rule) in context.selected_asset_check_keys:
                yield to_result(key, finding, review.row_count)

    return checks


TABLE_CHECKS: Sequence[dg.AssetChecksDefinition] = [_checks_of(table) for table in TABLES]
