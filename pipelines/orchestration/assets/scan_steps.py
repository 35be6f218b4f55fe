"""The assets of a scan, in the order of its steps: what it collects, then what it concludes.

Each asset calls a function of `pipelines/scan` as one stage, writes its rows and reports counts. A
step that an earlier run of the job has completed is not repeated. At the end stands the asset of a
discovery, which is a job of its own.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from dagster import AssetDep, AssetKey, AssetSpec, MaterializeResult, ResourceParam

from pipelines.orchestration.assets import decorators
from pipelines.orchestration.assets.decorators import (
    ROWS,
    RunMetadata,
    coverage_metadata,
    step_metadata,
    track_metadata,
)
from pipelines.orchestration.assets.tables import deps_on
from pipelines.orchestration.runs.run_session import CurrentScan
from pipelines.scan import collect, conclude, discover, marts
from pipelines.scan.collect import read_profiles
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.scan_run import ScanRun
from warehouse.lake.record_rows import pack_document
from warehouse.records.videos import Video

TRACK = AssetKey(["raw", "tracks"])
VIDEOS = AssetKey(["raw", "videos"])
MUSIC_FIRST_SCREEN = AssetKey(["marts", "music_first_screen"])
AUTHOR_FIRST_SCREENS = AssetKey(["marts", "author_first_screens"])
HASHTAG_FIRST_SCREENS = AssetKey(["marts", "hashtag_first_screens"])
SEARCH_PAGES = AssetKey(["raw", "search_pages"])
CANDIDATE_POOL = AssetKey(["marts", "candidate_pool"])
VIDEO_DETAILS = AssetKey(["marts", "video_details"])
CONFIRMED = AssetKey(["marts", "confirmed_videos"])
AUDIO_COMPARISONS = AssetKey(["marts", "audio_comparisons"])
ACCOUNT_PROFILES = AssetKey(["marts", "account_profiles"])
COVERAGE = AssetKey(["marts", "coverage"])
RANKINGS = AssetKey(["marts", "rankings"])
JOB_RESULTS = AssetKey(["marts", "job_results"])
SEARCH_RELATED = AssetKey(["marts", "search_related"])
DISCOVERED = AssetKey(["marts", "discovered_videos"])


@decorators.scan_asset(TRACK, kinds=decorators.READS_PLATFORM)
def track(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """The track as the platform currently describes it."""
    with scan.stage("track") as run:

        def read() -> dict[str, int]:
            collect.read_track(run)
            return {}

        run.complete_step("tracks", read)
        assert run.state.track is not None, "a scan without a track fails earlier"
        return MaterializeResult(metadata=track_metadata(run, run.state.track))


@decorators.scan_asset(MUSIC_FIRST_SCREEN, deps=[TRACK], kinds=decorators.READS_PLATFORM)
def music_first_screen(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """Videos that the platform lists under the track's own music id, with their detail pages."""
    with scan.stage("music_first_screen") as run:

        def read() -> dict[str, int]:
            counts = _read_screens(
                run,
                "music_first_screen",
                lambda: collect.read_music_screen(run, run.music_id),
            )
            collect.begin_pool(run)
            return {**counts, "details_read": len(collect.read_details(run))}

        return _report(run, run.complete_step("music_first_screen", read))


@decorators.scan_asset(
    AUTHOR_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=decorators.READS_PLATFORM
)
def author_first_screens(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """First screens of the accounts that use the track, where re-uploads are found."""
    return _first_screens(scan, "author_first_screens", collect.read_author_screens)


@decorators.scan_asset(
    HASHTAG_FIRST_SCREENS, deps=[MUSIC_FIRST_SCREEN], kinds=decorators.READS_PLATFORM
)
def hashtag_first_screens(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """First screens of the hashtags that videos of the track share or that name the song."""
    return _first_screens(scan, "hashtag_first_screens", collect.read_hashtag_screens)


def _first_screens(
    scan: CurrentScan, step: str, read: Callable[[ScanRun, list[Video]], int]
) -> decorators.Result:
    """Read the first screens that the videos of the track lead to."""
    with scan.stage(step) as run:
        # A search by a song's name has no videos of the track.
        videos = run.state.videos() if run.verifies_audio else []
        counts = run.complete_step(
            step, lambda: _read_screens(run, step, lambda: read(run, videos))
        )
        return _report(run, counts)


def _read_screens(run: ScanRun, noun: str, read: Callable[[], int]) -> dict[str, int]:
    """Read lists, write what they showed, and return how many videos and rows are new."""
    before = len(run.state.sightings)
    new_count = read()
    rows = marts.screen_rows(run.state.sightings[before:])
    run.append(noun, rows)
    return {"new_videos": new_count, ROWS: len(rows)}


def _report(run: ScanRun, counts: Mapping[str, int]) -> decorators.Result:
    """Report the counts of a step that reads the platform, with the coverage so far."""
    return MaterializeResult(metadata=step_metadata(run, counts) | coverage_metadata(run))


@decorators.scan_asset(SEARCH_PAGES, deps=[TRACK], kinds=decorators.READS_PLATFORM)
def search_pages(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """Guest search results for the song's name: candidates, never confirmations."""
    with scan.stage("search_pages") as run:
        counts = run.complete_step("search_pages", lambda: {"new_videos": collect.read_search(run)})
        return MaterializeResult(metadata=counts | coverage_metadata(run))


@decorators.scan_asset(
    CANDIDATE_POOL, deps=[AUTHOR_FIRST_SCREENS, HASHTAG_FIRST_SCREENS, SEARCH_PAGES]
)
def candidate_pool(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """The first candidates, with verified music ids and posts that name the song first.

    Rounds of `marts/confirmed_videos` widen the pool; `marts/candidates` has what became of each.
    """
    with scan.stage("candidates") as run:

        def choose() -> dict[str, int]:
            collect.add_known_matches(run)
            candidates = collect.fill_pool(run)
            rows = marts.pool_rows(run)
            run.append("candidate_pool", rows)
            return {
                "new_candidates": len(candidates),
                "videos_seen": len(run.state.seen_ids),
                ROWS: len(rows),
            }

        counts = run.complete_step("candidate_pool", choose)
        return MaterializeResult(metadata=step_metadata(run, counts))


@decorators.scan_asset(VIDEO_DETAILS, deps=[CANDIDATE_POOL], kinds=decorators.READS_PLATFORM)
def video_details(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """Detail pages of the candidates: music id, author and the four exact counts."""
    with scan.stage("video_details") as run:

        def read() -> dict[str, int]:
            videos = collect.read_details(run)
            rows = marts.detail_rows(run)
            run.append("video_details", rows)
            return {
                "details_read": len(videos),
                "unavailable": len(run.state.unavailable),
                ROWS: len(rows),
            }

        return _report(run, run.complete_step("video_details", read))


def _mart(
    noun: str,
    description: str,
    *deps: AssetKey | AssetDep,
    kinds: Collection[str] = decorators.KINDS,
) -> AssetSpec:
    """Declare a mart that a concluding step writes."""
    return AssetSpec(
        ["marts", noun],
        deps=deps,
        description=description,
        group_name=decorators.CONCLUDE,
        owners=decorators.OWNERS,
        kinds=set(kinds),
    )


def _audio_mart(noun: str, description: str, *others: AssetKey) -> AssetSpec:
    """Declare a mart whose rows come from comparing sounds."""
    tables = deps_on("raw.videos", "raw.sounds")
    return _mart(
        noun, description, VIDEO_DETAILS, *others, *tables, kinds=decorators.COMPARES_SOUNDS
    )


def _results(
    counts: Mapping[str, int], more: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[decorators.Result]:
    """Report the rows that a step wrote to each mart; `more` is further metadata by mart."""
    for noun, count in counts.items():
        metadata: RunMetadata = {"dagster/row_count": count, **(more or {}).get(noun, {})}
        yield MaterializeResult(asset_key=["marts", noun], metadata=metadata)


@decorators.scan_assets(
    "confirmed_videos",
    _audio_mart(
        "confirmed_videos",
        "Videos that carry the unchanged recording, with evidence.",
        AUDIO_COMPARISONS,
    ),
    _audio_mart(
        "variants",
        "Videos that carry the recording changed, or a few seconds of it.",
        AUDIO_COMPARISONS,
    ),
    _audio_mart("audio_comparisons", "Every compared pair with its evidence, also rejected ones."),
    _audio_mart("candidates", "Every candidate of all rounds with its outcome.", AUDIO_COMPARISONS),
    _audio_mart("expansion_rounds", "Music ids that each round of the scan verified.", CONFIRMED),
)
def confirmed_videos(scan: ResourceParam[CurrentScan]) -> Iterator[decorators.Result]:
    """Verify the pool's music ids by audio, confirm their videos, expand until nothing is new."""
    with scan.stage("confirmed_videos") as run:

        def confirm() -> dict[str, int]:
            confirm_videos(run)
            return marts.append_marts(run, marts.confirmation_rows(run))

        counts = run.complete_step("confirmed_videos", confirm)
        outcomes = Counter(outcome for outcome, _ in run.state.outcomes.values())
        yield from _results(counts, {"candidates": outcomes})


@decorators.scan_asset(
    ACCOUNT_PROFILES, deps=[CONFIRMED], group=decorators.CONCLUDE, kinds=decorators.READS_PLATFORM
)
def account_profiles(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """Profiles of the accounts behind the confirmed videos, those with most linked likes first."""
    with scan.stage("account_profiles") as run:

        def read() -> dict[str, int]:
            profile_count = read_profiles(run)
            rows = marts.profile_rows(run)
            run.append("account_profiles", rows)
            return {"profiles_known": profile_count, ROWS: len(rows)}

        return _report(run, run.complete_step("account_profiles", read))


@decorators.scan_assets(
    "coverage",
    _mart(
        "coverage",
        "The coverage report: requests, items and stop reason of each source.",
        CONFIRMED,
        ACCOUNT_PROFILES,
        kinds=decorators.RUNS_SQL,
    ),
    _mart(
        "coverage_estimates",
        "How many music ids and videos with the recording a guest could reach, estimated.",
        CONFIRMED,
    ),
    _mart(
        "random_audits",
        "How many videos that are no candidates carry the recording at most, by a random sample.",
        AUDIO_COMPARISONS,
    ),
)
def coverage(scan: ResourceParam[CurrentScan]) -> Iterator[decorators.Result]:
    """Report what each source gave and why it ended, and estimate what the scan did not see."""
    with scan.stage("rankings") as run:
        counts = run.complete_step(
            "coverage", lambda: marts.append_marts(run, conclude.coverage_marts(run))
        )
        yield from _results(counts, {"coverage": coverage_metadata(run)})


@decorators.scan_assets(
    "rankings",
    _mart(
        "rankings",
        "The confirmed videos in the sort order of the job.",
        CONFIRMED,
        COVERAGE,
        kinds=decorators.RUNS_SQL,
    ),
    _mart(
        "account_summaries",
        "The accounts behind the confirmed videos, with the sums of these.",
        CONFIRMED,
        ACCOUNT_PROFILES,
        *deps_on("raw.accounts", "raw.videos"),
        kinds=decorators.RUNS_SQL,
    ),
)
def rankings(scan: ResourceParam[CurrentScan]) -> Iterator[decorators.Result]:
    """Rank the confirmed videos and sum them up by account."""
    with scan.stage("rankings") as run:
        counts = run.complete_step(
            "rankings", lambda: marts.append_marts(run, conclude.ranking_marts(run))
        )
        yield from _results(counts)


@decorators.scan_assets(
    "job_results",
    _mart(
        "search_related",
        "Videos that name the song or stood in search results, and are not confirmed.",
        VIDEO_DETAILS,
        *deps_on("raw.capture_items", "raw.videos"),
    ),
    _mart(
        "job_results",
        "The result as one immutable document, the source of every later read.",
        RANKINGS,
        VIDEO_DETAILS,
        SEARCH_RELATED,
    ),
)
def job_results(scan: ResourceParam[CurrentScan]) -> Iterator[decorators.Result]:
    """Write the result of the scan, after all of its other rows."""
    with scan.stage("job_results") as run:
        document = run.result or conclude.result_document(run)
        related = marts.related_rows(document["search_related"])
        run.append("search_related", related)
        packed = pack_document(document)
        _append_result(run, packed)
        yield from _results({"search_related": len(related)})
        counts = {"dagster/row_count": 1, "size_bytes": len(packed)}
        yield MaterializeResult(
            asset_key=JOB_RESULTS, metadata={**counts, **run.stopwatch.seconds()}
        )


@decorators.scan_asset(DISCOVERED, deps=[TRACK, AUDIO_COMPARISONS, VIDEOS], group="discovery")
def discovered_videos(scan: ResourceParam[CurrentScan]) -> decorators.Result:
    """Related videos of a track: its authors' first screens and the text candidates on them."""
    with scan.stage("track") as run:
        document = discover.discover(run)
        rows = discover.discovered_rows(run, document)
        run.append("discovered_videos", rows)
        marts.append_marts(run, marts.confirmation_rows(run))
        _append_result(run, pack_document(document))
        counts = {"dagster/row_count": len(rows), **document["layer_counts"]}
        assert run.state.track is not None, "a discovery without a track fails earlier"
        about = track_metadata(run, run.state.track)
        return MaterializeResult(metadata={**counts, **about, **coverage_metadata(run)})


def _append_result(run: ScanRun, packed: bytes) -> None:
    """Append the result of a job, after everything else: its readers find all other rows."""
    run.finish_appends()
    run.append("job_results", [marts.result_row(run, packed)])
    run.finish_appends()
