"""What the command line prints of watchlists, their runs and a digest."""

import io
from typing import Any

import pytest
from rich.console import Console

from api.cli.rendering import watchlists
from api.cli.rendering.watchlists import print_digest, print_lists, print_runs

MUSIC_ID = "7300000000000000001"
NO_CHANGES: dict[str, Any] = {
    "figures": [], "new_music_ids": [], "fast_works": [], "rank_changes": [], "new_works": [],
    "vanished_works": [], "since": "2026-01-30T12:00:00Z",
}  # fmt: skip


def on_paper(printed: Any, document: Any) -> str:
    paper = io.StringIO()
    printed(Console(file=paper, width=150), document)
    return paper.getvalue()


def entry(**fields: Any) -> dict[str, Any]:
    given = {"title": None, "input": MUSIC_ID, "kind": "track", "subject": None, "error": None}
    return {**given, "changes": NO_CHANGES, **fields}


def digest(*entries: dict[str, Any], is_demo_data: bool = False) -> dict[str, Any]:
    return {
        "is_demo_data": is_demo_data, "watchlist": "songs", "due_at": "2026-01-31T12:00:00Z",
        "change_count": 5, "failed_count": 1, "entries": list(entries),
        "files": {"html": "digest.html"},
    }  # fmt: skip


def test_a_list_that_never_ran_and_a_paused_one_are_told_apart() -> None:
    lists = [
        {"name": "songs", "every": "daily", "entries": [1, 2], "next_due_at": "2026-02-01",
         "last_run": {"status": "failed", "due_at": "2026-01-31"}},
        {"name": "people", "every": "hourly", "entries": [], "next_due_at": None,
         "last_run": None},
    ]  # fmt: skip
    first, second = on_paper(
        print_lists, {"is_demo_data": False, "watchlists": lists}
    ).splitlines()[-3:-1]
    assert first.split() == ["songs", "daily", "2", "2026-02-01", "failed", "2026-01-31"]
    assert second.split() == ["people", "hourly", "0", "paused", "—"]


def test_a_run_shows_unknown_counts_as_unknown() -> None:
    runs = [
        {"run_id": "r1", "due_at": "2026-01-31", "status": "completed", "change_count": 1200,
         "missed_count": 0, "outcome": None},
        {"run_id": "r2", "due_at": "2026-01-30", "status": "skipped", "change_count": None,
         "missed_count": None, "outcome": "a later run took its place"},
    ]  # fmt: skip
    text = on_paper(print_runs, {"is_demo_data": False, "runs": runs})
    assert "1,200" in text
    assert text.splitlines()[-2].split()[:5] == ["r2", "2026-01-30", "skipped", "—", "—"]
    assert "a later run took its place" in text


def test_a_digest_says_each_change_in_its_words() -> None:
    changes = {
        **NO_CHANGES,
        "figures": [
            {"name": "videos", "after": 1210, "change": 10},
            {"name": "accounts", "after": 7, "change": None},
        ],
        "new_music_ids": [{"music_id": "74", "work_count": 3}],
        "fast_works": [{"aweme_id": "75", "velocity": 1234.5, "title": "fast one"}],
        "rank_changes": [{"aweme_id": "76", "before": 9, "after": 2, "title": None}],
        "new_works": [{"aweme_id": "77", "title": "new one", "reason": None}],
        "vanished_works": [
            {"aweme_id": "78", "title": "gone", "reason": "deleted"},
            {"aweme_id": "79", "title": "lost", "reason": None},
        ],
    }
    text = on_paper(print_digest, digest(entry(title="Paper Boats", changes=changes)))
    assert "5 changes · 1 failed" in text
    for words in (
        "videos 1,210 (+10)  accounts 7\n", "74 3 videos", "75 +1,234 a day · fast one",
        "76 9 → 2 · —", "77 new one", "78 gone · deleted", "79 lost · not visible in this run",
    ):  # fmt: skip
        assert words in text
    assert "first run" not in text


def test_an_entry_that_failed_and_a_first_run_say_so() -> None:
    error = {"type": "upstream_forbidden", "detail": "refused"}
    first = {**NO_CHANGES, "since": None}
    text = on_paper(print_digest, digest(entry(error=error), entry(changes=first)))
    assert "failed: refused" in text
    assert "first run: nothing to compare with" in text


def test_demo_data_is_marked_beside_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = io.StringIO()
    monkeypatch.setattr(watchlists, "err", Console(file=beside, width=150))
    on_paper(print_digest, digest(is_demo_data=True))
    assert "demo data" in beside.getvalue()
