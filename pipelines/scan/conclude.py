"""Conclude a scan: build its immutable result document and the rows that come from it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from typing import cast

from pipelines.documents.coverage_messages import audit_sentence, coverage_estimate_sentence
from pipelines.documents.result_types import (
    AuditPart,
    ConfirmationHistory,
    Coverage,
    CoverageEstimateDocument,
    ListGenuineShareDocument,
    RandomAuditDocument,
    ScanDiscovery,
    Source,
    SourceCoverageDocument,
    SourceDecisionDocument,
    StoredResult,
    StoredVariants,
)
from pipelines.documents.stop_reasons import EXHAUSTED_REASONS
from pipelines.documents.video_types import LinkedVideo, TrackDocument
from pipelines.documents.videos import (
    to_ranked_document,
    to_time,
    to_track_document,
    to_variant_document,
)
from pipelines.scan.audit import AUDIT_SURFACE
from pipelines.scan.marts import rows as mart_rows
from pipelines.scan.marts.rows import MartRow
from pipelines.scan.marts.sql_models import summarize_accounts
from pipelines.scan.rules.candidate_pool import KNOWN_MATCHES
from pipelines.scan.rules.coverage.audit import CONFIDENCE, left_out
from pipelines.scan.rules.coverage.estimates import (
    ConfirmedSample,
    audited_rest,
    estimate_music_ids,
    estimate_videos,
    listed_only,
    sample_of,
    unseen_music_ids,
)
from pipelines.scan.rules.coverage.genuine_rows import MUSIC_LIST, genuine_shares
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.search import is_search_wanted, search_related, search_summary
from warehouse.queries.results import read_confirmed_history, read_first_observed
from warehouse.records.coverage import (
    CoverageEstimate,
    RandomAudit,
    merge_coverage,
)
from warehouse.records.errors import AudioUnavailableError
from warehouse.records.evidence import ALGORITHM
from warehouse.records.videos import track_origin
from warehouse.tables.marts.steps import STEP_MARTS

CLEAN_ENDS = EXHAUSTED_REASONS | {AudioUnavailableError.type}
"""Stop reasons after which a feed may have ended. A sound that cannot be had is no refusal: its
video is not comparable, and another scan would meet the same."""
SEPARATE_SURFACES = frozenset({
    "search", "user_info", "service_track", "service_audio", AUDIT_SURFACE,
})  # fmt: skip
"""Surfaces that show no videos of the track, or have an entry of their own in
`sources_ended_by_exhaustion`."""


def result_document(session: ScanRun) -> StoredResult:
    """Build the immutable result of this scan. Queries when each video was first observed.

    It holds all confirmed videos, in any order. A search by name alone has `keyword` and neither
    `music` nor `music_id`: it confirms nothing.
    """
    found = session.state
    first = read_first_observed(session.runtime.engine, list(found.confirmed))
    ranked = [
        ranked_document(session, entry, first.get(aweme_id))
        for aweme_id, entry in found.confirmed.items()
    ]
    summary = summarize_accounts(session.runtime.engine, ranked, profiles=found.profiles)
    return {
        "music": requested_track(session),
        "music_id": session.music_id or None,
        "ranked": ranked,
        "candidate_pool_size": len(found.pool),
        "unique_account_count": summary["account_count"],
        "account_summary": summary,
        "discovery": _discovery(session),
        "coverage": coverage_document(session),
        "parameters": session.parameters.to_document(),
        "sources_ended_by_exhaustion": exhausted_sources(session),
        "is_demo_data": session.runtime.is_demo,
        "data_provider": session.runtime.music_provider,
        "created_at": to_time(session.clock()),
        "keyword": session.keyword,
        "search_related": search_related(session),
        "variants": _variants(session),
        "account_count_complete": False,
        "mobile_emulator_used": session.runtime.uses_device,
        "algorithm": ALGORITHM,
        "confirmed_count": len(ranked),
        "coverage_complete": False,
    }


def requested_track(session: ScanRun) -> TrackDocument | None:
    """Return the document of the requested track with the video its sound was born with."""
    track = session.state.track
    if track is None:
        return None
    return to_track_document(track, origin=track_origin(track, session.state.videos()))


def ranked_document(
    session: ScanRun, entry: ConfirmedVideo, first: datetime | None = None
) -> LinkedVideo:
    """Return the document of a confirmed video, with the public link of its sound."""
    music_id = session.music_of(entry.video)
    return to_ranked_document(
        entry.video,
        link_type=entry.link_type,
        source_music_id=music_id,
        source_music_url=_music_link(session, music_id),
        comparison=entry.comparison,
        first_observed_at=first,
    )


def _variants(session: ScanRun) -> StoredVariants:
    entries = list(session.state.variants.values())
    documents = [
        to_variant_document(
            entry.video,
            comparison=entry.comparison,
            source_music_id=session.music_of(entry.video),
            source_music_url=_music_link(session, session.music_of(entry.video)),
        )
        for entry in entries
    ]
    kinds = Counter(document["variant_kind"] for document in documents)
    return {"count": len(documents), "aweme_list": documents, "by_kind": dict(kinds)}


def _music_link(session: ScanRun, music_id: str) -> str:
    return session.runtime.profile.address("public_music", music_id=music_id)


def _discovery(session: ScanRun) -> ScanDiscovery:
    return {
        "official_comprehensive_search": search_summary(session),
        "confirmed_graph_observation_history": _history(session),
        "rounds": [
            {"round": number, "music_ids": list(music_ids), "new_confirmed_count": new}
            for number, (music_ids, new) in enumerate(session.state.rounds)
        ],
    }  # fmt: skip


def _history(session: ScanRun) -> ConfirmationHistory:
    """Summarize this run and all earlier runs that confirmed videos of the track."""
    confirmed, now = set(session.state.confirmed), session.clock()
    before = read_confirmed_history(
        session.runtime.engine, session.music_id, without_job=session.job.job_id
    )
    return {
        "run_count": before.run_count + 1,
        "cumulative_confirmed_count": len(before.aweme_ids | confirmed),
        "new_confirmed_count": len(confirmed - before.aweme_ids),
        "first_run_at": to_time(before.first_run_at or now),
        "last_run_at": to_time(now),
    }


def coverage_document(session: ScanRun) -> Coverage:
    """Build `coverage`: sources, decisions, what was not reached, the estimates."""
    found = session.state
    music_ids, videos = coverage_estimates(session)
    left = [
        *(f"user_posts:{sec_uid}" for sec_uid in found.authors_left),
        *(f"hashtag_list:{name}" for name in found.hashtags_left),
    ]
    return {
        "sources": [
            cast("SourceCoverageDocument", asdict(entry))
            for entry in merge_coverage(found.coverage_report)
        ],
        "decisions": [
            cast("SourceDecisionDocument", asdict(entry))
            for entry in session.captures.read_decisions()
        ],
        "not_reached": [*found.not_reached, *left],
        "unseen_estimate": unseen_music_ids(_seen_elsewhere(session)),
        "list_genuine_share": _genuine_shares(session),
        "estimates": {"music_ids": _estimate(music_ids), "videos": _estimate(videos)},
        **_audit(found.audit),
    }


def _audit(audit: RandomAudit | None) -> AuditPart:
    if audit is None:
        return {}
    document: RandomAuditDocument = {
        "seed": audit.seed,
        "pool": audit.population,
        "drawn": len(audit.videos),
        "compared": audit.compared,
        "found": audit.carrying,
        "upper_bound_share": audit.bound.share if audit.bound else None,
        "upper_bound_count": audit.bound.count if audit.bound else None,
        "confidence": CONFIDENCE,
        "reason": audit.reason,
        "videos": [
            {
                "aweme_id": video.aweme_id,
                "music_id": video.music_id,
                "verdict": video.verdict,
                "reason": video.reason,
                "comparison_id": video.comparison_id,
            }
            for video in audit.videos
        ],
        "note": "",
    }
    return {"audit": {**document, "note": audit_sentence(document).en}}


def coverage_estimates(session: ScanRun) -> tuple[CoverageEstimate, CoverageEstimate]:
    """Estimate how many music ids and videos with the recording a guest could reach."""
    sample = _confirmed_sample(session)
    return estimate_music_ids(sample), estimate_videos(sample)


def _confirmed_sample(session: ScanRun) -> ConfirmedSample:
    found = session.state
    videos = (entry.video for entry in found.confirmed.values())
    read = found.read_candidates()
    listed = listed_only(found.sightings, confirmed_ids=found.verified, read=read)
    left = left_out(found.sightings, pooled=found.pool)
    music_of = {video.aweme_id: session.music_of(video) for video in videos}
    return replace(
        sample_of(found.sightings, music_of=music_of),
        unread_lists=len(_unread_lists(session)),
        is_compared=session.verifies_audio,
        listed_videos=len(listed),
        left_out=len(left - listed),
        unread=len(found.pool.keys() - read - listed),
        rest=audited_rest(found.audit, listed=left & listed),
    )


def _unread_lists(session: ScanRun) -> set[str]:
    """Return the verified music ids whose list was not read, or was cut.

    A list that was cut is in the coverage report without its music id, so it counts for the track's
    own.
    """
    found = session.state
    is_cut = any(
        entry.surface == MUSIC_LIST and entry.stop_reason not in EXHAUSTED_REASONS
        for entry in found.coverage_report
    )
    own = {session.music_id} if is_cut else set()
    return (set(found.verified) - found.screened) | own


def _estimate(entry: CoverageEstimate) -> CoverageEstimateDocument:
    lower, upper = entry.lower, entry.upper
    document: CoverageEstimateDocument = {
        "observed": entry.observed,
        "listed": entry.listed,
        "source_count": entry.source_count,
        "sample_size": entry.sample_size,
        "method": entry.method,
        "point": entry.point,
        "interval_95": None if lower is None or upper is None else [lower, upper],
        "sample_coverage": entry.sample_coverage,
        "assumption": entry.assumption,
        "reason": entry.reason,
        "note": "",
    }
    return {**document, "note": coverage_estimate_sentence(entry.unit, document).en}


def _genuine_shares(session: ScanRun) -> list[ListGenuineShareDocument]:
    """Return for each music list how many rows use its music id, or were confirmed by audio.

    A video that is linked by its verified music id was not compared itself.
    """
    videos, confirmed = session.state.videos(), session.state.confirmed
    shares = genuine_shares(
        session.state.sightings,
        music_of={one.aweme_id: one.music.music_id for one in videos if one.music},
        heard={
            name for name, one in confirmed.items() if one.link_type == "audio_fingerprint_match"
        },
    )
    return [cast("ListGenuineShareDocument", asdict(one)) for one in shares]


def _seen_elsewhere(session: ScanRun) -> Iterator[tuple[str, str]]:
    """Yield videos of other verified music ids that another surface than a music list showed."""
    found = session.state
    music = {video.aweme_id: video.music for video in found.videos()}
    for seen in found.sightings:
        sound = music.get(seen.aweme_id)
        is_screen = seen.surface not in {MUSIC_LIST, KNOWN_MATCHES}
        if sound and is_screen and found.verified.get(sound.music_id) is not None:
            yield seen.aweme_id, sound.music_id


def exhausted_sources(session: ScanRun) -> dict[Source, bool]:
    """Return for each source whether it ended by exhaustion, not by a limit or an error.

    A search with nothing to search for has no entry. One whose limit is 0 was ended by it.
    """
    found = session.state
    has_free_space = len(found.pool) < session.parameters.candidate_limit
    is_clean = all(
        entry.stop_reason in CLEAN_ENDS
        for entry in found.coverage_report
        if entry.surface not in SEPARATE_SURFACES
    )
    left = [name for name in found.not_reached if name.partition(":")[0] not in SEPARATE_SURFACES]
    is_whole = not left and not found.authors_left and not found.hashtags_left
    ended: dict[Source, bool] = {}
    if session.keyword is None:
        ended["music"] = has_free_space and is_clean and is_whole
        ended["accounts"] = found.profiles_end == "completed"
    if found.search is not None:
        ended["search"] = all(term.stop_reason in EXHAUSTED_REASONS for term in found.search.terms)
    elif is_search_wanted(session) and not session.parameters.search_candidate_limit:
        ended["search"] = False
    return ended


def coverage_marts(session: ScanRun) -> dict[str, list[MartRow]]:
    """Return the rows of the coverage report by mart."""
    return {
        "coverage": mart_rows.coverage_rows(session),
        "coverage_estimates": mart_rows.estimate_rows(coverage_estimates(session)),
        "random_audits": mart_rows.audit_rows(session),
    }


def ranking_marts(session: ScanRun) -> dict[str, list[MartRow]]:
    """Build the result of this scan; return the rows of its ranking by mart."""
    document = session.result = result_document(session)
    return {
        "rankings": mart_rows.ranking_rows(session, document),
        "account_summaries": mart_rows.account_rows(session, document["account_summary"]),
    }


def carry_over(session: ScanRun) -> None:
    """Write the rows of the finished steps under this job too, and store a first checkpoint.

    For a job that begins with the state of another one. Rows stay with the job that read and
    compared: each comparison has one row, which later rows name by its id; and what a step read
    first cannot be told from a state after it.
    """
    state = session.state
    kept = {"audio_comparisons", *(table.name.removeprefix("marts.") for table in STEP_MARTS)}
    written, state.written = state.written - kept, set()
    rows = mart_rows.confirmation_rows(session) | coverage_marts(session)
    if "rankings" in state.steps:
        rows |= ranking_marts(session)
    mart_rows.append_marts(session, {noun: rows[noun] for noun in sorted(written)})
    session.checkpoint()
