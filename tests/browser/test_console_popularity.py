"""Who made a track popular: videos over time with the followers of their creators and the likes."""

import json
from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import HOSTILE, JOB_ID, answer, completed

pytestmark = [pytest.mark.full, pytest.mark.browser]
NAMES = (
    "published_at", "published_at_source", "sec_uid", "nickname", "follower_count", "aweme_id",
    "desc", "share_url", "likes", "likes_rank", "likes_share", "share_until_then", "all_likes",
)  # fmt: skip
ROWS = [
    ("2026-01-02T10:00:00Z", "stated", "MS4wLjABAAAA1", "first", 120, "71", "a", "javascript:x",
     100, 2, 0.1, 0.1, 1000),
    ("2026-02-02T10:00:00Z", "id", "MS4wLjABAAAA2", "big", 5_000_000, "72", HOSTILE[0],
     "https://vidplat.example/video/72", 900, 1, 0.9, 1.0, 1000),
    (None, None, None, None, None, "73", None, None, None, 3, None, 1.0, 1000),
]  # fmt: skip


def opened(view: ConsolePage, rows: list[tuple[Any, ...]]) -> list[Any]:
    """Open the tab of a completed job; returns the bodies that it sends for the rows."""
    sent: list[Any] = []
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(1))
    columns = [{"name": name, "kind": "text"} for name in NAMES]
    answer(view, "**/sametrack/sql", {"data": {"columns": columns, "rows": rows}})

    def note(request: Request) -> None:
        if request.url.endswith("/sql"):
            sent.append(json.loads(request.post_data or ""))

    view.page.on("request", note)
    view.show(f"#/job/{JOB_ID}?tab=popularity")
    view.page.wait_for_selector("#panel table, #panel .cards, #panel .empty")
    return sent


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_videos_are_drawn_over_time_and_listed_with_their_shares(
    pages: ConsolePages, locale: str
) -> None:
    view = pages.open(locale=locale)
    sent = opened(view, ROWS)
    assert [(one["query"], one["parameters"]["job_id"]) for one in sent] == [("popularity", JOB_ID)]
    drawing = view.page.locator("#panel svg.chart")
    expect(drawing.locator("circle")).to_have_count(2)
    expect(drawing.locator("text.label")).to_have_text(["big", "first"])
    small, large = sorted(
        float(drawing.locator("circle").nth(at).get_attribute("r") or 0) for at in range(2)
    )
    assert large > 3 * small
    rows = view.page.locator("#panel tbody tr.data")
    expect(rows).to_have_count(3)
    expect(rows.nth(1).locator("td")).to_contain_text(["≈", "big", "5,000,000", "", "900", "90.0%"])
    expect(rows.nth(2).locator("td.num")).to_have_text(["—", "—", "—", "100.0%"])
    assert view.page.evaluate("window.hasRun") is False
    assert view.axe() == []
    assert (view.faults, view.broken_rules()) == ([], [])


def test_the_videos_are_sorted_by_any_column_with_what_is_unknown_last(view: ConsolePage) -> None:
    opened(view, ROWS)
    heads = view.page.locator("#panel thead th")
    assert heads.get_by_role("button").count() == heads.count() == 7
    likes = view.page.locator("#panel tbody tr.data td:nth-child(5)")
    head = heads.nth(4)
    head.get_by_role("button").click()
    expect(likes).to_have_text(["900", "100", "—"])
    head.get_by_role("button").click()
    expect(likes).to_have_text(["100", "900", "—"])
    assert "order=likes" in view.page.url
    view.page.go_back()
    expect(head).to_have_attribute("aria-sort", "descending")


def test_the_first_and_the_biggest_creator_lead_to_their_profiles_and_videos(
    view: ConsolePage,
) -> None:
    opened(view, ROWS)
    figures = view.page.locator("#panel .figures dd")
    expect(figures.first.locator("a")).to_have_attribute("href", "#/profile?id=MS4wLjABAAAA1")
    expect(figures.last).to_contain_text("900 likes, 90.0% of 1,000")
    expect(figures.last.locator("a")).to_have_attribute("href", "#/profile?id=MS4wLjABAAAA2")
    links = view.page.locator("#panel tbody a[target]")
    expect(links).to_have_count(1)  # an address that is no link stays text
    expect(links).to_have_attribute("href", "https://vidplat.example/video/72")
    assert view.faults == []


def test_a_phone_shows_the_videos_as_cards(pages: ConsolePages) -> None:
    view = pages.open(viewport={"width": 390, "height": 844}, color_scheme="dark")
    opened(view, ROWS)
    expect(view.page.locator("#panel .cards li.data")).to_have_count(3)
    assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert view.axe() == []
    assert view.faults == []


def test_a_scan_without_confirmed_videos_says_so(view: ConsolePage) -> None:
    opened(view, [])
    expect(view.page.locator("#panel .empty")).to_be_visible()
    assert view.faults == []
