"""The genuine share of a list: rows that name its music id, and rows that sound like it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from warehouse import open_warehouse
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
TRACK, COPY, OTHER = "7400000000000000001", "7400000000000000002", "7400000000000000003"
type Row = dict[str, Any]


def filled(table: str, **given: Any) -> Row:
    names = {column.name for column in BY_NAME[table].columns}
    return dict.fromkeys(names) | given


def page(lake: Any, music_id: str, day: int, videos: list[str], *, surface: str) -> None:
    """One page of a list, as a capture stores it."""
    at = MONDAY + timedelta(days=day)
    about: Row = {
        "capture_id": f"{surface}-{music_id}-{day}", "surface": surface, "entity_id": music_id,
        "sequence": day + 1, "committed_at": at,
    }  # fmt: skip
    items = [
        filled("raw.capture_items", position=position, aweme_id=video, **about)
        for position, video in enumerate(videos)
    ]
    lake.append("raw.capture_items", items)
    capture = filled(
        "raw.captures", outcome="ok", request_count=1, parser_version="1", data_provider="mock",
        observed_at=at, **about,
    )  # fmt: skip
    lake.append("raw.captures", [capture])


def detail(video: str, music_id: str) -> Row:
    return filled(
        "raw.videos", aweme_id=video, surface="video_page", music_id=music_id, is_exact=True,
        statistics_complete=False, data_provider="mock", observed_at=MONDAY, committed_at=MONDAY,
    )  # fmt: skip


def pair(reference: str, candidate: str, verdict: str) -> Row:
    return filled(
        "marts.audio_comparisons", comparison_id=f"{reference}-{candidate}", job_id="job",
        track_music_id=TRACK, reference_aweme_id=reference, candidate_aweme_id=candidate,
        reference_music_id=TRACK, candidate_music_id=OTHER, verdict=verdict, reason="r",
        limits="{}", algorithm="a", feature_version="f", library_version="l", committed_at=MONDAY,
    )  # fmt: skip


def confirmed(video: str, music_id: str) -> Row:
    return filled(
        "marts.confirmed_videos", music_id=TRACK, aweme_id=video, job_id="job", expansion_round=0,
        link_type="exact_music_id", source_music_id=music_id, algorithm="a", committed_at=MONDAY,
    )  # fmt: skip


def test_rows_are_counted_by_their_name_and_by_what_was_heard(small_store: Any) -> None:
    videos = [detail("1", TRACK), detail("2", TRACK), detail("3", OTHER), detail("4", OTHER)]
    pairs = [
        pair("1", "2", "confirmed"), pair("1", "3", "confirmed"), pair("1", "4", "rejected"),
        pair("1", "5", "not_comparable"), pair("6", "4", "rejected"),
    ]  # fmt: skip
    small_store.lake.append("raw.videos", [*videos, detail("6", COPY)])
    small_store.lake.append("marts.audio_comparisons", pairs)
    small_store.lake.append("marts.confirmed_videos", [confirmed("1", TRACK), confirmed("6", COPY)])
    page(small_store.lake, TRACK, 0, ["1", "2", "3", "4", "5", "1"], surface="music_list")
    page(small_store.lake, TRACK, 1, ["5"], surface="music_list")
    page(small_store.lake, COPY, 1, ["6"], surface="music_list")
    foreign = detail("3", OTHER) | {"surface": "music_list", "capture_id": f"music_list-{COPY}-1"}
    small_store.lake.append("raw.videos", [foreign])  # a row that is no item of the list
    page(small_store.lake, "account", 1, ["1"], surface="user_posts")
    with open_warehouse(small_store.home.root) as wh:
        rows = wh.query("list-shares").rows()
        assert len(wh.query("list-shares", music_id=COPY)) == 1
    assert [tuple(row.values()) for row in rows] == [
        (TRACK, date(2026, 11, 2), 5, 4, 2, 0.5, 4, 3, 0.75, 1),
        (TRACK, date(2026, 11, 3), 1, 0, 0, None, 0, 0, None, 0),
        (COPY, date(2026, 11, 3), 2, 2, 1, 0.5, 1, 1, 1.0, 1),
    ]
