"""Checks that stand between the confirmed set and its ranking. A failed one stops the run."""

from collections import Counter

from dagster import AssetCheckResult, ResourceParam, asset_check

from pipelines.assets.concluding import CONFIRMED
from pipelines.domain.documents import SOURCE_CHANNEL_ZH
from pipelines.domain.evidence import holds_as_heard
from pipelines.resources import ScanSlot


def _result(wrong: list[str]) -> AssetCheckResult:
    return AssetCheckResult(
        passed=not wrong, metadata={"wrong_count": len(wrong), "examples": wrong[:10]}
    )


@asset_check(asset=CONFIRMED, blocking=True)
def confirmed_ids_are_unique(scan: ResourceParam[ScanSlot]) -> AssetCheckResult:
    """No work is confirmed twice."""
    counts = Counter(entry.video.aweme_id for entry in scan.confirmed())
    return _result([aweme_id for aweme_id, times in counts.items() if times > 1])


@asset_check(asset=CONFIRMED, blocking=True)
def counts_are_never_negative(scan: ResourceParam[ScanSlot]) -> AssetCheckResult:
    """No engagement count of a confirmed work is below zero."""
    return _result([
        entry.video.aweme_id
        for entry in scan.confirmed()
        if any((count or 0) < 0 for count in entry.video.statistics.counts())
    ])  # fmt: skip


@asset_check(asset=CONFIRMED, blocking=True)
def every_link_has_a_known_type(scan: ResourceParam[ScanSlot]) -> AssetCheckResult:
    """Each confirmed work says how it is linked; words alone are no link."""
    return _result([
        entry.video.aweme_id
        for entry in scan.confirmed()
        if entry.link_type not in SOURCE_CHANNEL_ZH
    ])  # fmt: skip


@asset_check(asset=CONFIRMED, blocking=True)
def audio_links_hold_as_heard(scan: ResourceParam[ScanSlot]) -> AssetCheckResult:
    """Each audio link has evidence that meets the rules at its own speed and pitch."""
    return _result([
        entry.video.aweme_id
        for entry in scan.confirmed()
        if entry.link_type != "exact_music_id"
        and (
            entry.comparison is None
            or not holds_as_heard(entry.comparison.pair, entry.comparison.limits)
        )
    ])  # fmt: skip


CHECKS = [
    confirmed_ids_are_unique,
    counts_are_never_negative,
    every_link_has_a_known_type,
    audio_links_hold_as_heard,
]
