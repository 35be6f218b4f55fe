"""The closing half of a scan: rows for the marts and the one immutable result document."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import orjson

from pipelines.domain.accounts import to_account_summary
from pipelines.domain.coverage import merged
from pipelines.domain.documents import (
    to_ranked_document,
    to_time,
    to_track_document,
    to_variant_document,
)
from pipelines.domain.evidence import ALGORITHM, Comparison, variant_kind
from pipelines.domain.expansion import Confirmed
from pipelines.domain.records import Video
from pipelines.domain.results import ResultDocument, Source, view_result
from pipelines.scan.session import ScanSession
from warehouse.queries import read_first_observed

type Row = dict[str, object]

ENDED = frozenset({"completed", "exhausted", "no_new_items", "cursor_stalled", "page_limit"})
"""Stop reasons after which the same source shows nothing more. `page_limit` is the first screen of
an account: deeper pages are never read."""
SEARCH_LATER = "search:not_available_in_this_release"


def candidate_rows(session: ScanSession) -> list[Row]:
    """`marts.candidates`: what came of every video in the pool."""
    found = session.findings
    music = {video.aweme_id: video.music for video in found.videos()}
    rows: list[Row] = []
    for aweme_id, entry in found.pool.items():
        outcome, reason = found.outcomes.get(aweme_id, ("pooled", None))
        sound = music.get(aweme_id)
        rows.append({
            "job_id": session.job.job_id,
            "aweme_id": aweme_id,
            "source_surface": entry.sighting.surface,
            "source_entity_id": entry.sighting.entity_id,
            "priority": entry.priority,
            "music_id": sound.music_id if sound else None,
            "outcome": outcome,
            "reason": reason,
        })  # fmt: skip
    return rows


def confirmed_rows(session: ScanSession) -> list[Row]:
    """`marts.confirmed_videos`."""
    return [_confirmed_row(session, entry) for entry in session.findings.confirmed.values()]


def _confirmed_row(session: ScanSession, entry: Confirmed) -> Row:
    video, comparison = entry.video, entry.comparison
    return {
        "music_id": session.music_id,
        "aweme_id": video.aweme_id,
        "job_id": session.job.job_id,
        "link_type": entry.link_type,
        "source_music_id": _music_id(session, video),
        "source_music_title": video.music.title if video.music else None,
        "sec_uid": video.author.sec_uid if video.author else None,
        "comparison_id": comparison.comparison_id if comparison else None,
        "reference_aweme_id": comparison.reference_aweme_id if comparison else None,
        "expansion_round": entry.expansion_round,
        "algorithm": ALGORITHM,
    }


def variant_rows(session: ScanSession) -> list[Row]:
    """`marts.variants`."""
    return [
        {
            "music_id": session.music_id,
            "aweme_id": entry.video.aweme_id,
            "job_id": session.job.job_id,
            "source_music_id": _music_id(session, entry.video),
            "sec_uid": entry.video.author.sec_uid if entry.video.author else None,
            "kind": variant_kind(entry.comparison.pair),
            "speed": entry.comparison.pair.speed,
            "semitones": entry.comparison.pair.semitones,
            "comparison_id": entry.comparison.comparison_id,
            "algorithm": ALGORITHM,
        }
        for entry in session.findings.variants.values()
    ]


def comparison_rows(session: ScanSession) -> list[Row]:
    """`marts.audio_comparisons`: every compared pair, rejected ones too."""
    shas = session.findings.sound_hashes
    return [_comparison_row(session, entry, shas) for entry in session.findings.comparisons]


def _comparison_row(session: ScanSession, entry: Comparison, shas: Mapping[str, str]) -> Row:
    return {
        "comparison_id": entry.comparison_id,
        "job_id": session.job.job_id,
        "track_music_id": session.music_id,
        "reference_aweme_id": entry.reference_aweme_id,
        "candidate_aweme_id": entry.candidate_aweme_id,
        "reference_music_id": entry.reference_music_id,
        "candidate_music_id": entry.candidate_music_id,
        "reference_sha256": shas.get(entry.reference_aweme_id),
        "candidate_sha256": shas.get(entry.candidate_aweme_id),
        **asdict(entry.pair),
        "limits": orjson.dumps(asdict(entry.limits)).decode(),
        "algorithm": entry.algorithm,
        "feature_version": entry.feature_version,
        "library_version": entry.library_version,
    }


def confirmation_rows(session: ScanSession) -> dict[str, list[Row]]:
    """What the listening leaves, by mart."""
    return {
        "confirmed_videos": confirmed_rows(session),
        "variants": variant_rows(session),
        "audio_comparisons": comparison_rows(session),
        "expansion_rounds": round_rows(session),
    }


def round_rows(session: ScanSession) -> list[Row]:
    """`marts.expansion_rounds`."""
    return [
        {
            "job_id": session.job.job_id,
            "round": number,
            "music_ids": list(music_ids),
            "new_confirmed_count": new,
        }
        for number, (music_ids, new) in enumerate(session.findings.rounds)
    ]


def coverage_rows(session: ScanSession) -> list[Row]:
    """`marts.coverage`: the ledger, one row per source and stop reason."""
    return [
        {"job_id": session.job.job_id, **asdict(entry)} for entry in merged(session.findings.ledger)
    ]


def ranking_rows(session: ScanSession, document: Mapping[str, Any]) -> list[Row]:
    """`marts.rankings`: the result in the job's own order."""
    view = view_result(document, session.parameters)
    return [
        {
            "job_id": session.job.job_id,
            "rank": video["rank"],
            "aweme_id": video["aweme_id"],
            "music_id": session.music_id,
            "link_type": video["link_type"],
            **video["statistics"],
            "hot_score": video["hot_score"],
            "statistics_complete": video["statistics_complete"],
            "create_time": video["create_time"],
        }
        for video in view["aweme_list"]
    ]


def result_row(session: ScanSession, packed: bytes) -> Row:
    """`marts.job_results`."""
    return {
        "job_id": session.job.job_id,
        "music_id": session.music_id,
        "document": packed,
        "confirmed_count": len(session.findings.confirmed),
        "algorithm": ALGORITHM,
    }


def result_document(session: ScanSession) -> dict[str, Any]:
    """The result of this scan, once and for good. Reads when each work was first observed."""
    found = session.findings
    assert found.track is not None, "a scan without a track fails before it concludes"
    first = read_first_observed(session.runtime.engine, list(found.confirmed))
    ranked = [
        _ranked(session, entry, first.get(aweme_id)) for aweme_id, entry in found.confirmed.items()
    ]
    summary = to_account_summary(ranked)
    return ResultDocument(
        music=to_track_document(found.track),
        music_id=session.music_id,
        ranked=ranked,
        candidate_pool_size=len(found.pool),
        unique_account_count=summary["account_count"],
        account_summary=summary,
        discovery=_discovery(session),
        coverage=_coverage(session),
        parameters=session.parameters.to_document(),
        sources_ended_by_exhaustion=_ended(session),
        variants=_variants(session),
        is_demo_data=session.runtime.is_demo,
        data_provider=session.runtime.settings.music_data_provider,
        created_at=to_time(session.clock()) or "",
    ).to_document()


def _ranked(session: ScanSession, entry: Confirmed, first: datetime | None) -> dict[str, Any]:
    music_id = _music_id(session, entry.video)
    return to_ranked_document(
        entry.video,
        link_type=entry.link_type,
        source_music_id=music_id,
        source_music_url=_music_link(session, music_id),
        comparison=entry.comparison,
        first_observed_at=first,
    )


def _variants(session: ScanSession) -> dict[str, Any]:
    entries = list(session.findings.variants.values())
    documents = [
        to_variant_document(
            entry.video,
            comparison=entry.comparison,
            source_music_id=_music_id(session, entry.video),
            source_music_url=_music_link(session, _music_id(session, entry.video)),
        )
        for entry in entries
    ]
    kinds = Counter(document["variant_kind"] for document in documents)
    return {"count": len(documents), "aweme_list": documents, "by_kind": dict(kinds)}


def _music_id(session: ScanSession, video: Video) -> str:
    return video.music.music_id if video.music else session.music_id


def _music_link(session: ScanSession, music_id: str) -> str:
    return session.runtime.profile.public_address("public_music", music_id=music_id)


def _discovery(session: ScanSession) -> dict[str, Any]:
    return {
        "official_comprehensive_search": {
            "terms": [], "cursor_pages": 0, "observed_union_count": 0,
        },
        "rounds": [
            {"round": number, "music_ids": list(music_ids), "new_confirmed_count": new}
            for number, (music_ids, new) in enumerate(session.findings.rounds)
        ],
    }  # fmt: skip


def _coverage(session: ScanSession) -> dict[str, Any]:
    found = session.findings
    asked = session.parameters.search_enabled
    left = [f"user_posts:{sec_uid}" for sec_uid in found.authors_left]
    return {
        "sources": [asdict(entry) for entry in merged(found.ledger)],
        "not_reached": [*([SEARCH_LATER] if asked else []), *found.not_reached, *left],
        "unseen_estimate": None,
    }


def _ended(session: ScanSession) -> dict[Source, bool]:
    """True for the music lists when neither the pool's limit nor an error ended the reading."""
    found = session.findings
    has_room = len(found.pool) < session.parameters.candidate_limit
    is_clean = all(entry.stop_reason in ENDED for entry in found.ledger)
    is_whole = not found.not_reached and not found.authors_left
    return {"music": has_room and is_clean and is_whole}


def outcome_counts(session: ScanSession) -> dict[str, int]:
    """How many candidates ended how; for the run's metadata."""
    return dict(Counter(outcome for outcome, _ in session.findings.outcomes.values()))
