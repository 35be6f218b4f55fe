"""What is printed of a ranking, and of a chart: its issues, a back-fill with gaps, a song."""

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from api.cli.rendering import chart, reads
from api.cli.terminal import out
from tests.cli.asked_scans import answer_scan
from tests.stored_results import MUSIC_ID
from warehouse.control import open_control


def on_paper(data: dict[str, Any]) -> str:
    paper = io.StringIO()
    reads.print_chart(Console(file=paper, width=150), data)  # type: ignore[arg-type]  # what is read
    return paper.getvalue()


def issue(**fields: Any) -> dict[str, Any]:
    return {"target_date": "2026-01-31", "chart_date": None, "reason": None, **fields}


def test_a_day_without_an_issue_says_why_and_the_others_show_their_songs() -> None:
    song = {"rank": 1, "is_new": True, "previous_rank": None, "title": "Paper Boats",
            "artist": None, "duration": 185}  # fmt: skip
    old = {**song, "rank": 2, "is_new": False, "previous_rank": 1_210, "duration": None}
    snapshots = [
        issue(reason="no_issue_on_this_day"),
        issue(target_date="2026-01-30", chart_date="2026-01-29", volid="7", songs=[song, old]),
    ]
    text = on_paper({"end_date_cut": False, "next_issue_by": None, "snapshots": snapshots})
    assert text.splitlines()[0] == "2026-01-31 no issue on this day"
    assert "2026-01-30 issue 7 of 2026-01-29" in text
    first, second = (line.split() for line in text.splitlines() if "Paper Boats" in line)
    assert first == ["1", "new", "Paper", "Boats", "—", "3:05"]
    assert second == ["2", "1,210", "Paper", "Boats", "—", "—"]


def test_a_range_beyond_the_latest_issue_says_when_the_next_one_comes() -> None:
    cut = {"end_date_cut": True, "latest_chart_date": "2026-01-29", "snapshots": [],
           "next_issue_by": "2026-01-31T12:00:00Z"}  # fmt: skip
    assert on_paper(cut).splitlines() == [
        "the latest issue is dated 2026-01-29",
        "today's issue is released by 2026-01-31T12:00:00Z",
    ]


def test_a_ranking_that_is_stored_is_shown_instead_of_its_job(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox")) as control:
        stored: Any = answer_scan(control, videos=4)["result"]
    paper = io.StringIO()
    reads.print_hot_videos(Console(file=paper, width=150), stored)
    assert "4 confirmed videos of 14 candidates" in paper.getvalue()
    assert "sametrack jobs show" not in paper.getvalue()


def filled(**fields: Any) -> dict[str, Any]:
    return {
        "first_day": "2025-09-24", "last_day": "2026-01-01", "is_cut": False, "ending": "refused",
        "issue_count": 1_210, "known_count": 1, "new_count": 2, "left_count": 1_207,
        "unreleased_count": 0,
        "requests_used": 9, "gaps": [], "undated_count": 0, "refused": [], "error": None, **fields,
    }  # fmt: skip


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that shows all columns."""
    monkeypatch.setattr(out, "_width", 170)


@pytest.mark.usefixtures("wide")
def test_a_back_fill_names_what_it_could_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    gaps = [
        {"first_day": f"2025-10-{day:02}", "last_day": f"2025-10-{day:02}", "day_count": 1}
        for day in range(1, 15)
    ]
    refused = [{"error_type": "upstream_forbidden", "chart_date": "2025-12-01", "volid": "[9]"}]
    fault = {"type": "upstream_rate_limited", "detail": "too many requests"}
    chart.print_backfill(
        filled(gaps=gaps, undated_count=3, unreleased_count=1, refused=refused, error=fault)
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2025-09-24 to 2026-01-01: refused"
    assert lines[1] == ("1,210 issues: 1 already stored, 2 read now, 1,207 left; 9 requests")
    assert lines[2] == "  not released yet: 1 issue"
    assert sum("no issue 2025-10-" in line for line in lines) == 12
    assert lines[-4:] == [
        "  and 2 more gaps; --json lists all",
        "  without a date, so in no range: 3 issues",
        "  issue [9] of 2025-12-01: the platform refused the request",
        "stopped: too many requests",
    ]


@pytest.mark.usefixtures("wide")
def test_a_song_that_nobody_linked_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    positions = {"issue_count": 2, "kept_issue_count": 9, "first_chart_date": "2025-12-01",
                 "last_chart_date": "2025-12-02", "best_rank": 3,
                 "entry_after_date": None}  # fmt: skip
    lead = {"observation_count": 0, "work_count": 0, "observed_day_count": 0, "low_days": None,
            "high_days": 2.5, "lead_days": None, "reason": "no_link"}  # fmt: skip
    chart.print_song({"chart": positions, "lead": lead, "title": "Paper Boats", "artist": None,
                      "song_key": f"id:{MUSIC_ID}", "links": []})  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        f"Paper Boats —  id:{MUSIC_ID}",
        (
            "on 2 of 9 stored issues, 2025-12-01 to 2025-12-02, best position 3; entry before the "
            "first stored issue"
        ),
        "no music id is linked",
        (
            "no lead estimated (no link); bounds unknown to +2.5 days; 0 observations of 0 videos "
            "on 0 days"
        ),
    ]
    chart.print_link_decisions({"links": []})
    assert capsys.readouterr().out == "no link decisions yet\n"
