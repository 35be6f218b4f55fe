"""Records as clients read them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.documents.videos import (
    to_evidence_document,
    to_ranked_document,
    to_time,
    to_video_document,
)
from warehouse.lake.record_rows import video_from_row, video_row
from warehouse.queries.results import with_reference_kinds
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence
from warehouse.records.videos import Statistics, Video

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
VIDEO = Video(aweme_id="7300000000000000001", surface="music_list", observed_at=NOW)
COMPARISON = Comparison(
    comparison_id="c1",
    reference_aweme_id="7300000000000000002",
    candidate_aweme_id=VIDEO.aweme_id,
    reference_music_id="7300000000000000003",
    candidate_music_id="7300000000000000004",
    pair=PairEvidence(verdict="confirmed", reason="whole", segment="whole", score=0.9),
    limits=MatchThresholds(),
    algorithm="a",
    feature_version="f",
    library_version="l",
)


def test_fields_missing_in_a_trimmed_video_are_null() -> None:
    document = to_video_document(VIDEO)
    assert document["statistics"] == dict.fromkeys(
        ("digg_count", "comment_count", "collect_count", "share_count")
    )
    for name in (
        "author", "music", "hashtags", "media_type", "is_top", "images_count", "statistics_source",
    ):  # fmt: skip
        assert document[name] is None, name
    assert document["statistics_complete"] is False


def test_a_video_that_is_shown_without_hashtags_has_an_empty_list_of_them() -> None:
    assert to_video_document(replace(VIDEO, hashtags=()))["hashtags"] == []


def test_rounded_counts_are_kept_and_never_complete() -> None:
    counts = Statistics(digg_count=12_000, comment_count=1, collect_count=1, share_count=1)
    video = Video(
        aweme_id="12345", surface="page", observed_at=NOW, statistics=counts, is_exact=False
    )
    document = to_video_document(video)
    assert document["statistics"]["digg_count"] == 12_000
    assert document["statistics_complete"] is False


@pytest.mark.parametrize(
    ("surface", "source"),
    [
        ("video_page", "public_video_detail_page"),
        ("web_video_page", "public_video_detail_page"),
        ("slides_info", "public_video_detail_page"),
        ("music_list", "list"),
        ("user_posts", "list"),
        ("hashtag_page", "list"),
        ("search_stream", "search"),
        ("search_page", "search"),
        ("app_work", "app"),
        ("music_app", "app"),
    ],
)
def test_a_video_names_where_its_counts_come_from(surface: str, source: str) -> None:
    counts = Statistics(digg_count=1)
    video = Video(aweme_id="12345", surface=surface, observed_at=NOW, statistics=counts)
    assert to_video_document(video)["statistics_source"] == source


@pytest.mark.parametrize("provider", ["file", "mock"])
def test_counts_that_are_not_of_the_platform_say_so_before_and_after_they_are_stored(
    provider: str,
) -> None:
    counts = Statistics(digg_count=1, comment_count=1, collect_count=1, share_count=1)
    video = Video(
        aweme_id="12345",
        surface="video_page",
        observed_at=NOW,
        statistics=counts,
        local_source=provider,  # type: ignore[arg-type]  # one of both
    )
    row = video_row(video, capture_id=None, job_id=None, data_provider=provider)
    for read in (video, video_from_row(row)):
        assert to_video_document(read)["statistics_source"] == provider


def test_an_audio_link_carries_its_evidence() -> None:
    document = to_ranked_document(
        VIDEO, link_type="audio_fingerprint_match", source_music_id="1", comparison=COMPARISON
    )
    assert document["evidence"] == to_evidence_document(COMPARISON)
    assert document["evidence"]["limits"]["whole_chroma_distance"] == 0.25


@pytest.mark.parametrize(
    ("link_type", "comparison"),
    [("verified_music_id_graph", None), ("exact_music_id", COMPARISON)],
)
def test_a_link_that_disagrees_with_its_evidence_is_refused(
    link_type: str, comparison: Comparison | None
) -> None:
    with pytest.raises(ValueError, match="disagree"):
        to_ranked_document(
            VIDEO,
            link_type=link_type,  # type: ignore[arg-type]  # parametrized
            source_music_id="1",
            comparison=comparison,
        )


def test_times_are_utc_to_the_second() -> None:
    assert to_time(datetime.fromisoformat("2026-01-31T14:00:00.9+02:00")) == "2026-01-31T12:00:00Z"
    assert to_time(None) is None


def test_a_reference_that_is_a_song_is_no_video() -> None:
    video = to_evidence_document(COMPARISON)
    song = to_evidence_document(replace(COMPARISON, reference_source="music_service"))
    names = ("reference_kind", "reference_aweme_id", "reference_service_track_id")
    reference = COMPARISON.reference_aweme_id
    assert [video[name] for name in names] == ["video", reference, None]  # type: ignore[literal-required]  # all exist
    assert [song[name] for name in names] == ["service_track", None, reference]  # type: ignore[literal-required]  # as above


def test_references_in_results_of_earlier_releases_are_told_apart() -> None:
    def entry(source: str | None) -> dict[str, Any]:
        return {
            "reference_aweme_id": "1",
            "evidence": {"reference_aweme_id": "1", "reference_source": source},
        }

    old = {"aweme_list": [entry("music_service")], "candidates": [entry(None), {"evidence": None}],
           "variants": {"aweme_list": [entry("platform")]}}  # fmt: skip
    read = with_reference_kinds(old)
    song = read["aweme_list"][0]
    assert (song["reference_aweme_id"], song["evidence"]["reference_aweme_id"]) == (None, None)
    assert song["evidence"]["reference_kind"] == "service_track"
    assert song["evidence"]["reference_service_track_id"] == "1"
    for video in (read["candidates"][0], read["variants"]["aweme_list"][0]):
        assert video["evidence"]["reference_kind"] == "video"
        assert video["evidence"]["reference_aweme_id"] == video["reference_aweme_id"] == "1"
    assert with_reference_kinds({"keyword": "a"}) == {"keyword": "a"}
