"""Documents as a worker writes them, for tests and benches that run no scan."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from pipelines.captures.walks import FinishedSearch
from pipelines.documents.videos import to_ranked_document, to_track_document
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.search import to_search_related
from tests.scan.account_oracle import to_account_summary
from warehouse.records.evidence import (
    ALGORITHM,
    Comparison,
    MatchThresholds,
    PairEvidence,
    SearchedRange,
)  # fmt: skip
from warehouse.records.videos import Author, Hashtag, Music, Statistics, Track, Video

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MUSIC_ID = "7300000000000000001"
PROVIDER = "public-graph"
_DISCOVERY: Any = {
    "official_comprehensive_search": {"terms": [], "cursor_pages": 0, "observed_union_count": 0},
    "confirmed_graph_observation_history": {
        "run_count": 1, "cumulative_confirmed_count": 0, "new_confirmed_count": 0,
        "first_run_at": "2026-01-31T12:00:00Z", "last_run_at": "2026-01-31T12:00:00Z",
    },
    "rounds": [],
}  # fmt: skip


NO_SEARCH: Any = to_search_related(
    [],
    search=FinishedSearch(terms=(), videos=(), shown_by={}, requests_used=0, request_budget=0),
    shown_by={},
    title=None,
    verified=(),
)
NO_VARIANTS: Any = {"count": 0, "aweme_list": [], "by_kind": {}}


def stored_result(ranked: list[Any], **parts: object) -> Any:
    """A result document with these parts; without them, of a scan without search and variants."""
    return {
        "music_id": MUSIC_ID,
        "ranked": ranked,
        "account_summary": to_account_summary(ranked),
        "is_demo_data": True,
        "data_provider": PROVIDER,
        "created_at": "2026-01-31T12:00:00Z",
        "keyword": None,
        "search_related": NO_SEARCH,
        "variants": NO_VARIANTS,
        "account_count_complete": False,
        "mobile_emulator_used": False,
        "algorithm": ALGORITHM,
        "confirmed_count": len(ranked),
        "coverage_complete": False,
        **parts,
    }


def work(number: int) -> Any:
    """Every third work is linked by sound."""
    is_heard = number % 3 == 0
    music_id = f"74000000000000{number:05}" if is_heard else MUSIC_ID
    video = Video(
        aweme_id=f"73500000000000{number:05}",
        surface="video_page",
        observed_at=NOW,
        desc="纸船 Paper Boats",
        create_time=1_700_000_000 + number,
        share_url="https://vidplat.example/video/1",
        media_type="video",
        is_top=False,
        author=Author(sec_uid=f"MS4wLjABAAAA{number % 7}", nickname="阿明"),
        music=Music(music_id=music_id, title="Paper Boats", duration_s=30),
        duration_ms=15_000,
        hashtags=(Hashtag(ch_id="1600000000000001", name="纸船"),),
        statistics=Statistics(
            digg_count=number * 1000, comment_count=number, collect_count=number, share_count=1
        ),
    )
    return to_ranked_document(
        video,
        link_type="audio_fingerprint_match" if is_heard else "exact_music_id",
        source_music_id=music_id,
        source_music_url=f"https://vidplat.example/music/{music_id}",
        comparison=_comparison(video.aweme_id, music_id) if is_heard else None,
    )


def variant(number: int, *, likes: int, speed: float = 1.2, kind: str = "speed") -> Any:
    """A video with the recording changed, under a music id of its own."""
    video = work(3 * number)  # linked by sound, so with evidence
    document = {name: video[name] for name in video if not name.startswith(("link", "source_cha"))}
    counts = {**video["statistics"], "digg_count": likes}
    return {
        **document, "aweme_id": f"73900000000000{number:05}", "statistics": counts,
        "variant_kind": kind, "speed": speed, "semitones": 0.0,
    }  # fmt: skip


def with_variants(document: Any, *variants: Any) -> Any:
    """A result document with these variants."""
    kinds = Counter(entry["variant_kind"] for entry in variants)
    entry = {"count": len(variants), "aweme_list": list(variants), "by_kind": dict(kinds)}
    return {**document, "variants": entry}


def version(number: int, *, score: float, title: str = "Paper Boats, live") -> Any:
    """A video with another performance of the composition, under a music id of its own."""
    video = work(3 * number)  # linked by sound, so with evidence
    document = {name: video[name] for name in video if not name.startswith(("link", "source_cha"))}
    evidence = {
        **video["evidence"],
        "verdict": "rejected",
        "reason": "distances_above_limits",
        "relation": "version",
        "version_score": score,
        "score": 0.1,
    }
    return {
        **document, "aweme_id": f"73950000000000{number:05}", "version_score": score,
        "source_music_title": title, "evidence": evidence,
    }  # fmt: skip


def with_versions(document: Any, *versions: Any) -> Any:
    """A result document with these versions."""
    return {**document, "versions": {"count": len(versions), "aweme_list": list(versions)}}


def _comparison(aweme_id: str, music_id: str) -> Comparison:
    return Comparison(
        comparison_id=f"c{aweme_id}", reference_aweme_id="73500000000000001",
        candidate_aweme_id=aweme_id, reference_music_id=MUSIC_ID, candidate_music_id=music_id,
        pair=PairEvidence(
            verdict="confirmed", reason="whole segment within limits", segment="whole",
            chroma_distance=0.1, mfcc_distance=0.2, overlap_s=12.0, reference_start_s=0.0,
            candidate_start_s=1.5, peak_agreement=0.8, score=0.91, speed=1.0, semitones=0.0,
            searched=SearchedRange(
                speed=(1.0, 1.0), tempo=(1.0, 1.0), semitones=(0.0, 0.0),
                tempo_with_pitch=(1.0, 1.0), min_overlap_s=5.5,
                reference_s=60.0, candidate_s=21.3,
            ),
        ),
        limits=MatchThresholds(), algorithm=ALGORITHM, feature_version="1",
        library_version="numpy 2",
    )  # fmt: skip


def result(count: int, *, ended: bool = False, parameters: ScanParameters | None = None) -> Any:
    """A result document as a worker writes it, with `count` confirmed works."""
    works = [work(number) for number in range(count)]
    track = Track(music_id=MUSIC_ID, surface="music_info", observed_at=NOW, title="Paper Boats")
    return stored_result(
        works,
        music=to_track_document(track),
        candidate_pool_size=count + 10,
        unique_account_count=min(count, 7),
        discovery=_DISCOVERY,
        coverage={
            "sources": [
                {
                    "surface": "music_list", "requests": 3, "pages": 2, "items": 40,
                    "new_items": 40, "stop_reason": "exhausted",
                }
            ],
            "decisions": [
                {
                    "question": "detail", "surface": "slides_info", "tried": 120,
                    "answered": 120, "left_closed": 0, "left_sick": 0, "left_held_back": 0,
                },
                {
                    "question": "detail", "surface": "video_page", "tried": 3, "answered": 0,
                    "left_closed": 0, "left_sick": 2, "left_held_back": 0,
                },
            ],
            "not_reached": ["search:no_title_to_search"],
            "unseen_estimate": None,
            "list_genuine_share": [
                {"music_id": MUSIC_ID, "rows": 40, "own_rows": 38, "audio_rows": 3}
            ],
            "estimates": {
                "music_ids": {
                    "observed": 5, "source_count": 12, "sample_size": 31, "method": "chao1",
                    "point": 7.4, "interval_95": [5, 19], "sample_coverage": 0.9032,
                    "assumption": "screens_show_any_music_id", "reason": None,
                    "note": "About 7.",
                },
                "videos": {
                    "observed": 40, "source_count": 12, "sample_size": 31, "method": None,
                    "point": None, "interval_95": None, "sample_coverage": None,
                    "assumption": None, "reason": "lists_not_read", "note": "Not estimated.",
                },
            },
            "audit": {
                "seed": "job", "pool": 412, "drawn": 20, "compared": 19, "found": 1,
                "upper_bound_share": 0.2178, "upper_bound_count": 89, "confidence": 0.95,
                "reason": None,
                "videos": [
                    {
                        "aweme_id": "73500000000000041", "music_id": MUSIC_ID,
                        "verdict": "confirmed", "reason": "whole", "comparison_id": "pair",
                    }
                ],
                "note": "At most 89.",
            },
        },
        parameters=(parameters or ScanParameters()).to_document(),
        sources_ended_by_exhaustion={"music": ended},
    )  # fmt: skip


def discovery_result() -> Any:
    """Two verified matches, one by sound and one by its own id, and a rejected candidate."""
    heard, own = work(3), work(4)
    matches: list[Any] = [
        {**heard, "association_type": "audio_fingerprint_match"},
        {**own, "association_type": "exact_music_id_discovered"},
    ]
    for rank, match in enumerate(matches, 1):
        reference = (match.get("evidence") or {}).get("reference_aweme_id")
        match |= {"rank": rank, "hot_score": 1, "is_viral": False, "reference_aweme_id": reference}
    candidates = [
        {
            "aweme_id": match["aweme_id"], "desc": match["desc"],
            "title_relation": "names_the_song",
            "music": {"id_str": match["source_music_id"], "title": "Paper Boats", "author": None},
            "verdict": "confirmed", "reason": None, "evidence": match.get("evidence"),
            "association_type": match["association_type"],
        }
        for match in matches
    ]  # fmt: skip
    unheard = dict.fromkeys(("music", "evidence", "association_type"))
    candidates.append({
        "aweme_id": "73500000000000009", "desc": "cover", "title_relation": "none",
        "verdict": "rejected", "reason": "chroma distance above the limit", **unheard,
    })  # fmt: skip
    track = result(1)
    return {
        "kind": "discovery",
        "music_id": MUSIC_ID,
        "music": track["music"],
        "aweme_list": matches,
        "candidates": candidates,
        "reference_works": ["73500000000000001"],
        "layer_counts": {"layer2_text_candidates": 3},
        "coverage": track["coverage"],
        "coverage_complete": False,
        "algorithm": ALGORITHM,
        "confirmed_count": 2,
        "parameters": {},
        "is_demo_data": True,
        "data_provider": PROVIDER,
        "mobile_emulator_used": False,
        "created_at": track["created_at"],
    }
