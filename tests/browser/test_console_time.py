"""Curves over time are read by keys, a larger search is marked, Back undoes a filter."""

from typing import Any

import pytest
from playwright.sync_api import expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import JOB_ID, answer, completed

pytestmark = [pytest.mark.full, pytest.mark.browser]
TRACK = "7400000000000000001"
COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")


READS = ((1, 3, 300, 0, 3), (2, 7, 14_410, 6, 4), (3, 7, 14_420, 16, 0))
"""Day, videos, likes, likes gained, videos newly found."""


def series() -> dict[str, Any]:
    """A track that was read on three days; the second scan found four videos more."""
    points = [
        {
            "observed_at": f"2026-03-0{day}T06:00:00Z", "surface": None, "work_count": videos,
            **dict.fromkeys(COUNTS, likes), "is_exact": True, "ranges": None,
            "job_ids": [JOB_ID] if day < 3 else [],
            "growth": {
                "gained": dict.fromkeys(COUNTS, gained), "followed_work_count": 3,
                "new_work_count": found,
            },
        }
        for day, videos, likes, gained, found in READS
    ]  # fmt: skip
    data = {
        "kind": "track", "id": TRACK, "name": "Paper Boats", "measures": ["work_count", *COUNTS],
        "points": points, "returned_count": len(points), "is_demo_data": True,
    }  # fmt: skip
    return read_example("history") | {"data": data}


@pytest.mark.parametrize(
    "look", [{}, pytest.param({"locale": "zh-CN", "color_scheme": "dark"}, marks=pytest.mark.soak)]
)
def test_a_larger_scan_is_marked_and_each_point_leads_to_its_scan(
    pages: ConsolePages, look: dict[str, Any]
) -> None:
    view = pages.open("#/time", **look)
    answer(view, f"**/series/track/{TRACK}", series())
    view.show(f"#/time/track/{TRACK}")
    charts = view.page.locator("svg.chart[role=slider]")
    expect(charts).to_have_count(5)
    expect(charts.nth(1).locator(".step")).to_have_count(1)
    charts.nth(1).focus()
    view.page.keyboard.press("ArrowLeft")
    expect(charts.nth(1)).to_have_attribute("aria-valuenow", "3")
    view.page.keyboard.press("ArrowLeft")
    expect(view.page.locator(".reading", has_text="6")).to_have_count(1)
    expect(view.page.locator(f"tbody a[href='#/job/{JOB_ID}']")).to_have_count(2)
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])


def test_the_bare_page_shows_nothing_of_the_series_before(view: ConsolePage) -> None:
    answer(view, f"**/series/track/{TRACK}", series())
    view.show(f"#/time/track/{TRACK}")
    view.page.wait_for_selector("svg.chart[role=slider]")
    view.show("#/time")
    expect(view.page.locator("main .empty")).to_have_count(1)
    expect(view.page.locator("svg.chart[role=slider]")).to_have_count(0)


def test_back_undoes_a_filter_of_the_ranking(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(40))
    view.show(f"#/job/{JOB_ID}")
    filters = view.page.get_by_role("button", name="Filters")
    filters.click()
    chosen = view.page.locator("#panel .sheet select").first
    # A person cannot go back before the console has heard of the new address.
    view.page.evaluate(
        "addEventListener('hashchange', () => { window.isHeard = true }, {once: true})"
    )
    chosen.select_option("audio_fingerprint_match")
    view.page.wait_for_url("**link=audio_fingerprint_match**")
    view.wait_until("window.isHeard")
    view.page.go_back()
    expect(chosen).to_have_value("")
    assert view.faults == []


def test_a_term_is_explained_where_it_stands(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(3))
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_text("Technical", exact=True).click()
    view.page.get_by_role("button", name="What is this? Variant").click()
    shown = view.page.locator(".term-text:popover-open")
    expect(shown).to_contain_text("sped up, slowed down or pitched")
    assert view.axe() == []
    view.page.keyboard.press("Escape")
    expect(shown).to_have_count(0)


def test_an_estimate_is_drawn_with_its_interval(view: ConsolePage) -> None:
    envelope = completed(3)
    one = {
        "observed": 3, "listed": 0, "source_count": 4, "sample_size": 9, "method": "chao1",
        "point": 5.0, "interval_95": [4, 9], "sample_coverage": 0.8, "assumption": None,
        "reason": None, "note": "",
    }  # fmt: skip
    unknown = one | {"point": None, "interval_95": None, "reason": "no_sample"}
    envelope["data"]["result"]["coverage"]["estimates"] = {"music_ids": one, "videos": unknown}
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}?tab=coverage")
    drawn = view.page.locator("#panel figure svg")
    expect(drawn).to_have_count(1)  # what is not known is not drawn
    assert "3 found (bar), 5 (4 to 9) estimated" in (drawn.get_attribute("aria-label") or "")
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])


def test_a_random_audit_is_told_with_its_limit_and_its_confidence(view: ConsolePage) -> None:
    envelope = completed(3)
    envelope["data"]["result"]["coverage"]["audit"] = {
        "seed": JOB_ID, "pool": 412, "drawn": 20, "compared": 19, "found": 0,
        "upper_bound_share": 0.1424, "upper_bound_count": 58, "confidence": 0.95, "reason": None,
        "videos": [], "note": "",
    }  # fmt: skip
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}?tab=coverage")
    expect(view.page.locator("#panel")).to_contain_text(
        "Among 412 videos seen and not chosen as candidates, at most 14.2 % of the comparable ones "
        "(58) carry the recording (95 % confidence, 20 drawn, 19 compared, 0 found)."
    )


def test_a_dark_page_is_printed_in_light_colours(view: ConsolePage) -> None:
    view.page.emulate_media(color_scheme="dark")
    root = view.page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    view.page.emulate_media(media="print")
    expect(root).to_have_attribute("data-theme", "light")
    view.page.emulate_media(media="screen")
    expect(root).to_have_attribute("data-theme", "dark")
    assert root.get_attribute("data-theme") == "dark"
