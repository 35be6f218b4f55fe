"""Assets that conclude a scan: confirmed videos with their evidence, coverage, ranking, result.

Not here: the work itself (`pipelines/scan/confirm.py`, `conclude.py` and `rows.py`).
"""

from collections.abc import Iterator
from functools import partial

from dagster import AssetKey, AssetSpec, MaterializeResult, ResourceParam, multi_asset

from pipelines.orchestration.assets.collect import VIDEO_DETAILS
from pipelines.orchestration.assets.decorators import GROUP, KINDS, OWNERS, Result, scan_asset
from pipelines.orchestration.assets.descriptions import deps_on
from pipelines.orchestration.assets.metadata import coverage_metadata
from pipelines.orchestration.partitions import tracks
from pipelines.orchestration.resources import CurrentScan
from pipelines.scan import conclude
from pipelines.scan import rows as mart_rows
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.profiles import read_profiles
from pipelines.scan.scan_run import ScanRun
from warehouse.lake.packing import pack_document

CONFIRMED = AssetKey(["marts", "confirmed_videos"])
AUDIO_COMPARISONS = AssetKey(["marts", "audio_comparisons"])
ACCOUNT_PROFILES = AssetKey(["raw", "account_profiles"])
COVERAGE = AssetKey(["marts", "coverage"])
RANKINGS = AssetKey(["marts", "rankings"])
JOB_RESULTS = AssetKey(["marts", "job_results"])


def _spec(noun: str, description: str, *others: AssetKey) -> AssetSpec:
    return AssetSpec(
        ["marts", noun],
        deps=[VIDEO_DETAILS, *others, *deps_on("raw.videos", "raw.sounds")],
        description=description,
        group_name=GROUP,
        owners=OWNERS,
        kinds=KINDS,
    )


@multi_asset(
    name="confirm_videos",
    partitions_def=tracks,
    specs=[
        _spec(
            "confirmed_videos",
            "Videos that carry the unchanged recording, with evidence.",
            AUDIO_COMPARISONS,
        ),
        _spec(
            "variants",
            "Videos that carry the recording at another speed or pitch.",
            AUDIO_COMPARISONS,
        ),
        _spec("audio_comparisons", "Every compared pair with its evidence, also rejected ones."),
        _spec("expansion_rounds", "Music ids that each round of the scan verified.", CONFIRMED),
    ],
)
def confirmed_videos(scan: ResourceParam[CurrentScan]) -> Iterator[Result]:
    """Verify the pool's music ids by audio, confirm their videos, expand until nothing is new."""
    with scan.stage("confirmed_videos") as session:
        counts = session.complete_step("confirmed_videos", partial(_confirm, session))
        outcomes = mart_rows.outcome_counts(session)
        for noun, count in counts.items():
            found = outcomes if noun == "confirmed_videos" else {}
            yield MaterializeResult(
                asset_key=["marts", noun], metadata={"dagster/row_count": count, **found}
            )


def _confirm(session: ScanRun) -> dict[str, int]:
    """Confirm videos and write the marts of it; return their counts of rows."""
    confirm_videos(session)
    session.append("candidates", mart_rows.candidate_rows(session))
    marts = mart_rows.confirmation_rows(session)
    for noun, rows in marts.items():
        session.append(noun, rows)
    return {noun: len(rows) for noun, rows in marts.items()}


@scan_asset(ACCOUNT_PROFILES, deps=[CONFIRMED])
def account_profiles(scan: ResourceParam[CurrentScan]) -> Result:
    """Profiles of the accounts behind the confirmed videos, those with most linked likes first."""
    with scan.stage("account_profiles") as session:
        counts = session.complete_step(
            "account_profiles", lambda: {"profiles_known": read_profiles(session)}
        )
        return MaterializeResult(metadata=counts | coverage_metadata(session))


@scan_asset(COVERAGE, deps=[CONFIRMED, ACCOUNT_PROFILES])
def coverage(scan: ResourceParam[CurrentScan]) -> Result:
    """The coverage report: requests, items and stop reason of each source."""
    with scan.stage("rankings") as session:
        counts = session.complete_step("coverage", partial(_write_coverage, session))
        return MaterializeResult(metadata=counts | coverage_metadata(session))


def _write_coverage(session: ScanRun) -> dict[str, int]:
    rows = mart_rows.coverage_rows(session)
    session.append("coverage", rows)
    return {"dagster/row_count": len(rows)}


@scan_asset(RANKINGS, deps=[CONFIRMED, COVERAGE])
def rankings(scan: ResourceParam[CurrentScan]) -> Result:
    """The confirmed videos in the sort order of the job."""
    with scan.stage("rankings") as session:
        counts = session.complete_step("rankings", partial(_write_rankings, session))
        return MaterializeResult(metadata=dict(counts))


def _write_rankings(session: ScanRun) -> dict[str, int]:
    document = session.result = conclude.result_document(session)
    rows = mart_rows.ranking_rows(session, document)
    session.append("rankings", rows)
    accounts = mart_rows.account_rows(session, document["account_summary"])
    session.append("account_summaries", accounts)
    return {"dagster/row_count": len(rows)}


@scan_asset(JOB_RESULTS, deps=[RANKINGS, VIDEO_DETAILS])
def job_results(scan: ResourceParam[CurrentScan]) -> Result:
    """The result as one immutable document, the source of every later read."""
    with scan.stage("job_results") as session:
        document = session.result or conclude.result_document(session)
        related = mart_rows.related_rows(session, document["search_related"])
        session.append("search_related", related)
        packed = pack_document(document)
        session.finish_appends()  # the result is last: readers of it find all other rows
        session.append("job_results", [mart_rows.result_row(session, packed)])
        session.finish_appends()
        counts = {"dagster/row_count": 1, "size_bytes": len(packed)}
        return MaterializeResult(metadata={**counts, **session.stopwatch.seconds()})
