"""A followed song of the chart beside the platform: what the card says of what it was told."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import HOSTILE, answer

pytestmark = [pytest.mark.full, pytest.mark.browser]
PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
ENTRY = "2026-03-13"


def link(number: int, relation: str, confidence: str, reason: str, **more: Any) -> dict[str, Any]:
    """A link as the service tells it; its texts are out of the corpus."""
    return {
        "music_id": f"740000000000000000{number}", "via_music_id": None, "relation": relation,
        "confidence": confidence, "reason": reason, "music_title": HOSTILE[number],
        "music_author": HOSTILE[number + 1], "judged_at": "2026-03-20T00:00:00Z", **more,
    }  # fmt: skip


def song(**lead: Any) -> dict[str, Any]:
    """A whole answer about a song that entered on `ENTRY`."""
    envelope = read_example("history")
    points = [
        {
            "observed_at": f"2026-03-{day:02d}T06:00:00Z",
            "work_count": 3,
            "digg_count": likes,
            "growth": {
                "gained": {"digg_count": likes - 10},
                "followed_work_count": 3,
                "new_work_count": 0,
            },
        }
        for day, likes in ((2, 10), (4, 400), (6, 900), (20, 1000))
    ]
    reported = {
        "lead_days": 8.0, "low_days": 6.0, "high_days": 10.0, "direction": "platform_first",
        "reason": None, "work_count": 3, "observation_count": 12, "observed_day_count": 4,
        "rise_after": points[1]["observed_at"], "rise_before": points[2]["observed_at"],
    }  # fmt: skip
    envelope["data"] = {
        "song_key": "hash:aa11", "title": HOSTILE[0], "artist": HOSTILE[2], "said": [],
        "chart": {
            "issue_count": 2, "kept_issue_count": 4, "best_rank": 1, "first_chart_date": ENTRY,
            "entry_after_date": "2026-03-12",
        },
        "links": [
            link(1, "different", "low", "artist_differs"),
            link(2, "same", "high", "confirmed_recording", via_music_id="7400000000000000003"),
            link(3, "same", "high", "title_and_artist"),
            link(4, "possible", "medium", "title_without_addition"),
        ],
        "platform": {"music_ids": [], "points": points},
        "lead": {**reported, **lead}, "is_demo_data": True,
    }  # fmt: skip
    return envelope


def follow(view: ConsolePage, envelope: dict[str, Any]) -> Locator:
    """Read a range of the chart and follow its first song; returns the card beside it."""
    answer(view, "**/top500/history?**", read_example("history"))
    answer(view, "**/chart/songs/*", envelope)
    view.show("#/chart")
    view.page.locator("main form button[type=submit]").click()
    view.page.wait_for_selector("svg.chart polyline")
    view.page.locator("main select").first.select_option(index=1)
    card = view.page.locator(".card", has_text="hash:aa11")
    expect(card.locator("table")).to_be_visible()
    return card


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_a_song_stands_beside_its_curve_with_its_entry_and_the_surest_link_first(
    view: ConsolePage, theme: Any
) -> None:
    view.page.set_viewport_size(PHONE)
    view.page.emulate_media(color_scheme=theme)
    card = follow(view, song())
    assert [row[:19] for row in card.locator("tbody tr").all_inner_texts()] == [
        f"740000000000000000{number}" for number in (3, 2, 4, 1)
    ]
    expect(card.locator("svg .moment")).to_have_count(1)
    expect(card.locator("svg text.label")).to_have_text(f"Entered the chart on {ENTRY}")
    expect(card).to_contain_text("Estimate: the platform is 8.0 days ahead of the chart.")
    expect(card).to_contain_text("platform first")
    assert view.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert view.page.evaluate("window.hasRun") is False
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])


def test_a_lag_is_called_one_and_what_is_not_known_is_not_drawn(
    view: ConsolePage, pages: ConsolePages
) -> None:
    card = follow(view, song(lead_days=-7.0, low_days=-9.0, high_days=-5.0, direction=None))
    expect(card).to_contain_text("Estimate: the platform is 7.0 days behind the chart.")
    expect(card).to_contain_text("negative means behind the chart")
    other = pages.open(locale="zh-CN")
    nothing = {"lead_days": None, "low_days": None, "high_days": None, "direction": None}
    unknown = song(**nothing, reason="entry_not_seen", rise_before=None)
    unknown["data"]["chart"]["entry_after_date"] = None
    card = follow(other, unknown)
    expect(card.locator("svg .moment")).to_have_count(0)
    expect(card).to_contain_text("上榜早于已存期次。")
    expect(card).not_to_contain_text("范围")
    assert (view.faults, other.faults) == ([], [])


def test_a_text_of_a_chart_is_as_large_on_a_phone_as_on_a_desk(view: ConsolePage) -> None:
    heights = []
    for viewport in (PHONE, DESKTOP):
        view.restore()
        view.page.set_viewport_size(viewport)
        card = follow(view, song())
        drawn = card.locator("svg.chart").first
        room = drawn.bounding_box()
        assert room is not None
        # drawn once more as soon as its room is known
        expect(drawn).to_have_attribute("viewBox", re.compile(f"^0 0 {round(room['width'])} "))
        box = card.locator("svg text").first.bounding_box()
        assert box is not None
        heights.append(box["height"])
    assert heights[0] == pytest.approx(heights[1], rel=0.1)


def test_links_are_judged_again_and_a_link_is_set_by_hand(view: ConsolePage) -> None:
    unlinked = song()
    unlinked["data"]["links"] = []
    envelope = read_example("history")
    counts = {"song_count": 62, "issue_count": 12, "lead_count": 0, "row_count": 4}
    judged = envelope | {"data": {**counts, "relations": {"same": 4}, "is_demo_data": True}}
    answer(view, "**/chart/judge", judged)
    answer(view, "**/top500/history?**", envelope)
    answer(view, "**/chart/songs/*", unlinked)
    view.show("#/chart")
    view.page.locator("main form button[type=submit]").click()
    view.page.wait_for_selector("svg.chart polyline")
    view.page.locator("main select").first.select_option(index=1)
    card = view.page.locator(".card", has_text="hash:aa11")
    expect(card).to_contain_text("No music id is linked to this song")
    view.page.unroute("**/chart/songs/*")
    answer(view, "**/chart/songs/*", song())
    card.get_by_role("button", name="Judge links again").click()
    expect(card.locator("tbody tr")).to_have_count(4)
    expect(view.page.locator(".toasts")).to_contain_text(
        "Links of 62 songs judged again: 4 changed."
    )

    card.locator("summary").click()
    same = card.get_by_role("button", name="Same song")
    expect(same).to_be_disabled()
    card.get_by_label("Music id").fill("7400000000000000009")
    answer(view, "**/chart/links", unlinked)
    with view.page.expect_request("**/chart/links") as asked:
        same.click()
    body: Any = asked.value.post_data_json
    key = body.pop("song_key")
    assert (key != "", body) == (True, {"music_id": "7400000000000000009", "said": "same"})
    expect(card).to_contain_text("No music id is linked to this song")
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])
