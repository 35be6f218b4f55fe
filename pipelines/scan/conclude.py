"""Conclude a scan: build its immutable result document and the rows that come from it."""

from collections import Counter
from dataclasses import asdict, replace
from typing import cast

from pipelines.documents import messages, result_types
from pipelines.documents.result_types import LinkedVideo, TrackDocument
from pipelines.documents.videos import (
    to_ranked_document,
    to_time,
    to_track_document,
    to_variant_document,
    to_version_document,
)
from pipelines.scan import marts
from pipelines.scan.collect import is_search_wanted, search_related, search_summary
from pipelines.scan.confirm import AUDIT_SURFACE
from pipelines.scan.marts import MartRow
from pipelines.scan.rules import coverage
from pipelines.scan.rules.candidate_pool import KNOWN_MATCHES, MUSIC_LIST, genuine_shares
from pipelines.scan.rules.coverage import CONFIDENCE, left_out
from pipelines.scan.rules.expansion import TrackLink
from pipelines.scan.scan_run import ScanRun
from warehouse.queries.results import read_confirmed_history, read_first_observed
from warehouse.records.coverage import CoverageEstimate, RandomAudit, merge_coverage
from warehouse.records.errors import AudioUnavailableError
from warehouse.records.evidence import ALGORITHM
from warehouse.records.videos import Video, track_origin
from warehouse.tables.marts import STEP_MARTS

CLEAN_ENDS = messages.EXHAUSTED_REASONS | {AudioUnavailableError.type}
"""Stop reasons after which a feed may have ended. A sound that is not available is no refusal: its
video is not comparable, and another scan would not get it either."""
SEPARATE_SURFACES = frozenset(
    {"search", "user_info", "service_track", "service_audio", AUDIT_SURFACE}
)
"""Surfaces that show no videos of the track, or have an entry of their own in
`sources_ended_by_exhaustion`."""


def result_document(run: ScanRun) -> result_types.StoredResult:
    """Build the immutable result of this scan. Queries when each video was first observed.

    It holds all confirmed videos, in any order. A search by name alone has `keyword` and neither
    `music` nor `music_id`: it confirms nothing.
    """
    state, engine = run.state, run.runtime.engine
    first_observed = read_first_observed(engine, list(state.confirmed))
    ranked = [
        ranked_document(
            run, replace(video, first_observed_at=first_observed.get(video.aweme_id)), link
        )
        for video, link in state.confirmed_videos()
    ]
    # The accounts are those of all confirmed videos, not only of the returned ones.
    summary = marts.summarize_accounts(engine, ranked, profiles=state.profiles)
    variants = [
        to_variant_document(
            video,
            comparison=comparison,
            source_music_id=run.music_of(video),
            source_music_url=_music_link(run, run.music_of(video)),
        )
        for video, comparison in state.variant_videos()
    ]
    kinds = Counter(document["variant_kind"] for document in variants)
    versions = [
        to_version_document(
            video,
            comparison=comparison,
            source_music_id=run.music_of(video),
            source_music_url=_music_link(run, run.music_of(video)),
        )
        for video, comparison in state.version_videos()
    ]
    return {
        "music": requested_track(run),
        "music_id": run.music_id or None,
        "ranked": ranked,
        "candidate_pool_size": len(state.pool),
        "unique_account_count": summary["account_count"],
        "account_summary": summary,
        "discovery": {
            "official_comprehensive_search": search_summary(run),
            "confirmed_graph_observation_history": _history(run),
            "rounds": [
                {"round": number, "music_ids": list(music_ids), "new_confirmed_count": new}
                for number, (music_ids, new) in enumerate(state.rounds)
            ],
        },
        "coverage": coverage_document(run),
        "parameters": run.parameters.to_document(),
        "sources_ended_by_exhaustion": exhausted_sources(run),
        "is_demo_data": run.runtime.is_demo,
        "data_provider": run.runtime.music_provider,
        "created_at": to_time(run.clock()),
        "keyword": run.keyword,
        "search_related": search_related(run),
        "variants": {"count": len(variants), "aweme_list": variants, "by_kind": dict(kinds)},
        "versions": {"count": len(versions), "aweme_list": versions},
        "account_count_complete": False,
        "mobile_emulator_used": run.runtime.uses_device,
        "algorithm": ALGORITHM,
        "confirmed_count": len(ranked),
        "coverage_complete": False,
    }


def requested_track(run: ScanRun) -> TrackDocument | None:
    """Return the document of the requested track with the video its sound was born with."""
    track = run.state.track
    if track is None:
        return None
    return to_track_document(track, origin=track_origin(track, run.state.videos()))


def ranked_document(run: ScanRun, video: Video, link: TrackLink) -> LinkedVideo:
    """Return the document of a confirmed video, with the public link of its sound."""
    music_id = run.music_of(video)
    return to_ranked_document(
        video,
        link_type=link.link_type,
        source_music_id=music_id,
        source_music_url=_music_link(run, music_id),
        comparison=link.comparison,
    )


def _music_link(run: ScanRun, music_id: str) -> str:
    return run.runtime.profile.address("public_music", music_id=music_id)


def _history(run: ScanRun) -> result_types.ConfirmationHistory:
    """Summarize this run and all earlier runs that confirmed videos of the track."""
    confirmed, now = set(run.state.confirmed), run.clock()
    earlier = read_confirmed_history(run.runtime.engine, run.music_id, without_job=run.job.job_id)
    return {
        "run_count": earlier.run_count + 1,
        "cumulative_confirmed_count": len(earlier.aweme_ids | confirmed),
        "new_confirmed_count": len(confirmed - earlier.aweme_ids),
        "first_run_at": to_time(earlier.first_run_at or now),
        "last_run_at": to_time(now),
    }


def coverage_document(run: ScanRun) -> result_types.Coverage:
    """Build `coverage`: sources, decisions, what was not reached, the estimates."""
    state = run.state
    music_ids, videos = coverage_estimates(run)
    sounds = {video.aweme_id: video.music for video in state.videos() if video.music}
    # Videos of other verified music ids that another surface than a music list showed.
    shown_elsewhere = [
        (entry.aweme_id, sounds[entry.aweme_id].music_id)
        for entry in state.sightings
        if entry.surface not in {MUSIC_LIST, KNOWN_MATCHES}
        and entry.aweme_id in sounds
        and state.verified.get(sounds[entry.aweme_id].music_id) is not None
    ]
    # As the comparisons show it: candidates that matched, whichever music id they use, and the
    # references that they matched.
    matched_by_audio = {
        aweme_id
        for entry in state.comparisons
        if entry.pair.verdict == "confirmed"
        for aweme_id in (entry.reference_aweme_id, entry.candidate_aweme_id)
    }
    shares = genuine_shares(
        state.sightings,
        music_of={aweme_id: sound.music_id for aweme_id, sound in sounds.items()},
        matched_by_audio=matched_by_audio,
    )
    return {
        "sources": [
            cast("result_types.SourceCoverageDocument", asdict(entry))
            for entry in merge_coverage(state.coverage_report)
        ],
        "decisions": [
            cast("result_types.SourceDecisionDocument", asdict(entry))
            for entry in run.captures.read_decisions()
        ],
        "not_reached": [
            *state.not_reached,
            *(f"user_posts:{sec_uid}" for sec_uid in state.authors_left),
            *(f"hashtag_list:{name}" for name in state.hashtags_left),
        ],
        "unseen_estimate": coverage.unseen_music_ids(shown_elsewhere),
        "list_genuine_share": [
            cast("result_types.ListGenuineShareDocument", asdict(share)) for share in shares
        ],
        "estimates": {
            "music_ids": _estimate_document(music_ids),
            "videos": _estimate_document(videos),
        },
        **_audit_part(state.audit),
    }


def _audit_part(audit: RandomAudit | None) -> result_types.AuditPart:
    if audit is None:
        return {}
    document: result_types.RandomAuditDocument = {
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
    return {"audit": {**document, "note": messages.audit_sentence(document).en}}


def coverage_estimates(run: ScanRun) -> tuple[CoverageEstimate, CoverageEstimate]:
    """Estimate how many music ids and videos with the recording a guest could reach."""
    state = run.state
    # The verified music ids whose list was not read, or was cut. A list that was cut is in the
    # coverage report without its music id, so it counts for the track's own.
    unread_lists = set(state.verified) - state.screened
    if any(
        entry.surface == MUSIC_LIST and entry.stop_reason not in messages.EXHAUSTED_REASONS
        for entry in state.coverage_report
    ):
        unread_lists.add(run.music_id)

    music_of = {video.aweme_id: run.music_of(video) for video, _ in state.confirmed_videos()}
    read = state.read_candidates()
    listed = coverage.listed_only(state.sightings, confirmed_ids=state.verified, read=read)
    not_chosen = left_out(state.sightings, pooled=state.pool)
    sample = replace(
        coverage.sample_of(state.sightings, music_of=music_of),
        unread_lists=len(unread_lists),
        is_compared=run.verifies_audio,
        listed_videos=len(listed),
        left_out=len(not_chosen - listed),
        unread=len(state.pool.keys() - read - listed),
        rest=coverage.audited_rest(state.audit, listed=not_chosen & listed),
    )
    return coverage.estimate_music_ids(sample), coverage.estimate_videos(sample)


def _estimate_document(entry: CoverageEstimate) -> result_types.CoverageEstimateDocument:
    # The sentence is built from the other entries, so it is added last.
    lower, upper = entry.lower, entry.upper
    document: result_types.CoverageEstimateDocument = {
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
    return {**document, "note": messages.coverage_estimate_sentence(entry.unit, document).en}


def exhausted_sources(run: ScanRun) -> dict[result_types.Source, bool]:
    """Return for each source whether it ended by exhaustion, not by a limit or an error.

    A search without a term has no entry. A search whose limit is 0 was ended by the limit.
    """
    state = run.state
    # A full pool may have left videos out, whatever ended the lists.
    has_free_places = len(state.pool) < run.parameters.candidate_limit
    is_clean = all(
        entry.stop_reason in CLEAN_ENDS
        for entry in state.coverage_report
        if entry.surface not in SEPARATE_SURFACES
    )
    # `not_reached` has entries such as `music_list:7342451722773117559`.
    is_complete = not (state.authors_left or state.hashtags_left) and all(
        entry.partition(":")[0] in SEPARATE_SURFACES for entry in state.not_reached
    )
    ended: dict[result_types.Source, bool] = {}
    if run.keyword is None:
        ended["music"] = has_free_places and is_clean and is_complete
        ended["accounts"] = state.profiles_end == "completed"
    if state.search is not None:
        ended["search"] = all(
            term.stop_reason in messages.EXHAUSTED_REASONS for term in state.search.terms
        )
    elif is_search_wanted(run) and not run.parameters.search_candidate_limit:
        ended["search"] = False
    return ended


def coverage_marts(run: ScanRun) -> dict[str, list[MartRow]]:
    """Return the rows of the coverage report by mart."""
    return {
        "coverage": marts.coverage_rows(run),
        "coverage_estimates": marts.estimate_rows(coverage_estimates(run)),
        "random_audits": marts.audit_rows(run),
    }


def ranking_marts(run: ScanRun) -> dict[str, list[MartRow]]:
    """Build the result of this scan; return the rows of its ranking by mart."""
    document = run.result = result_document(run)
    return {
        "rankings": marts.ranking_rows(run, document),
        "account_summaries": marts.account_rows(run, document["account_summary"]),
    }


def carry_over(run: ScanRun) -> None:
    """Write the rows of the finished steps under this job too, and store a first checkpoint.

    For a job that begins with the state of another one. Some rows stay with the job that read and
    compared. Each comparison has one row, which later rows name by its id. The rows of a step are
    those of its first pass, which a later state does not contain.
    """
    state = run.state
    staying = {"audio_comparisons", *(table.name.removeprefix("marts.") for table in STEP_MARTS)}
    written, state.written = state.written - staying, set()
    rows = marts.confirmation_rows(run) | coverage_marts(run)
    if "rankings" in state.steps:
        rows |= ranking_marts(run)
    marts.append_marts(run, {noun: rows[noun] for noun in sorted(written)})
    run.checkpoint()
