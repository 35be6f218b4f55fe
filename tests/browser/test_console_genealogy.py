"""The genealogy of music ids in the console: a timeline with lines to copies, and a table."""

import json
from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import HOSTILE, JOB_ID, answer, completed

pytestmark = [pytest.mark.full, pytest.mark.browser]
TRACK = "7410369778457395648"
ROWS: list[dict[str, Any]] = [
    {"music_id": TRACK, "kind": "own_id", "created_at": "2024-09-03T10:59:25Z",
     "evidence": "own_id", "title": HOSTILE[0]},
    {"music_id": "7431909357377270773", "kind": "original_sound",
     "created_at": "2024-10-31T12:03:59Z", "evidence": "audio", "copy_of_music_id": TRACK,
     "copy_evidence": "compared", "title": "@a", "owner_nickname": HOSTILE[2],
     "owner_sec_uid": "MS4wLjABAAAA1", "first_published_at": "2024-10-31T12:03:59Z",
     "first_share_url": "https://vidplat.example/video/1"},
    {"music_id": "7445193760064481632", "kind": "library", "created_at": "2024-12-06T07:14:15Z",
     "evidence": "name", "copy_of_music_id": TRACK, "copy_evidence": "name", "title": "b",
     "first_published_at": "2024-12-06T07:14:15Z", "first_share_url": "javascript:hasRun=true"},
    {"music_id": "1", "kind": None, "created_at": None, "created_at_check": "contradicted",
     "evidence": "audio", "title": None},
]  # fmt: skip
NAMES = (
    "music_id", "title", "kind", "created_at", "created_at_check", "evidence", "copy_of_music_id",
    "copy_evidence", "owner_nickname", "first_aweme_id", "first_published_at",
    "confirmed_video_count", "owner_sec_uid", "first_share_url",
)  # fmt: skip


def genealogy(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = [{"name": name, "kind": "text"} for name in NAMES]
    return {
        "data": {"columns": columns, "rows": [[row.get(name) for name in NAMES] for row in rows]}
    }


def opened(view: ConsolePage, rows: list[dict[str, Any]]) -> list[Any]:
    """Open the tab of a completed job; returns the bodies that it sends for the rows."""
    sent: list[Any] = []
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(1))
    answer(view, "**/sametrack/sql", genealogy(rows))

    def note(request: Request) -> None:
        if request.url.endswith("/sql"):
            sent.append(json.loads(request.post_data or ""))

    view.page.on("request", note)
    view.show(f"#/job/{JOB_ID}?tab=genealogy")
    view.page.wait_for_selector("#panel table, #panel .empty")
    return sent


@pytest.mark.parametrize("locale", ["en-GB", pytest.param("zh-CN", marks=pytest.mark.soak)])
def test_births_are_drawn_with_lines_to_what_they_copy(pages: ConsolePages, locale: str) -> None:
    view = pages.open(locale=locale)
    sent = opened(view, ROWS)
    assert [one["query"] for one in sent] == ["genealogy"]
    drawing = view.page.locator("svg.genealogy")
    expect(drawing.locator("circle")).to_have_count(1)
    expect(drawing.locator("rect")).to_have_count(2)
    expect(drawing.locator("path")).to_have_count(2)
    expect(drawing.locator("path[stroke-dasharray]")).to_have_count(1)
    expect(view.page.locator("#panel tbody tr")).to_have_count(4)
    contradicted = "contradicted" if locale == "en-GB" else "矛盾"
    expect(view.page.locator("#panel tbody tr").last).to_contain_text(contradicted)
    assert view.axe() == []
    assert view.page.evaluate("window.hasRun") is False
    assert (view.faults, view.broken_rules()) == ([], [])


def test_sounds_the_uploader_and_the_first_video_are_links(view: ConsolePage) -> None:
    opened(view, ROWS)
    rows = view.page.locator("#panel tbody tr")
    links = [
        rows.nth(at).locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
        for at in (1, 2)
    ]
    assert links == [
        [
            "#/track/7431909357377270773", f"#/track/{TRACK}", "#/profile?id=MS4wLjABAAAA1",
            "https://vidplat.example/video/1",
        ],
        ["#/track/7445193760064481632", f"#/track/{TRACK}"],
    ]  # fmt: skip
    assert view.faults == []


def test_copies_are_drawn_as_a_tree_that_has_ids_without_a_birth_too(view: ConsolePage) -> None:
    copy_of_a_copy = {
        "music_id": "2", "kind": "original_sound", "created_at": None, "evidence": "audio",
        "copy_of_music_id": ROWS[1]["music_id"], "copy_evidence": "audio", "title": "c",
        "confirmed_video_count": 4,
    }  # fmt: skip
    opened(view, [*ROWS, copy_of_a_copy])
    drawing = view.page.locator("svg.copies")
    expect(drawing.locator("circle, rect")).to_have_count(5)
    expect(drawing.locator("path")).to_have_count(3)
    expect(drawing.locator("path[stroke-dasharray]")).to_have_count(1)
    expect(drawing.locator("text", has_text="c · 4")).to_be_visible()
    lefts = [float(drawing.locator("text").nth(at).get_attribute("x") or 0) for at in range(3)]
    assert lefts == sorted(lefts)  # the track's own id, its copy, the copy of that
    assert view.axe() == []
    assert view.faults == []


def test_a_circle_of_copies_is_drawn_once(view: ConsolePage) -> None:
    circle = [
        {"music_id": "1", "copy_of_music_id": "2", "evidence": "audio", "title": "one"},
        {"music_id": "2", "copy_of_music_id": "1", "evidence": "audio", "title": "two"},
    ]
    opened(view, circle)
    expect(view.page.locator("svg.copies rect")).to_have_count(2)
    assert view.faults == []


def test_a_track_without_music_ids_says_so(view: ConsolePage) -> None:
    opened(view, [])
    expect(view.page.locator("#panel .empty")).to_be_visible()
    assert view.faults == []
