"""`sametrack track`: the page of a track in the terminal."""

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from api.cli.rendering.tracks import print_track, usage_line
from tests.charts.chart_rows import row

pytestmark = pytest.mark.full

TRACK = "7348759830572834348"
MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC)


def point(day: str, count: int) -> dict[str, Any]:
    return {"day": day, "use_count": count}


def test_the_plot_has_one_sign_per_day_and_a_dot_for_a_day_without_a_count() -> None:
    points = [point("2026-11-01", 100), point("2026-11-02", 200), point("2026-11-05", 800)]
    assert usage_line(points) == "▁▂··█"


def test_a_count_that_never_changes_is_a_flat_line() -> None:
    assert usage_line([point("2026-11-01", 5), point("2026-11-02", 5)]) == "▁▁"


def test_the_plot_has_the_last_sixty_days() -> None:
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(90)]
    assert len(usage_line([point(f"{day:%Y-%m-%d}", 5) for day in days])) == 60


def add_counts(small_store: Any) -> None:
    rows = [
        row("raw.tracks", music_id=TRACK, surface="music_info", data_provider="sandbox",
            observed_at=MONDAY + timedelta(days=day), title="Night Flight", author="A-Z",
            use_count=count, use_count_exact=step is None, use_count_step=step)
        for day, count, step in ((0, 998_400, None), (2, 1_002_000, 1000))
    ]  # fmt: skip
    small_store.lake.append("raw.tracks", rows)


def test_the_command_prints_counts_with_their_step_and_the_change(
    small_store: Any, command: Callable[..., Any]
) -> None:
    add_counts(small_store)
    shown = command("track", TRACK)
    text = shown.body.decode()
    assert shown.status == 0
    assert "Night Flight" in text
    assert "1,002,000, rounded to 1,000, 2026-11-04T09:00:00Z; +3,600 since 2026-11-02" in text
    assert "▁·█" in text
    assert "not scanned yet" in text
    page = command("track", TRACK, "--json").document
    assert [entry["use_count"] for entry in page["usage"]["points"]] == [998_400, 1_002_000]


def test_a_link_of_the_track_is_read_like_its_id(
    small_store: Any, command: Callable[..., Any]
) -> None:
    add_counts(small_store)
    link = f"http://share.vidplat.localhost:8790/share/music/{TRACK}"
    assert command("track", link, "--json").document["music_id"] == TRACK


@pytest.mark.parametrize("text", ["1234", "no id", "http://elsewhere.example/x"])
def test_what_names_no_track_is_refused_as_input(
    small_store: Any, command: Callable[..., Any], text: str
) -> None:
    assert command("track", text).status == 2


def test_a_track_of_which_nothing_is_stored_says_what_to_do(
    small_store: Any, command: Callable[..., Any]
) -> None:
    refused = command("track", "7399999999999999999")
    assert refused.status != 0
    assert "Scan it first" in refused.remarks


def page(**changes: Any) -> dict[str, Any]:
    """The page of a track that was scanned twice."""
    creator = {
        "nickname": "阿明", "first_created_at": "2026-10-01T00:00:00Z", "follower_count": None,
        "confirmed_video_count": 2, "digg_count": 50,
    }  # fmt: skip
    scan = {
        "job_id": "first", "previous_job_id": None, "concluded_at": "2026-11-02T09:00:00Z",
        "has_result": True, "confirmed_video_count": 1, "digg_count": 10,
    }  # fmt: skip
    changed = {
        "new_video_count": 3, "gone_video_count": 0, "new_music_id_count": 1,
        "risen_video_count": 0, "fallen_video_count": 2,
    }  # fmt: skip
    second = {**scan, **changed, "job_id": "second", "previous_job_id": "first"}
    return {
        "music_id": TRACK, "title": "[bold]Night[/]", "artist": None, "use_count": None,
        "uncounted_music_id_count": 2, "usage": {"points": []}, "videos": [],
        "account_count": 1, "scans": [second, {**scan, "has_result": False}],
        "first_creators": [creator], "biggest_creators": [],
        "regions": [{"ip_location": "浙江", "account_count": 3},
                    {"ip_location": None, "account_count": 1}],
        "variants": {"by_kind": {"speed": 2}}, **changes,
    }  # fmt: skip


def printed(document: dict[str, Any]) -> str:
    paper = io.StringIO()
    print_track(Console(file=paper, width=150), document)
    return paper.getvalue()


def test_scans_creators_regions_and_variants_are_printed_and_nothing_is_markup() -> None:
    text = printed(page())
    assert "[bold]Night[/]" in text
    assert "not shown yet" in text
    assert "—, and 2 music ids without a count" in text
    assert "3 new, 1 new music id, 2 ranked lower" in text
    assert "first scan" in text
    assert "result deleted" in text
    assert "浙江" in text
    assert "unknown" in text
    assert "changed speed" in text
    assert "Biggest creators" not in text
