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
            link(3, "same", "high", "title_and_artist"),
            link(2, "same", "high", "confirmed_recording", via_music_id="7400000000000000003"),
            link(4, "possible", "medium", "title_without_addition"),
            link(1, "different", "low", "artist_differs"),
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
def test_a_song_stands_beside_its_curve_with_its_entry_and_its_links(
    view: ConsolePage, theme: Any
) -> None:
    view.page.set_viewport_size(PHONE)
    view.page.emulate_media(color_scheme=theme)
    card = follow(view, song())
    titles = card.locator("tbody td.cell-title a[href^='#/track/']")
    assert titles.evaluate_all("links => links.map((link) => link.getAttribute('href'))") == [
        f"#/track/740000000000000000{number}" for number in (3, 2, 4, 1)
    ]
    expect(card.locator("svg .moment")).to_have_count(1)
    expect(card.locator("svg text.label")).to_have_text(f"Entered the chart on {ENTRY}")
    expect(card).to_contain_text(
        "The platform was first: an estimated 8.0 days before the chart. By 6.0 to 10.0 days."
    )
    expect(card).to_contain_text("between 4 Mar 2026, 06:00 UTC and 6 Mar 2026, 06:00 UTC")
    assert view.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert view.page.evaluate("window.hasRun") is False
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])


@pytest.mark.parametrize(
    ("lead", "sentences"),
    [
        (
            {"lead_days": -7.0, "low_days": -9.0, "high_days": -5.0, "direction": "chart_first"},
            ("The chart was first: the platform followed an estimated 7.0 days later. "
            "By 5.0 to 9.0 days."),
        ),
        (
            {"lead_days": 1.5, "low_days": -1.0, "high_days": 4.0, "direction": "undecided"},
            ("Which was first is undecided: the platform was between 1.0 days behind and 4.0 days "
            "ahead of the chart."),
        ),
        (
            {"lead_days": None, "low_days": 2.0, "high_days": None, "direction": "platform_first",
             "reason": "publication_unknown"},
            ("The platform was first. By at least 2.0 days. The number of days is not estimated: "
            "the publication time of its videos is unknown."),
        ),
        (
            {"lead_days": None, "low_days": None, "high_days": 9.0, "direction": None,
             "reason": "entry_not_seen"},
            "No lead or lag is estimated: its entry is before the first stored issue.",
        ),
    ],
    ids=["chart first", "undecided", "no estimate", "no order"],
)  # fmt: skip
def test_the_order_is_said_once_and_no_sentence_contradicts_it(
    view: ConsolePage, lead: dict[str, Any], sentences: str
) -> None:
    card = follow(view, song(**lead))
    expect(card.get_by_text(sentences, exact=True)).to_be_visible()


def test_what_is_not_known_is_not_drawn(pages: ConsolePages) -> None:
    other = pages.open(locale="zh-CN")
    nothing = {"lead_days": None, "low_days": None, "high_days": None, "direction": None}
    unknown = song(**nothing, reason="entry_not_seen", rise_before=None)
    unknown["data"]["chart"]["entry_after_date"] = None
    card = follow(other, unknown)
    expect(card.locator("svg .moment")).to_have_count(0)
    expect(card).to_contain_text("上榜早于已存期次。")
    expect(card).not_to_contain_text("相差")
    assert other.faults == []


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


def test_scanned_songs_of_an_issue_lead_to_their_results(view: ConsolePage) -> None:
    envelope = read_example("history")
    first, second = envelope["data"]["snapshots"][-1]["songs"][:2]
    track = {
        "music_id": "7400000000000000001", "confidence": "high", "reason": "title_and_artist",
        "title": "a", "artist": "b", "last_result_at": "2026-03-20T00:00:00Z",
    }  # fmt: skip
    tracks = [
        {**track, "song_key": first["song_key"], "relation": "same", "newest_job_id": "job-1"},
        {**track, "song_key": first["song_key"], "relation": "possible", "newest_job_id": "job-2"},
        {**track, "song_key": second["song_key"], "relation": "possible", "newest_job_id": "job-3"},
    ]
    answer(view, "**/top500/history?**", envelope)
    scanned = {"tracks": tracks, "returned_count": 3, "is_demo_data": True}
    answer(view, "**/chart/tracks", envelope | {"data": scanned})
    view.show("#/chart?start=2026-01-01&end=2026-01-20")
    rows = view.page.locator("main tbody tr")
    expect(rows.nth(0).get_by_role("link", name="Result")).to_have_attribute("href", "#/job/job-1")
    expect(rows.nth(0).get_by_role("link", name=first["title"])).to_have_attribute(
        "href", f"#/track/{track['music_id']}"
    )
    expect(rows.nth(0)).not_to_contain_text("possible")
    expect(rows.nth(1).get_by_role("link", name="Result")).to_have_attribute("href", "#/job/job-3")
    expect(rows.nth(1)).to_contain_text("possible")
    expect(rows.nth(2).get_by_role("link")).to_have_count(0)
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])


def test_plot_and_table_name_the_same_days_and_every_coloured_line_has_a_name(
    view: ConsolePage,
) -> None:
    envelope = read_example("history")
    answer(view, "**/top500/history?**", envelope)
    view.show("#/chart?start=2026-01-01&end=2026-01-20")
    plot = view.page.locator("svg.chart").first
    expect(plot).to_be_visible()
    days = [snapshot["chart_date"] for snapshot in envelope["data"]["snapshots"]]
    options = view.page.get_by_label("Date", exact=True).locator("option").all_text_contents()
    assert options == days
    assert {day[2:] for day in days} & {*plot.locator("text").all_text_contents()}
    assert "Days are those of the chart (UTC+8)" in view.page.locator("main").inner_text()
    coloured = plot.locator("g.song:not([opacity='0.3'])")
    assert coloured.count() > 0
    assert coloured.locator("text.label").count() == coloured.count()


def test_a_link_is_set_by_hand(view: ConsolePage) -> None:
    unlinked = song()
    unlinked["data"]["links"] = []
    card = follow(view, song())
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
