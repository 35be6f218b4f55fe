"""What the command line prints of profiles, lists, batches and discoveries."""

import io
from collections.abc import Callable
from typing import Any

from rich.console import Console

from api.cli.rendering import reads

MUSIC_ID = "7300000000000000001"


def on_paper(printed: Callable[[Console, Any], None], data: Any) -> str:
    paper = io.StringIO()
    printed(Console(file=paper, width=150), data)
    return paper.getvalue()


def video(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "aweme_id": f"735000000000000{number:02}", "desc": f"video {number}",
        "author": {"nickname": "阿明"}, "create_time": 1_700_000_000,
        "statistics": {"digg_count": 12_000, "comment_count": None, "collect_count": 3,
                       "share_count": 4},
        **fields,
    }  # fmt: skip


def metrics(**fields: Any) -> dict[str, Any]:
    return {
        "nickname": None, "days": 30, "follower_count": 1_000, "total_favorited": None,
        "analyzed_count": 2, "average_digg_count": 1_234.5, "median_digg_count": None,
        "window_start": "2026-01-01", "window_end": "2026-01-31", "statistics_complete": True,
        "top_video": None, **fields,
    }  # fmt: skip


def test_metrics_say_whether_all_counts_are_known() -> None:
    text = on_paper(reads.print_metrics, metrics())
    assert "— last 30 days" in text
    assert "1,234.5" in text
    assert "all counts known" in text
    assert "Most liked post" not in text
    text = on_paper(reads.print_metrics, metrics(statistics_complete=False, top_video=video(1)))
    assert "some counts are missing" in text
    assert "video 1" in text


def test_an_unknown_count_is_a_dash_and_no_zero() -> None:
    text = on_paper(reads.print_videos, [video(1, desc=None, author=None)])
    cells = next(line for line in text.splitlines() if "12,000" in line).split()
    assert cells[:6] == ["—", "—", "12,000", "—", "3", "4"]


def test_a_page_says_how_to_get_the_next_one() -> None:
    page = {"aweme_list": [video(1)], "public_observed_union_count": 40,
            "observation_history": {"snapshot_count": 2}, "has_more": True}  # fmt: skip
    text = on_paper(reads.print_page, {**page, "max_cursor": 17})
    assert "1 shown of 40 observed in 2 reads; the platform may have more" in text
    assert "next page: --max-cursor 17" in text
    assert "next page: --cursor 9" in on_paper(reads.print_page, {**page, "cursor": 9})
    assert "next page" not in on_paper(
        reads.print_page, {**page, "has_more": False, "cursor": None}
    )


def test_a_missing_video_says_why() -> None:
    missing = [
        {"aweme_id": "1", "reason": "deleted", "detail_msg": None, "notice": "gone"},
        {"aweme_id": "2", "reason": "private", "detail_msg": None, "notice": None},
    ]
    text = on_paper(reads.print_videos_by_id, {"aweme_list": [], "filter_list": missing})
    assert text.splitlines() == ["  • 1: deleted gone", "  • 2: private"]
    text = on_paper(reads.print_videos_by_id, {"aweme_list": [video(1)], "filter_list": []})
    assert "video 1" in text


def test_a_ranking_that_is_not_made_yet_names_its_job() -> None:
    text = on_paper(reads.print_hot_videos, {"job_id": "j-1", "status": "queued"})
    assert text.splitlines() == ["job j-1 queued", "show the result with: sametrack jobs show j-1"]


def test_a_batch_tells_jobs_from_refusals_and_what_was_left_out() -> None:
    items = [
        {"label": None, "input": MUSIC_ID, "status": "completed", "ok": True, "job_id": "j-1",
         "result": {"confirmed_count": 1_210}, "error": None},
        {"label": "my song", "input": "x", "status": None, "ok": False, "job_id": None,
         "result": None, "error": {"type": "invalid_music_input", "detail": "no link"}},
        {"label": None, "input": "y", "status": None, "ok": True, "job_id": "j-2",
         "result": None, "error": None},
    ]  # fmt: skip
    lists = [
        {"kind": "album", "title": None, "input": "link", "taken_count": 2, "song_count": 3,
         "left_out_count": 1},
        {"kind": "chart", "title": "Top", "input": "link", "taken_count": 3, "song_count": 3,
         "left_out_count": 0},
    ]  # fmt: skip
    text = on_paper(reads.print_batch, {"items": items, "lists": lists})
    assert "1,210" in text
    assert "rejected" in text
    assert "no link" in text
    assert "album link: 2 of 3 songs, 1 left out" in text
    assert text.splitlines()[-1] == "chart Top: 3 of 3 songs"


def test_a_discovery_says_what_became_of_every_candidate() -> None:
    candidates = [
        {"aweme_id": "1", "association_type": "exact_music_id_discovered", "verdict": "confirmed",
         "reason": None},
        {"aweme_id": "2", "association_type": None, "verdict": "rejected", "reason": "too far"},
        {"aweme_id": "3", "association_type": None, "verdict": "pooled", "reason": None},
    ]  # fmt: skip
    coverage: dict[str, Any] = {"sources": [], "not_reached": [], "unseen_estimate": None}
    data = {"aweme_list": [video(1)], "candidates": candidates, "music": {"title": None},
            "music_id": MUSIC_ID, "coverage": coverage}  # fmt: skip
    text = on_paper(reads.print_related_videos, data)
    assert MUSIC_ID in text
    assert "1 verified of 3 candidates" in text
    assert "• 2 rejected: too far" in text
    assert "• 3 pooled" in text
    assert "• 1" not in text
