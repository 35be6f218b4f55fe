"""Asset checks: what must hold of each table, and between the confirmed videos and the ranking."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import dagster as dg

from pipelines.documents.videos import SOURCE_CHANNEL_ZH, to_time
from pipelines.orchestration.assets.decorators import RunMetadata
from pipelines.orchestration.assets.scan_steps import CONFIRMED
from pipelines.orchestration.assets.tables import asset_key
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.partitions import tracks
from pipelines.orchestration.resources import ReviewResource
from pipelines.orchestration.runs.run_session import CurrentScan
from pipelines.scan.rules.expansion import TrackLink
from warehouse.maintenance.table_review import RuleResult, TableReview
from warehouse.records.evidence import is_confirmed_unshifted
from warehouse.records.videos import Video
from warehouse.tables import TABLES, Table
from warehouse.tables.column import MEANINGS, rule_names

# Blocking checks of the confirmed videos before they are ranked; a failed one stops the run.
#
# One step runs all of them, because every step of a run has its own overhead. Each result is that
# of one track, the partition, so that a scan never hides the result of another. The docstrings of
# the finders are the check descriptions in Dagster's UI.


type Confirmed = Sequence[tuple[Video, TrackLink]]


def repeated(confirmed: Confirmed) -> list[str]:
    """Videos that are confirmed twice."""
    counts = Counter(video.aweme_id for video, _ in confirmed)
    return [aweme_id for aweme_id, times in counts.items() if times > 1]


def with_negative_counts(confirmed: Confirmed) -> list[str]:
    """Videos with an engagement count below zero."""
    return [
        video.aweme_id
        for video, _ in confirmed
        if any((count or 0) < 0 for count in video.statistics.counts().values())
    ]


def with_unknown_link(confirmed: Confirmed) -> list[str]:
    """Videos without a known link type; matching text alone is not a link."""
    return [video.aweme_id for video, link in confirmed if link.link_type not in SOURCE_CHANNEL_ZH]


def without_evidence(confirmed: Confirmed) -> list[str]:
    """Audio links whose evidence does not meet the rules at unchanged speed and pitch."""
    return [
        video.aweme_id
        for video, link in confirmed
        if link.link_type != "exact_music_id"
        and (
            link.comparison is None
            or not is_confirmed_unshifted(link.comparison.pair, link.comparison.limits)
        )
    ]


FINDERS = {
    "confirmed_ids_are_unique": repeated,
    "counts_are_never_negative": with_negative_counts,
    "every_link_has_a_known_type": with_unknown_link,
    "audio_links_hold_as_heard": without_evidence,
}


with warnings.catch_warnings():
    warnings.simplefilter("ignore", dg.PreviewWarning)  # checks with partitions are new in Dagster
    _SPECS = [
        dg.AssetCheckSpec(
            name,
            asset=CONFIRMED,
            blocking=True,
            description=finder.__doc__,
            partitions_def=tracks,
        )
        for name, finder in FINDERS.items()
    ]


@dg.multi_asset_check(name="check_confirmed_videos", specs=_SPECS)
def confirmed_set(scan: dg.ResourceParam[CurrentScan]) -> Iterator[dg.AssetCheckResult]:
    """Check the confirmed videos before they are ranked."""
    confirmed = scan.confirmed()
    for name, finder in FINDERS.items():
        wrong = finder(confirmed)
        scan.note_check(passed=not wrong)
        yield dg.AssetCheckResult(
            check_name=name,
            asset_key=CONFIRMED,
            passed=not wrong,
            metadata={"wrong_count": len(wrong), "examples": wrong[:10]},
        )


# Checks of every lake table, built from the data contract: one step per table.
#
# A step scans its table once, reports all of its checks and the row count.

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
