"""Completed jobs as the job API answers them, invented."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.documents.videos import (
    to_evidence_document,
    to_ranked_document,
    to_track_document,
    to_video_document,
)
from pipelines.parameters.scan import scan_parameters
from pipelines.scan.rules.results import view_result
from tests.stored_results import stored_result
from warehouse.records.evidence import ALGORITHM, Comparison, MatchThresholds, PairEvidence
from warehouse.records.videos import Author, Music, Statistics, Track, Video

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TRACK = Track(
    music_id="7361729694329545668",
    surface="music_info",
    observed_at=NOW,
    title='褪色汽水 <b>remix</b> & "Co"',
    author="A & B",
    duration_s=61,
)


def to_video(index: int, *, desc: str = "一起听这首歌 #音乐") -> Video:
    """Work number `index`, its counts falling."""
    return Video(
        aweme_id=f"73{index:017d}",
        surface="video_detail",
        observed_at=NOW,
        desc=desc,
        create_time=1_760_000_000 + index * 86_400,
        share_url=f"https://video.example/{index}",
        author=Author(sec_uid=f"MS4w{index // 2}", nickname=f"听众{index // 2}"),
        music=Music(music_id=f"74{index // 3:017d}", title="original sound"),
        statistics=Statistics(
            digg_count=900_000 // index, comment_count=9_000 // index,
            collect_count=30_000 // index, share_count=4_000 // index,
        ),
    )  # fmt: skip


def to_comparison(index: int, *, segment: str = "whole") -> Comparison:
    """A pair that passes."""
    pair = PairEvidence(
        verdict="confirmed", reason="whole segment within the limits",
        segment=segment,  # type: ignore[arg-type]  # one of the two words
        chroma_distance=0.06 + 0.01 * index, mfcc_distance=0.12 + 0.02 * index, overlap_s=21.4,
        reference_start_s=0.0, candidate_start_s=1.2, peak_agreement=0.5, score=0.97 - 0.02 * index,
        speed=1.0, semitones=0.0,
    )  # fmt: skip
    return Comparison(
        comparison_id=f"pair-{index}", reference_aweme_id="7300000000000000001",
        candidate_aweme_id=f"73{index:017d}", reference_music_id=TRACK.music_id,
        candidate_music_id=f"74{index:017d}", pair=pair, limits=MatchThresholds(),
        algorithm=ALGORITHM,
        feature_version="f3", library_version="av 19.0.2, numpy 2.5.5",
    )  # fmt: skip


UNUSED: Any = {}
SCAN = "0a3c2f5e-5555-4222-8333-444455556666"


def _variant(desc: str) -> Any:
    """A work at another speed."""
    return to_video_document(to_video(99, desc=desc)) | {
        "variant_kind": "speed", "speed": 1.1, "semitones": 1.65, "source_music_id": "74",
        "source_music_title": "sped up", "source_music_url": None,
        "evidence": to_evidence_document(to_comparison(1)),
    }  # fmt: skip


def build_job(
    *, works: int = 24, desc: str = "一起听这首歌 #音乐", demo: bool = True
) -> dict[str, Any]:
    """A completed job document: every third work rests on listening."""
    ranked = []
    for index in range(1, works + 1):
        heard = index % 3
        ranked.append(
            to_ranked_document(
                to_video(index, desc=desc),
                link_type="exact_music_id"
                if heard
                else ("audio_fingerprint_match" if index % 2 else "verified_music_id_graph"),
                source_music_id=f"74{index // 3:017d}",
                comparison=None if heard else to_comparison(index // 6),
            )
        )
    parameters = scan_parameters({"count": works})
    document = stored_result(
        ranked, music=to_track_document(TRACK), music_id=TRACK.music_id,
        candidate_pool_size=150, unique_account_count=works // 2, discovery=UNUSED,
        coverage={
            "sources": [
                {"surface": "music_info", "requests": 1, "pages": 1, "items": 1, "new_items": 1,
                 "stop_reason": "completed"},
                {"surface": "music_list", "requests": 4, "pages": 4, "items": 61, "new_items": 61,
                 "stop_reason": "exhausted"},
                {"surface": "author_posts", "requests": 40, "pages": 40, "items": 800,
                 "new_items": 512, "stop_reason": "upstream_verification"},
            ],
            "not_reached": ["author_posts:MS4wLjABAAAA1"],
            "unseen_estimate": {
                "method": "chao1", "unit": "music_id", "lower_bound": 12, "observed": 5,
                "met_once": 3, "met_twice": 1, "note": "from two sources",
            },
        },
        parameters=parameters.to_document(), sources_ended_by_exhaustion={"music": True},
        variants={"count": 1, "aweme_list": [_variant(desc)], "by_kind": {"speed": 1}},
        is_demo_data=demo, created_at="2026-11-01T00:00:00Z",
    )  # fmt: skip
    return {
        "job_id": "0a3c2f5e-1111-4222-8333-444455556666", "poll_url": "/x",
        "scan_job_id": SCAN, "status": "completed",
        "input": "7.43 复制打开看看 https://short.example/x ，快来听听！",
        "parameters": parameters.to_document(), "progress": {"requests_used": 287},
        "result": view_result(document, parameters), "error": None,
        "finished_at": "2026-11-01T00:01:00Z", "is_demo_data": demo,
    }  # fmt: skip


@pytest.fixture(name="build_job")
def _build_job() -> Callable[..., dict[str, Any]]:
    return build_job
