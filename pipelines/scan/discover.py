"""Discover related videos of a track: a small scan and its result document.

It reuses the stages of a scan, and reports candidate by candidate. Layer 1: first-screen videos of
the track's authors. Layer 2: those of other music ids whose text names the song, confirmed or
rejected by audio. Its parameters are in `rules/discovery.py`.
"""

from collections.abc import Callable
from functools import partial

from pipelines.documents.result_types import (
    AssociationType,
    DiscoveredVideo,
    Discovery,
    DiscoveryCandidate,
)
from pipelines.documents.video_types import LinkedVideo
from pipelines.documents.videos import to_evidence_document, to_time
from pipelines.scan.collect import fill_pool, read_details, read_music_screen, read_track
from pipelines.scan.conclude import coverage_document, ranked_document, requested_track
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.marts.rows import MartRow
from pipelines.scan.rules.candidate_pool import Sighting, choose_candidates, choose_others
from pipelines.scan.rules.expansion import ConfirmedVideo
from pipelines.scan.rules.ranking import hot_score, is_viral, rank_documents
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.screens import read_author_screens
from pipelines.scan.state.scan_state import source_of
from warehouse.records.evidence import ALGORITHM, Comparison


def discover(session: ScanRun) -> Discovery:
    """Read the track, its first videos and their authors' screens; verify the text candidates."""
    for stage, work in _STEPS.items():
        session.enter(stage)
        session.complete_step(stage, partial(_counted, work, session))
    session.enter("job_results")
    return _document(session)


def _counted(work: Callable[[ScanRun], object], session: ScanRun) -> dict[str, int]:
    work(session)
    return {"videos_seen": len(session.state.seen_ids), "pool_size": len(session.state.pool)}


def _read_first_screen(session: ScanRun) -> None:
    read_music_screen(session, session.music_id)
    fill_pool(session)
    read_details(session)


def _read_authors(session: ScanRun) -> None:
    own = session.state.videos_of(session.music_id)
    read_author_screens(session, own, limit=session.discovery.author_limit)


def _choose(session: ScanRun) -> None:
    """Choose text candidates first; posts that do not name the song only fill the rest."""
    found = session.state
    own = set(found.pool)
    seen = [entry for entry in found.sightings if entry.surface == "user_posts"]
    limit = len(own) + session.discovery.candidate_limit
    named = choose_candidates(seen, title=session.song_title, limit=limit, pooled=own)
    found.pool.update({entry.sighting.aweme_id: entry for entry in named})
    others = choose_others(seen, limit=limit, pooled=found.pool)
    found.pool.update({entry.sighting.aweme_id: entry for entry in others})
    found.candidates = {name: entry for name, entry in found.pool.items() if name not in own}


_STEPS: dict[str, Callable[[ScanRun], object]] = {
    "track": read_track,
    "music_first_screen": _read_first_screen,
    "author_first_screens": _read_authors,
    "candidates": _choose,
    "video_details": read_details,
    "confirmed_videos": partial(confirm_videos, expands=False),
}


def discovered_rows(session: ScanRun, document: Discovery) -> list[MartRow]:
    """Return the rows of `marts.discovered_videos`: every candidate with its outcome."""
    return [
        {
            "track_music_id": session.music_id,
            "aweme_id": entry["aweme_id"],
            "music_id": entry["music"]["id_str"] if entry["music"] else None,
            "title_relation": entry["title_relation"],
            "verdict": entry["verdict"],
            "reason": entry["reason"],
            "association_type": entry["association_type"],
            "comparison_id": entry["evidence"]["comparison_id"] if entry["evidence"] else None,
        }
        for entry in document["candidates"]
    ]


def _document(session: ScanRun) -> Discovery:
    found = session.state
    track = requested_track(session)
    assert track is not None, "a discovery without a track fails earlier"
    confirmed = [found.confirmed[name] for name in found.candidates if name in found.confirmed]
    entries = {entry.video.aweme_id: entry for entry in confirmed}
    verified = rank_documents(
        [ranked_document(session, entry) for entry in confirmed], sort_by="hot_score"
    )
    threshold = session.parameters.viral_threshold
    return {
        "kind": "discovery",
        "music_id": session.music_id,
        "music": track,
        "aweme_list": [
            _to_discovered(rank, work, entries[work["aweme_id"]], viral_threshold=threshold)
            for rank, work in enumerate(verified, 1)
        ],
        "candidates": [_candidate(session, entry.sighting) for entry in found.candidates.values()],
        "reference_works": [
            entry.video.aweme_id
            for entry in found.references
            if source_of(entry.video) == "platform"
        ],
        "layer_counts": _layer_counts(session, confirmed),
        "coverage": coverage_document(session),
        "coverage_complete": False,
        "algorithm": ALGORITHM,
        "confirmed_count": len(verified),
        "parameters": session.discovery.to_document(),
        "is_demo_data": session.runtime.is_demo,
        "data_provider": session.runtime.music_provider,
        "mobile_emulator_used": session.runtime.uses_device,
        "created_at": to_time(session.clock()),
    }


def _association_of(entry: ConfirmedVideo) -> AssociationType:
    """Return how a discovered video is linked to the track: by music id or by audio."""
    is_own = entry.link_type == "exact_music_id"
    return "exact_music_id_discovered" if is_own else "audio_fingerprint_match"


def _to_discovered(
    rank: int, document: LinkedVideo, entry: ConfirmedVideo, *, viral_threshold: int
) -> DiscoveredVideo:
    """Return the document of a verified match: the ranked video with its association."""
    return {
        "rank": rank,
        **document,
        "association_type": _association_of(entry),
        "reference_aweme_id": entry.comparison.reference_video_id if entry.comparison else None,
        "hot_score": hot_score(entry.video.statistics),
        "is_viral": is_viral(document, viral_threshold=viral_threshold),
    }


def _layer_counts(session: ScanRun, confirmed: list[ConfirmedVideo]) -> dict[str, int]:
    """Count the candidates of each layer by outcome."""
    found, title = session.state, session.song_title
    naming = [entry for entry in found.candidates.values() if entry.sighting.mentions(title)]
    outcomes = [found.outcomes.get(name, ("pooled", None))[0] for name in found.candidates]
    screens = {entry.aweme_id for entry in found.sightings if entry.surface == "user_posts"}
    own = sum(entry.link_type == "exact_music_id" for entry in confirmed)
    return {
        "layer1_first_screen_works": len(screens),
        "layer1_same_music_id": own,
        "layer2_text_candidates": len(outcomes),
        "layer2_naming_the_song": len(naming),
        "layer2_verified": outcomes.count("confirmed") - own,
        "layer2_variants": outcomes.count("variant"),
        "layer2_rejected": outcomes.count("rejected"),
        "layer2_not_comparable": outcomes.count("not_comparable"),
        "unavailable": outcomes.count("unavailable"),
    }


def _candidate(session: ScanRun, seen: Sighting) -> DiscoveryCandidate:
    found, name = session.state, seen.aweme_id
    verdict, reason = found.outcomes.get(name, ("pooled", "not_read"))
    comparison = _strongest_comparison(session, name)
    confirmed = found.confirmed.get(name)
    detail = found.details.get(name)
    sound = detail.video.music if detail else None
    return {
        "aweme_id": name,
        "desc": seen.desc,
        "music": {"id_str": sound.music_id, "title": sound.title, "author": sound.author}
        if sound
        else None,
        "title_relation": "names_the_song" if seen.mentions(session.song_title) else "none",
        "verdict": verdict,
        # a candidate of a stored checkpoint may be confirmed without a reason
        "reason": reason or (confirmed.reason if confirmed else verdict),
        "evidence": to_evidence_document(comparison) if comparison else None,
        "association_type": _association_of(confirmed) if confirmed else None,
    }


def _strongest_comparison(session: ScanRun, aweme_id: str) -> Comparison | None:
    """Return the strongest comparison of a candidate: its own, else one of its music id."""
    found = session.state
    confirmed = found.confirmed.get(aweme_id)
    if confirmed is not None:
        return confirmed.comparison
    detail = found.details.get(aweme_id)
    sound = detail.video.music.music_id if detail and detail.video.music else None
    own = [entry for entry in found.comparisons if entry.candidate_aweme_id == aweme_id]
    group = [entry for entry in found.comparisons if entry.candidate_music_id == sound]
    return max(own or group, key=lambda entry: entry.pair.score or 0.0, default=None)
