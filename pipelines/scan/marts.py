"""The marts of a scan: the rows of each table, and the SQL models that rank and sum them.

One function per table; `ScanRun.append` adds the job to its rows. The models are files in
`warehouse/models/scan`. Not here: what a sort order ranks by (`rules/results.py`), which reads
need, too: a stored result is ranked anew for each request, by a process without these rows as a
table.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

import orjson
import pyarrow as pa

from pipelines.documents import result_types
from pipelines.documents.result_types import LinkedVideo, VideoPreview
from pipelines.parameters.scan import ScanParameters, SortBy
from pipelines.scan.collect import wanted_profiles
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.results import SORT_VALUES
from pipelines.scan.scan_run import ScanRun
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.coverage import CoverageEstimate, SourceCoverage
from warehouse.records.evidence import ALGORITHM, Comparison, variant_kind
from warehouse.records.values import Row
from warehouse.records.videos import COUNTS, Account
from warehouse.tables import BY_NAME
from warehouse.tables.column import BOOLEAN, INTEGER, TEXT

type MartRow = dict[str, object]

VIDEO_PREVIEW_LIMIT = 20
_ACCOUNT_COLUMNS = {column.name for column in BY_NAME["marts.account_summaries"].columns}
_PROFILE_COUNTS = ("follower_count", "total_favorited", "aweme_count")
_READ_COUNTS = ("requests", "pages", "items", "new_items", "foreign_rows")
# The tables that the models read.
_CONFIRMED = pa.schema(
    [
        ("position", INTEGER),
        ("aweme_id", TEXT),
        ("link_type", TEXT),
        *((name, INTEGER) for name in COUNTS),
        ("statistics_complete", BOOLEAN),
        ("create_time", INTEGER),
        ("sec_uid", TEXT),
        ("nickname", TEXT),
        ("unique_id", TEXT),
    ]
)
_PROFILES = pa.schema(
    [
        ("sec_uid", TEXT),
        ("nickname", TEXT),
        ("unique_id", TEXT),
        *((name, INTEGER) for name in _PROFILE_COUNTS),
        ("follower_count_source", TEXT),
    ]
)
_READS = pa.schema(
    [
        ("position", INTEGER),
        ("surface", TEXT),
        *((name, INTEGER) for name in _READ_COUNTS),
        ("stop_reason", TEXT),
    ]
)


def screen_rows(sightings: Iterable[Sighting]) -> list[MartRow]:
    """Return a row for each place on the lists that a step read, in the order of the lists.

    The rows of a step are those of its first pass, here and in the next three functions. What the
    rounds of `confirm.py` read later is in `marts.candidates`.
    """
    places: Counter[str] = Counter()
    rows: list[MartRow] = []
    for entry in sightings:
        row: MartRow = {
            "surface": entry.surface,
            "source_entity_id": entry.entity_id,
            "position": places[entry.entity_id],
            "aweme_id": entry.aweme_id,
            "music_id": entry.music_id,
            "digg_count": entry.digg_count,
        }
        rows.append(row)
        places[entry.entity_id] += 1
    return rows


def pool_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.candidate_pool`: the pool as it is chosen now."""
    return [
        {
            "position": position,
            "aweme_id": aweme_id,
            "source_surface": entry.surface,
            "source_entity_id": entry.entity_id,
            "priority": entry.priority,
            "music_id": entry.music_id,
        }
        for position, (aweme_id, entry) in enumerate(run.state.pool.items())
    ]


def detail_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.video_details`: each candidate of the pool, read or not."""
    state = run.state
    rows: list[MartRow] = []
    for aweme_id in state.pool:
        video = state.details.get(aweme_id)
        outcome, reason = state.outcomes.get(aweme_id, ("pooled", None))
        row: MartRow = {
            "aweme_id": aweme_id,
            "outcome": "read" if video else outcome,
            "reason": None if video else reason,
            "music_id": video.music.music_id if video and video.music else None,
            "sec_uid": video.author.sec_uid if video and video.author else None,
            "page_observed_at": video.observed_at if video else None,
        }
        rows.append(row)
    return rows


def profile_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.account_profiles`: each account of the scan, read or not."""
    profiles = run.state.profiles
    return [
        {
            "sec_uid": sec_uid,
            "position": position,
            "profile_observed_at": profiles[sec_uid].observed_at if sec_uid in profiles else None,
        }
        for position, sec_uid in enumerate(wanted_profiles(run))
    ]


def candidate_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.candidates`: every pooled video with its outcome."""
    state = run.state
    sounds = {video.aweme_id: video.music for video in state.videos()}
    rows: list[MartRow] = []
    for aweme_id, entry in state.pool.items():
        outcome, reason = state.outcomes.get(aweme_id, ("pooled", None))
        sound = sounds.get(aweme_id)
        row: MartRow = {
            "aweme_id": aweme_id,
            "source_surface": entry.surface,
            "source_entity_id": entry.entity_id,
            "priority": entry.priority,
            "music_id": sound.music_id if sound else None,
            "outcome": outcome,
            "reason": reason,
        }
        rows.append(row)
    return rows


def confirmed_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.confirmed_videos`."""
    return [
        {
            "music_id": run.music_id,
            "aweme_id": video.aweme_id,
            "link_type": link.link_type,
            "source_music_id": run.music_of(video),
            "source_music_title": video.music.title if video.music else None,
            "sec_uid": video.author.sec_uid if video.author else None,
            "comparison_id": link.comparison.comparison_id if link.comparison else None,
            "reference_aweme_id": link.comparison.reference_video_id if link.comparison else None,
            "expansion_round": link.expansion_round,
            "algorithm": ALGORITHM,
        }
        for video, link in run.state.confirmed_videos()
    ]


def variant_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.variants`."""
    return [
        {
            "music_id": run.music_id,
            "aweme_id": video.aweme_id,
            "source_music_id": run.music_of(video),
            "sec_uid": video.author.sec_uid if video.author else None,
            "kind": variant_kind(comparison.pair),
            "speed": comparison.pair.speed,
            "semitones": comparison.pair.semitones,
            "comparison_id": comparison.comparison_id,
            "algorithm": ALGORITHM,
        }
        for video, comparison in run.state.variant_videos()
    ]


def comparison_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.audio_comparisons`: every compared pair, also rejected ones."""
    hashes = run.state.sound_hashes
    return [
        comparison_row(
            entry,
            track_music_id=run.music_id,
            hashes=(hashes.get(entry.reference_aweme_id), hashes.get(entry.candidate_aweme_id)),
        )
        for entry in run.state.comparisons
    ]


def comparison_row(
    entry: Comparison, *, track_music_id: str, hashes: tuple[str | None, str | None]
) -> MartRow:
    """Return the evidence of a pair as a row; `hashes` are those of reference and candidate."""
    # The measures of the pair are columns of their own; limits and search are stored as JSON.
    row = asdict(entry)
    pair, limits = row.pop("pair"), row.pop("limits")
    searched = pair.pop("searched")
    return {
        **row,
        **pair,
        "track_music_id": track_music_id,
        "reference_sha256": hashes[0],
        "candidate_sha256": hashes[1],
        "searched": None if searched is None else orjson.dumps(searched).decode(),
        "limits": orjson.dumps(limits).decode(),
    }


def confirmation_rows(run: ScanRun) -> dict[str, list[MartRow]]:
    """Return the rows of the audio verification by mart, in order of their dependencies."""
    return {
        "audio_comparisons": comparison_rows(run),
        "candidates": candidate_rows(run),
        "confirmed_videos": confirmed_rows(run),
        "variants": variant_rows(run),
        "expansion_rounds": round_rows(run),
    }


def round_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.expansion_rounds`."""
    return [
        {
            "round": number,
            "music_ids": list(music_ids),
            "new_confirmed_count": new,
        }
        for number, (music_ids, new) in enumerate(run.state.rounds)
    ]


def coverage_rows(run: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.coverage`, one per source and stop reason."""
    return sum_coverage(run.runtime.engine, run.state.coverage_report)


def estimate_rows(estimates: Sequence[CoverageEstimate]) -> list[MartRow]:
    """Return the rows of `marts.coverage_estimates`: one for music ids, one for videos."""
    return [
        {
            "unit": entry.unit,
            "observed_count": entry.observed,
            "listed_count": entry.listed,
            "source_count": entry.source_count,
            "sample_count": entry.sample_size,
            "method": entry.method,
            "estimated_count": None if entry.point is None else round(entry.point),
            "lower_count": entry.lower,
            "upper_count": entry.upper,
            "sample_share": entry.sample_coverage,
            "assumption": entry.assumption,
            "not_estimated_reason": entry.reason,
        }
        for entry in estimates
    ]


def audit_rows(run: ScanRun) -> list[MartRow]:
    """Return the row of `marts.random_audits`, if the job has an audit."""
    audit = run.state.audit
    if audit is None:
        return []
    return [
        {
            "population_count": audit.population,
            "drawn_count": len(audit.videos),
            "compared_count": audit.compared,
            "carrying_count": audit.carrying,
            "upper_count": audit.bound.count if audit.bound else None,
            "upper_share": audit.bound.share if audit.bound else None,
            "not_audited_reason": audit.reason,
        }
    ]


def ranking_rows(run: ScanRun, document: result_types.StoredResult) -> list[MartRow]:
    """Return the rows of `marts.rankings`: the result in the job's sort order."""
    ranked = rank_videos(run.runtime.engine, document["ranked"], run.parameters)
    return [{"music_id": run.music_id, **video} for video in ranked]


def account_rows(run: ScanRun, summary: result_types.AccountSummary) -> list[MartRow]:
    """Return the rows of `marts.account_summaries`: the accounts behind the confirmed videos."""
    return [
        {
            "music_id": run.music_id,
            **{name: value for name, value in entry.items() if name in _ACCOUNT_COLUMNS},
            "top_aweme_id": entry["top_video"]["aweme_id"],
        }
        for entry in summary["accounts"]
    ]


def related_rows(related: result_types.StoredSearch) -> list[MartRow]:
    """Return the rows of `marts.search_related`: search results with their relevance."""
    return [
        {
            "aweme_id": video["aweme_id"],
            "music_id": video["music"]["id_str"] if video["music"] else None,
            "search_relevance_level": video["search_relevance_level"],
            "search_terms": video["search_terms"],
        }
        for video in related["aweme_list"]
    ]


def result_row(run: ScanRun, packed: bytes) -> MartRow:
    """Return the row of `marts.job_results`."""
    return {
        "music_id": run.subject,
        "document": packed,
        "confirmed_count": len(run.state.confirmed),
        "algorithm": ALGORITHM,
    }


def append_marts(run: ScanRun, marts: Mapping[str, list[MartRow]]) -> dict[str, int]:
    """Append the rows of several marts in this order; return how many each has."""
    for noun, rows in marts.items():
        run.append(noun, rows)
    return {noun: len(rows) for noun, rows in marts.items()}


def rank_videos(
    engine: Engine, confirmed: Sequence[LinkedVideo], parameters: ScanParameters
) -> list[Row]:
    """Return the rows of a ranking without their job: the top videos in the job's sort order."""
    rows = _confirmed_table(confirmed)
    columns: dict[str, SortBy] = {"hot_score": "hot_score", "sort_value": parameters.sort_by}
    for name, order in columns.items():
        # The type follows from the values: in an integer column Arrow would truncate fractions.
        values = pa.array([SORT_VALUES[order](video) for video in confirmed])
        rows = rows.append_column(name, values)
    return engine.run_scan_model(
        "rankings",
        {"confirmed": rows},
        {
            "count": parameters.count,
            "viral_only": parameters.viral_only,
            "viral_threshold": parameters.viral_threshold,
        },
    )


def sum_coverage(engine: Engine, reads: Sequence[SourceCoverage]) -> list[Row]:
    """Return the coverage by source and stop reason, in the order they first appear."""
    rows = [{"position": at, **asdict(entry)} for at, entry in enumerate(reads)]
    return engine.run_scan_model("coverage", {"reads": pa.Table.from_pylist(rows, _READS)}, {})


def summarize_accounts(
    engine: Engine, confirmed: Sequence[LinkedVideo], *, profiles: Mapping[str, Account]
) -> result_types.AccountSummary:
    """Build `account_summary` of a result, ordered by linked likes.

    Aggregates cover all confirmed videos, not only the returned ones. Profile fields that were not
    read are null, never 0.

    Args:
        engine: The engine of the process.
        confirmed: Video documents of all confirmed videos.
        profiles: The profiles that were read, by `sec_uid`.
    """
    accounts = [
        {name: getattr(profile, name) for name in _PROFILES.names} | {"sec_uid": sec_uid}
        for sec_uid, profile in profiles.items()
    ]
    profile_table = pa.Table.from_pylist(accounts, _PROFILES)
    rows = engine.run_scan_model(
        "account_summaries",
        {"confirmed": _confirmed_table(confirmed), "profiles": profile_table},
        {"preview_limit": VIDEO_PREVIEW_LIMIT},
    )
    # The model returns the ids of an account's first videos; their documents are in the result.
    videos = {video["aweme_id"]: video for video in confirmed}
    entries: list[result_types.AccountEntry] = []
    for row in rows:
        first_videos = [videos[aweme_id] for aweme_id in row.pop("aweme_ids")]
        previews: list[VideoPreview] = [
            {
                "aweme_id": video["aweme_id"],
                "desc": video["desc"],
                "create_time": video["create_time"],
                "share_url": video["share_url"],
                "link_type": video["link_type"],
                "statistics": video["statistics"],
            }
            for video in first_videos
        ]
        entry = {**row, "top_video": previews[0], "video_previews": previews}
        entries.append(cast("result_types.AccountEntry", entry))
    return {
        "accounts": entries,
        "video_preview_limit": VIDEO_PREVIEW_LIMIT,
        "account_count": len(rows),
        "account_count_complete": False,
    }


def _confirmed_table(videos: Sequence[LinkedVideo]) -> pa.Table:
    rows: list[Row] = []
    for position, video in enumerate(videos):
        author: Mapping[str, object] = video["author"] or {}
        row: Row = {
            "position": position,
            "aweme_id": video["aweme_id"],
            "link_type": video["link_type"],
            **video["statistics"],
            "statistics_complete": video["statistics_complete"],
            "create_time": video["create_time"],
            "sec_uid": author.get("sec_uid"),
            "nickname": author.get("nickname"),
            "unique_id": author.get("unique_id"),
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, _CONFIRMED)
