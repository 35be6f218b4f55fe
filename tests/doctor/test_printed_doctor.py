"""What the command line prints while it examines, and of the report."""

import io
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from api.cli.rendering.doctor import DoctorDisplay, print_report

LOOK = {"state": "ok", "name": "disk", "says": "80 GB free", "advice": None}


def surface(name: str = "user_posts", **fields: Any) -> dict[str, Any]:
    return {
        "outcome": "works", "surface": name, "request_count": 1, "duration_ms": 1_234,
        "last_worked_at": None, "label": "posts of an account", "reason_words": None,
        "error_type": None, "http_status": None, "keys_came": [], "keys_went": [],
        "suffering": [], "read_instead": None, "advice": None, **fields,
    }  # fmt: skip


def report(*surfaces: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "is_demo_data": False, "machine": [LOOK], "surfaces": list(surfaces),
        "profile": "sandbox", "circuits": [], "robots": [], "exit_code": 0,
        "verdict": "all is well", "took_s": 1.5, **fields,
    }  # fmt: skip


def on_paper(document: dict[str, Any]) -> str:
    paper = io.StringIO()
    print_report(Console(file=paper, width=170), document)
    return paper.getvalue()


def test_a_machine_without_a_profile_is_told_how_to_choose_one() -> None:
    warned = {**LOOK, "state": "warn", "advice": "delete something"}
    text = on_paper(report(machine=[warned], profile=None, exit_code=1, verdict="choose one"))
    assert "80 GB free" in text
    assert "→ delete something" in text
    assert "PROFILE=sandbox" in text
    assert "choose one (1.5 s, exit status 1)" in text


@pytest.mark.parametrize(
    ("before", "age"),
    [
        (timedelta(seconds=20), "s ago"),
        (timedelta(minutes=5, seconds=30), "5 min ago"),
        (timedelta(hours=3, minutes=30), "3 h ago"),
        (timedelta(days=2, hours=1), "2 d ago"),
        (None, "never"),
    ],
)
def test_a_surface_that_fails_says_when_it_last_worked(before: timedelta | None, age: str) -> None:
    moment = None if before is None else (datetime.now(UTC) - before).isoformat()
    text = on_paper(report(surface(outcome="refused", last_worked_at=moment)))
    assert age in text


def test_a_surface_that_fails_says_why_and_what_it_affects_and_gives_one_advice_once() -> None:
    failing = surface(
        outcome="refused", error_type="upstream_forbidden", http_status=403,
        reason_words="the platform said no", advice="Wait for an hour",
        suffering=[{"number": 3, "short": "posts"}, {"number": 4, "short": "metrics"}],
    )  # fmt: skip
    other = {**failing, "surface": "user_page", "suffering": [], "read_instead": "user_info"}
    text = on_paper(report(failing, other))
    assert "the platform said no" in text
    assert "(upstream_forbidden, HTTP 403)" in text
    assert "affected endpoints: 3 posts, 4 metrics" in text
    assert "no endpoint affected: user_info is used instead" in text
    assert text.count("→ Wait for an hour") == 1


def test_a_surface_that_works_says_what_changed_in_it() -> None:
    came = [f"key{number}" for number in range(8)]
    text = on_paper(report(surface(reason_words="fewer than usual", keys_came=came)))
    assert "now" in text
    assert "1,234 ms" in text
    assert "fewer than usual" in text
    assert "new keys: key0, key1, key2, key3, key4, key5 and 2 more" in text
    assert "missing keys" not in text


def test_a_pause_and_the_rules_of_a_host_are_said() -> None:
    circuit = {"open_until": "2026-01-31T12:00:00Z", "cause": None, "surface": "user_posts",
               "host": "h.example", "failures": 3}  # fmt: skip
    robots = [{"host": "h.example", "decision": word} for word in ("allowed", "refused", "allowed")]
    text = on_paper(
        report(
            surface(request_count=0), circuits=[circuit, {**circuit, "open_until": None}],
            robots=robots, is_demo_data=True,
        )
    )  # fmt: skip
    assert "demo data" in text
    paused = "paused until 2026-01-31T12:00:00Z: user_posts at h.example, after 3 consecutive"
    assert text.count(paused) == 1
    assert "(failures)" in text
    assert "robots.txt of h.example: 2 allowed, 1 refused" in text


def test_a_terminal_shows_what_is_looked_at_now_and_a_pipe_nothing() -> None:
    course = SimpleNamespace(
        findings=[SimpleNamespace(state="ok", name="disk")],
        surfaces={"music_info": SimpleNamespace(outcome="works"), "user_posts": "asking",
                  "search": "waiting"},
    )  # fmt: skip
    screen, pipe = io.StringIO(), io.StringIO()
    terminal = Console(file=screen, width=150, force_terminal=True, color_system=None)
    for console in (terminal, Console(file=pipe, width=150)):
        with DoctorDisplay(course, console) as display:
            display.update()
    assert "✓ disk" in screen.getvalue()
    assert "1 of 3 surfaces, probing user_posts" in screen.getvalue()
    assert pipe.getvalue() == ""
