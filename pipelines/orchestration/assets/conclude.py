"""Assets that conclude a scan: confirmed videos with their evidence, coverage, ranking, result.

Not here: the work itself (`pipelines/scan/confirm.py`, `conclude.py` and `marts.py`).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from dagster import AssetDep, AssetKey, AssetSpec, MaterializeResult, ResourceParam

from pipelines.orchestration.assets.collect import VIDEO_DETAILS
from pipelines.orchestration.assets.decorators import (
    COMPARES_SOUNDS,
    CONCLUDE,
    KINDS,
    OWNERS,
    READS_PLATFORM,
    RUNS_SQL,
    Result,
    scan_asset,
    scan_assets,
)
from pipelines.orchestration.assets.descriptions import deps_on
from pipelines.orchestration.assets.metadata import ROWS, coverage_metadata, step_metadata
from pipelines.orchestration.runs.current_scan import CurrentScan
from pipelines.scan import conclude
from pipelines.scan import marts as mart_rows
from pipelines.scan.collect import read_profiles
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.scan_run import ScanRun
from warehouse.lake.packing import pack_document

CONFIRMED = AssetKey(["marts", "confirmed_videos"])
AUDIO_COMPARISONS = AssetKey(["marts", "audio_comparisons"])
ACCOUNT_PROFILES = AssetKey(["marts", "account_profiles"])
COVERAGE = AssetKey(["marts", "coverage"])
RANKINGS = AssetKey(["marts", "rankings"])
JOB_RESULTS = AssetKey(["marts", "job_results"])
SEARCH_RELATED = AssetKey(["marts", "search_related"])


def _part(
    noun: str, description: str, *deps: AssetKey | AssetDep, kinds: Collection[str] = KINDS
) -> AssetSpec:
    return AssetSpec(
        ["marts", noun],
        deps=deps,
        description=description,
        group_name=CONCLUDE,
        owners=OWNERS,
        kinds=set(kinds),
    )


def _audio_part(noun: str, description: str, *others: AssetKey) -> AssetSpec:
    tables = deps_on("raw.videos", "raw.sounds")
    return _part(noun, description, VIDEO_DETAILS, *others, *tables, kinds=COMPARES_SOUNDS)


def _results(counts: Mapping[str, int]) -> Iterator[Result]:
    """Report the rows that a step wrote to each mart."""
    for noun, count in counts.items():
        yield MaterializeResult(asset_key=["marts", noun], metadata={"dagster/row_count": count})


@scan_assets(
    "confirmed_videos",
    _audio_part(
        "confirmed_videos",
        "Videos that carry the unchanged recording, with evidence.",
        AUDIO_COMPARISONS,
    ),
    _audio_part(
        "variants",
        "Videos that carry the recording changed, or a few seconds of it.",
        AUDIO_COMPARISONS,
    ),
    _audio_part("audio_comparisons", "Every compared pair with its evidence, also rejected ones."),
    _audio_part("candidates", "Every candidate of all rounds with its outcome.", AUDIO_COMPARISONS),
    _audio_part("expansion_rounds", "Music ids that each round of the scan verified.", CONFIRMED),
)
def confirmed_videos(scan: ResourceParam[CurrentScan]) -> Iterator[Result]:
    """Verify the pool's music ids by audio, confirm their videos, expand until nothing is new."""
    with scan.stage("confirmed_videos") as session:
        counts = session.complete_step("confirmed_videos", partial(_confirm, session))
        outcomes = Counter(outcome for outcome, _ in session.state.outcomes.values())
        for noun, count in counts.items():
            found = outcomes if noun == "candidates" else {}
            yield MaterializeResult(
                asset_key=["marts", noun], metadata={"dagster/row_count": count, **found}
            )


def _confirm(session: ScanRun) -> dict[str, int]:
    """Confirm videos and write the marts of it; return their counts of rows."""
    confirm_videos(session)
    return mart_rows.append_marts(session, mart_rows.confirmation_rows(session))


@scan_asset(ACCOUNT_PROFILES, deps=[CONFIRMED], group=CONCLUDE, kinds=READS_PLATFORM)
def account_profiles(scan: ResourceParam[CurrentScan]) -> Result:
    """Profiles of the accounts behind the confirmed videos, those with most linked likes first."""
    with scan.stage("account_profiles") as session:
        counts = session.complete_step("account_profiles", partial(_read_profiles, session))
        return MaterializeResult(
            metadata=step_metadata(session, counts) | coverage_metadata(session)
        )


def _read_profiles(session: ScanRun) -> dict[str, int]:
    known = read_profiles(session)
    rows = mart_rows.profile_rows(session)
    session.append("account_profiles", rows)
    return {"profiles_known": known, ROWS: len(rows)}


@scan_assets(
    "coverage",
    _part(
        "coverage",
        "The coverage report: requests, items and stop reason of each source.",
        CONFIRMED,
        ACCOUNT_PROFILES,
        kinds=RUNS_SQL,
    ),
    _part(
        "coverage_estimates",
        "How many music ids and videos with the recording a guest could reach, estimated.",
        CONFIRMED,
    ),
    _part(
        "random_audits",
        "How many videos that are no candidates carry the recording at most, by a random sample.",
        AUDIO_COMPARISONS,
    ),
)
def coverage(scan: ResourceParam[CurrentScan]) -> Iterator[Result]:
    """Report what each source gave and why it ended, and estimate what the scan did not see."""
    with scan.stage("rankings") as session:
        counts = session.complete_step("coverage", partial(_write_coverage, session))
        for noun, count in counts.items():
            sources = coverage_metadata(session) if noun == "coverage" else {}
            yield MaterializeResult(
                asset_key=["marts", noun], metadata={"dagster/row_count": count, **sources}
            )


def _write_coverage(session: ScanRun) -> dict[str, int]:
    return mart_rows.append_marts(session, conclude.coverage_marts(session))


@scan_assets(
    "rankings",
    _part(
        "rankings",
        "The confirmed videos in the sort order of the job.",
        CONFIRMED,
        COVERAGE,
        kinds=RUNS_SQL,
    ),
    _part(
        "account_summaries",
        "The accounts behind the confirmed videos, with the sums of these.",
        CONFIRMED,
        ACCOUNT_PROFILES,
        *deps_on("raw.accounts", "raw.videos"),
        kinds=RUNS_SQL,
    ),
)
def rankings(scan: ResourceParam[CurrentScan]) -> Iterator[Result]:
    """Rank the confirmed videos and sum them up by account."""
    with scan.stage("rankings") as session:
        counts = session.complete_step("rankings", partial(_write_rankings, session))
        yield from _results(counts)


def _write_rankings(session: ScanRun) -> dict[str, int]:
    return mart_rows.append_marts(session, conclude.ranking_marts(session))


@scan_assets(
    "job_results",
    _part(
        "search_related",
        "Videos that name the song or stood in search results, and are not confirmed.",
        VIDEO_DETAILS,
        *deps_on("raw.capture_items", "raw.videos"),
    ),
    _part(
        "job_results",
        "The result as one immutable document, the source of every later read.",
        RANKINGS,
        VIDEO_DETAILS,
        SEARCH_RELATED,
    ),
)
def job_results(scan: ResourceParam[CurrentScan]) -> Iterator[Result]:
    """Write the result of the scan, after all of its other rows."""
    with scan.stage("job_results") as session:
        document = session.result or conclude.result_document(session)
        related = mart_rows.related_rows(document["search_related"])
        session.append("search_related", related)
        packed = pack_document(document)
        session.finish_appends()  # the result is last: readers of it find all other rows
        session.append("job_results", [mart_rows.result_row(session, packed)])
        session.finish_appends()
        yield from _results({"search_related": len(related)})
        counts = {"dagster/row_count": 1, "size_bytes": len(packed)}
        yield MaterializeResult(
            asset_key=JOB_RESULTS, metadata={**counts, **session.stopwatch.seconds()}
        )
