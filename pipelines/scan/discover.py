"""Discover related videos of a track: a small scan and its result document.

It reuses the stages of a scan, and reports candidate by candidate. Layer 1: first-screen videos of
the track's authors. Layer 2: those of other music ids whose text names the song, confirmed or
rejected by audio. Its parameters are in `rules/discovery.py`.
"""

from collections.abc import Callable, Mapping
from functools import partial

from pipelines.documents import result_types
from pipelines.documents.videos import to_evidence_document, to_time
from pipelines.scan import collect
from pipelines.scan.conclude import coverage_document, ranked_document, requested_track
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.marts import MartRow
from pipelines.scan.rules.candidate_pool import Sighting, choose_candidates, choose_others
from pipelines.scan.rules.expansion import TrackLink
from pipelines.scan.rules.results import is_viral, rank_documents
from pipelines.scan.scan_run import ScanRun
from warehouse.records.evidence import ALGORITHM


def discover(run: ScanRun) -> result_types.Discovery:
    """Read the track, its first videos and their authors' screens; verify the text candidates."""
    state = run.state
    steps: Mapping[str, Callable[[], object]] = {
        "track": lambda: collect.read_track(run),
        "music_first_screen": lambda: read_first_videos(run),
        "author_first_screens": lambda: read_first_authors(run),
        "candidates": lambda: choose_text_candidates(run),
        "video_details": lambda: collect.read_details(run),
        "confirmed_videos": lambda: confirm_videos(run, expands=False),
    }

    def do_and_count(work: Callable[[], object]) -> dict[str, int]:
        work()
        return {"videos_seen": len(state.seen_ids), "pool_size": len(state.pool)}

    for stage, work in steps.items():
        run.enter(stage)
        run.complete_step(stage, partial(do_and_count, work))
    run.enter("job_results")
    return _document(run)


def read_first_videos(run: ScanRun) -> None:
    """Read the first page of the track's own list, and the pages of its videos."""
    collect.read_music_screen(run, run.music_id)
    collect.fill_pool(run)
    collect.read_details(run)


def read_first_authors(run: ScanRun) -> None:
    """Read the first screens of the authors of the track's own videos."""
    videos = run.state.videos_of(run.music_id)
    collect.read_author_screens(run, videos, limit=run.discovery.author_limit)


def choose_text_candidates(run: ScanRun) -> None:
    """Choose posts that name the song; posts that do not name it fill the remaining places."""
    state = run.state
    own = set(state.pool)
    sightings = [entry for entry in state.sightings if entry.surface == "user_posts"]
    limit = len(own) + run.discovery.candidate_limit
    naming = choose_candidates(sightings, title=run.song_title, limit=limit, pooled=own)
    state.pool.update({entry.aweme_id: entry for entry in naming})
    others = choose_others(sightings, limit=limit, pooled=state.pool)
    state.pool.update({entry.aweme_id: entry for entry in others})
    state.candidates = {name: entry for name, entry in state.pool.items() if name not in own}


def discovered_rows(run: ScanRun, document: result_types.Discovery) -> list[MartRow]:
    """Return the rows of `marts.discovered_videos`: every candidate with its outcome."""
    return [
        {
            "track_music_id": run.music_id,
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


def _document(run: ScanRun) -> result_types.Discovery:
    state = run.state
    track = requested_track(run)
    assert track is not None, "a discovery without a track fails earlier"
    # Only candidates are listed, not the videos of the track's own list that were read first.
    confirmed = {
        name: state.confirmed[name] for name in state.candidates if name in state.confirmed
    }
    ranked = rank_documents(
        [ranked_document(run, state.details[name], link) for name, link in confirmed.items()],
        sort_by="hot_score",
    )
    threshold = run.parameters.viral_threshold
    videos: list[result_types.DiscoveredVideo] = []
    for rank, document in enumerate(ranked, start=1):
        aweme_id = document["aweme_id"]
        link = confirmed[aweme_id]
        reference = link.comparison.reference_video_id if link.comparison else None
        video: result_types.DiscoveredVideo = {
            "rank": rank,
            **document,
            "association_type": _association_of(link),
            "reference_aweme_id": reference,
            "hot_score": state.details[aweme_id].statistics.hot_score,
            "is_viral": is_viral(document, viral_threshold=threshold),
        }
        videos.append(video)
    return {
        "kind": "discovery",
        "music_id": run.music_id,
        "music": track,
        "aweme_list": videos,
        "candidates": [_candidate_document(run, entry) for entry in state.candidates.values()],
        "reference_works": [
            aweme_id
            for aweme_id in state.references
            if state.reference_source(aweme_id) == "platform"
        ],
        "layer_counts": _layer_counts(run, list(confirmed.values())),
        "coverage": coverage_document(run),
        "coverage_complete": False,
        "algorithm": ALGORITHM,
        "confirmed_count": len(videos),
        "parameters": run.discovery.to_document(),
        "is_demo_data": run.runtime.is_demo,
        "data_provider": run.runtime.music_provider,
        "mobile_emulator_used": run.runtime.uses_device,
        "created_at": to_time(run.clock()),
    }


def _association_of(link: TrackLink) -> result_types.AssociationType:
    """Return how a discovered video is linked to the track: by music id or by audio."""
    is_own = link.link_type == "exact_music_id"
    return "exact_music_id_discovered" if is_own else "audio_fingerprint_match"


def _layer_counts(run: ScanRun, links: list[TrackLink]) -> dict[str, int]:
    """Count the candidates of each layer by outcome."""
    state, title = run.state, run.song_title
    naming = [entry for entry in state.candidates.values() if entry.mentions(title)]
    outcomes = [state.outcomes.get(name, ("pooled", None))[0] for name in state.candidates]
    screens = {entry.aweme_id for entry in state.sightings if entry.surface == "user_posts"}
    own = sum(link.link_type == "exact_music_id" for link in links)
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


def _candidate_document(run: ScanRun, sighting: Sighting) -> result_types.DiscoveryCandidate:
    state, aweme_id = run.state, sighting.aweme_id
    verdict, reason = state.outcomes.get(aweme_id, ("pooled", "not_read"))
    confirmed = state.confirmed.get(aweme_id)
    video = state.details.get(aweme_id)
    sound = video.music if video else None
    if confirmed is not None:
        comparison = confirmed.comparison
    else:
        # The evidence is the strongest comparison of the video itself, else one of its music id.
        music_id = sound.music_id if sound else None
        own = [pair for pair in state.comparisons if pair.candidate_aweme_id == aweme_id]
        group = [pair for pair in state.comparisons if pair.candidate_music_id == music_id]
        comparison = max(own or group, key=lambda entry: entry.pair.score or 0.0, default=None)
    names_song = sighting.mentions(run.song_title)
    return {
        "aweme_id": aweme_id,
        "desc": sighting.desc,
        "music": {"id_str": sound.music_id, "title": sound.title, "author": sound.author}
        if sound
        else None,
        "title_relation": "names_the_song" if names_song else "none",
        "verdict": verdict,
        # A candidate of a checkpoint that an earlier release stored may have no reason.
        "reason": reason or (confirmed.reason if confirmed else verdict),
        "evidence": to_evidence_document(comparison) if comparison else None,
        "association_type": _association_of(confirmed) if confirmed else None,
    }
