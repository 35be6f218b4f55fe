"""Build the mart rows of a scan, one function per table; `ScanRun.append` adds their job.

Conversion only: rows are ranked, joined and summed in `sql_models.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import orjson

from pipelines.documents.result_types import AccountSummary, StoredResult, StoredSearch
from pipelines.scan.marts.sql_models import rank_videos, sum_coverage
from pipelines.scan.profiles import wanted_profiles
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.scan_run import ScanRun
from warehouse.records.coverage import CoverageEstimate
from warehouse.records.evidence import ALGORITHM, Comparison, variant_kind
from warehouse.tables import BY_NAME

type MartRow = dict[str, object]

_ACCOUNT_COLUMNS = {column.name for column in BY_NAME["marts.account_summaries"].columns}


def screen_rows(sightings: Iterable[Sighting]) -> list[MartRow]:
    """Return a row for each place on the lists that a step read, in the order of the lists.

    The rows of a step are those of its first pass, here and in the next three functions: what the
    rounds of `confirm.py` read later stands in `marts.candidates`.
    """
    places: Counter[str] = Counter()
    rows: list[MartRow] = []
    for seen in sightings:
        rows.append({
            "surface": seen.surface,
            "source_entity_id": seen.entity_id,
            "position": places[seen.entity_id],
            "aweme_id": seen.aweme_id,
            "music_id": seen.music_id,
            "digg_count": seen.digg_count,
        })  # fmt: skip
        places[seen.entity_id] += 1
    return rows


def pool_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.candidate_pool`: the pool as it is chosen now."""
    return [
        {
            "position": position,
            "aweme_id": aweme_id,
            "source_surface": entry.sighting.surface,
            "source_entity_id": entry.sighting.entity_id,
            "priority": entry.priority,
            "music_id": entry.sighting.music_id,
        }
        for position, (aweme_id, entry) in enumerate(session.state.pool.items())
    ]


def detail_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.video_details`: each candidate of the pool, read or not."""
    return [_detail_row(session, aweme_id) for aweme_id in session.state.pool]


def _detail_row(session: ScanRun, aweme_id: str) -> MartRow:
    found = session.state
    video = found.details[aweme_id].video if aweme_id in found.details else None
    outcome, reason = ("read", None) if video else found.outcomes.get(aweme_id, ("pooled", None))
    return {
        "aweme_id": aweme_id,
        "outcome": outcome,
        "reason": reason,
        "music_id": video.music.music_id if video and video.music else None,
        "sec_uid": video.author.sec_uid if video and video.author else None,
        "page_observed_at": video.observed_at if video else None,
    }


def profile_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.account_profiles`: the accounts whose profiles were wanted."""
    known = session.state.profiles
    return [
        {
            "sec_uid": sec_uid,
            "position": position,
            "profile_observed_at": known[sec_uid].observed_at if sec_uid in known else None,
        }
        for position, sec_uid in enumerate(wanted_profiles(session))
    ]


def candidate_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.candidates`: every pooled video with its outcome."""
    found = session.state
    music = {video.aweme_id: video.music for video in found.videos()}
    rows: list[MartRow] = []
    for aweme_id, entry in found.pool.items():
        outcome, reason = found.outcomes.get(aweme_id, ("pooled", None))
        sound = music.get(aweme_id)
        rows.append({
            "aweme_id": aweme_id,
            "source_surface": entry.sighting.surface,
            "source_entity_id": entry.sighting.entity_id,
            "priority": entry.priority,
            "music_id": sound.music_id if sound else None,
            "outcome": outcome,
            "reason": reason,
        })  # fmt: skip
    return rows


def confirmed_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.confirmed_videos`."""
    return [_confirmed_row(session, entry) for entry in session.state.confirmed.values()]


def _confirmed_row(session: ScanRun, entry: ConfirmedVideo) -> MartRow:
    video, comparison = entry.video, entry.comparison
    return {
        "music_id": session.music_id,
        "aweme_id": video.aweme_id,
        "link_type": entry.link_type,
        "source_music_id": session.music_of(video),
        "source_music_title": video.music.title if video.music else None,
        "sec_uid": video.author.sec_uid if video.author else None,
        "comparison_id": comparison.comparison_id if comparison else None,
        "reference_aweme_id": comparison.reference_video_id if comparison else None,
        "expansion_round": entry.expansion_round,
        "algorithm": ALGORITHM,
    }


def variant_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.variants`."""
    return [
        {
            "music_id": session.music_id,
            "aweme_id": entry.video.aweme_id,
            "source_music_id": session.music_of(entry.video),
            "sec_uid": entry.video.author.sec_uid if entry.video.author else None,
            "kind": variant_kind(entry.comparison.pair),
            "speed": entry.comparison.pair.speed,
            "semitones": entry.comparison.pair.semitones,
            "comparison_id": entry.comparison.comparison_id,
            "algorithm": ALGORITHM,
        }
        for entry in session.state.variants.values()
    ]


def comparison_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.audio_comparisons`: every compared pair, also rejected ones."""
    shas = session.state.sound_hashes
    return [
        comparison_row(
            entry,
            track_music_id=session.music_id,
            hashes=(shas.get(entry.reference_aweme_id), shas.get(entry.candidate_aweme_id)),
        )
        for entry in session.state.comparisons
    ]


def comparison_row(
    entry: Comparison, *, track_music_id: str, hashes: tuple[str | None, str | None]
) -> MartRow:
    """Return the evidence of a pair as a row; `hashes` are those of reference and candidate."""
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


def confirmation_rows(session: ScanRun) -> dict[str, list[MartRow]]:
    """Return the rows of the audio verification by mart, in order of their dependencies."""
    return {
        "audio_comparisons": comparison_rows(session),
        "candidates": candidate_rows(session),
        "confirmed_videos": confirmed_rows(session),
        "variants": variant_rows(session),
        "expansion_rounds": round_rows(session),
    }


def round_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.expansion_rounds`."""
    return [
        {
            "round": number,
            "music_ids": list(music_ids),
            "new_confirmed_count": new,
        }
        for number, (music_ids, new) in enumerate(session.state.rounds)
    ]


def coverage_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.coverage`, one per source and stop reason."""
    return sum_coverage(session.runtime.engine, session.state.coverage_report)


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


def audit_rows(session: ScanRun) -> list[MartRow]:
    """Return the row of `marts.random_audits`, if the job has an audit."""
    audit = session.state.audit
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


def ranking_rows(session: ScanRun, document: StoredResult) -> list[MartRow]:
    """Return the rows of `marts.rankings`: the result in the job's sort order."""
    ranked = rank_videos(session.runtime.engine, document["ranked"], session.parameters)
    return [{"music_id": session.music_id, **video} for video in ranked]


def account_rows(session: ScanRun, summary: AccountSummary) -> list[MartRow]:
    """Return the rows of `marts.account_summaries`: the accounts behind the confirmed videos."""
    return [
        {
            "music_id": session.music_id,
            **{name: value for name, value in entry.items() if name in _ACCOUNT_COLUMNS},
            "top_aweme_id": entry["top_video"]["aweme_id"],
        }
        for entry in summary["accounts"]
    ]


def related_rows(related: StoredSearch) -> list[MartRow]:
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


def result_row(session: ScanRun, packed: bytes) -> MartRow:
    """Return the row of `marts.job_results`."""
    return {
        "music_id": session.subject,
        "document": packed,
        "confirmed_count": len(session.state.confirmed),
        "algorithm": ALGORITHM,
    }


def append_marts(session: ScanRun, marts: Mapping[str, list[MartRow]]) -> dict[str, int]:
    """Append the rows of several marts in this order; return how many each has."""
    for noun, rows in marts.items():
        session.append(noun, rows)
    return {noun: len(rows) for noun, rows in marts.items()}
