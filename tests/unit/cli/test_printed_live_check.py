"""What the command line prints while a live check runs, and of its report."""

import io
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from api.cli.rendering.live_check import LiveCheckProgress, print_live_check
from warehouse.records.health import SurfaceHealth

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def report(**fields: Any) -> dict[str, Any]:
    """A report of a check without a finding."""
    surface = {
        "outcome": "works", "surface": "music_info", "records": 1, "completeness": 0.75,
        "fields": {"title": (1, 1), "author": (0, 1)}, "error_type": None, "reason_words": None,
    }  # fmt: skip
    return {
        "is_demo_data": False, "profile": "sandbox", "surfaces": [surface], "is_spider": False,
        "clock_skew_s": 0.2, "media": {"first_bytes": "", "is_altered": False, "kind": None},
        "hosts": [], "patch": {"is_empty": True, "changes": [], "notes": []}, "exit_code": 0,
        "verdict": "all surfaces work", "took_s": 3.21, "requests": 7, "folder": "checks/1",
        **fields,
    }  # fmt: skip


def on_paper(document: dict[str, Any]) -> str:
    paper = io.StringIO()
    print_live_check(Console(file=paper, width=150), document)
    return paper.getvalue()


def test_a_check_without_a_finding_names_what_is_never_known() -> None:
    text = on_paper(report())
    assert "music_info" in text
    assert "75%" in text
    assert "author" in text
    assert "no patch is proposed" in text
    assert "all surfaces work (3.2 s, 7 requests, exit status 0)" in text
    assert "written to checks/1" in text
    assert "demo data" not in text


def test_what_was_refused_and_what_is_proposed_is_listed() -> None:
    refused = {
        "outcome": "refused", "surface": "user_posts", "records": 0, "completeness": None,
        "fields": {}, "error_type": "upstream_forbidden", "reason_words": "the platform said no",
    }  # fmt: skip
    hosts = [
        {"host": "cdn.example", "kind": "media", "is_permitted": False},
        {"host": "cdn.example", "kind": "media", "is_permitted": False},
        {"host": "known.example", "kind": "page", "is_permitted": True},
    ]
    patch = {"is_empty": False, "changes": ["hosts.media: cdn.example"], "notes": ["is it ours?"]}
    text = on_paper(
        report(surfaces=[refused], hosts=hosts, patch=patch, exit_code=2, is_demo_data=True)
    )
    assert "demo data" in text
    assert "the platform refused the request: the platform said no" in text
    assert text.count("refused media host cdn.example") == 1
    assert "known.example" not in text
    assert "proposed hosts.media: cdn.example" in text
    assert "for you to decide: is it ours?" in text


def settle(console: Console) -> None:
    """Two surfaces, one after the other."""
    listener = LiveCheckProgress(console).listener()
    for name, outcome, requests in (("music_info", "works", 1), ("user_posts", "not_asked", 0)):
        listener.asking(name)
        listener.found(
            SurfaceHealth(
                surface=name, outcome=outcome, observed_at=NOW,  # type: ignore[arg-type]  # of the pairs above
                request_count=requests, duration_ms=1_234, reason=None if requests else "why",
            )
        )  # fmt: skip


def test_each_surface_is_one_line_in_a_pipe() -> None:
    pipe = io.StringIO()
    settle(Console(file=pipe, width=150))
    first, second = pipe.getvalue().splitlines()
    assert first == "✓ works music_info 1,234 ms"
    assert second == "– not asked user_posts why"


def test_a_terminal_also_says_what_is_asked_now() -> None:
    screen = io.StringIO()
    settle(Console(file=screen, width=150, force_terminal=True, color_system=None))
    assert "asking music_info …" in screen.getvalue()
