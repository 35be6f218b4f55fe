"""Blocking checks of the confirmed videos before they are ranked; a failed one stops the run.

One step runs all of them, because every step of a run has its own overhead. Each result is that of
one track, the partition, so that a scan never hides the result of another. The docstrings of the
finders are the check descriptions in Dagster's UI.
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

import dagster as dg

from pipelines.documents.videos import SOURCE_CHANNEL_ZH
from pipelines.orchestration.assets.scan_steps import CONFIRMED
from pipelines.orchestration.partitions import tracks
from pipelines.orchestration.runs.run_session import CurrentScan
from pipelines.scan.rules.expansion import ConfirmedVideo
from warehouse.records.evidence import is_confirmed_unshifted


def repeated(confirmed: Sequence[ConfirmedVideo]) -> list[str]:
    """Videos that are confirmed twice."""
    counts = Counter(entry.video.aweme_id for entry in confirmed)
    return [aweme_id for aweme_id, times in counts.items() if times > 1]


def with_negative_counts(confirmed: Sequence[ConfirmedVideo]) -> list[str]:
    """Videos with an engagement count below zero."""
    return [
        entry.video.aweme_id
        for entry in confirmed
        if any((count or 0) < 0 for count in entry.video.statistics.counts().values())
    ]


def with_unknown_link(confirmed: Sequence[ConfirmedVideo]) -> list[str]:
    """Videos without a known link type; matching text alone is not a link."""
    return [entry.video.aweme_id for entry in confirmed if entry.link_type not in SOURCE_CHANNEL_ZH]


def without_evidence(confirmed: Sequence[ConfirmedVideo]) -> list[str]:
    """Audio links whose evidence does not meet the rules at unchanged speed and pitch."""
    return [
        entry.video.aweme_id
        for entry in confirmed
        if entry.link_type != "exact_music_id"
        and (
            entry.comparison is None
            or not is_confirmed_unshifted(entry.comparison.pair, entry.comparison.limits)
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
