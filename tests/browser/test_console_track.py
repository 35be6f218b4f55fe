"""The page of a track: what it shows of a scanned one, of an unknown one, and what leads to it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import answer

pytestmark = [pytest.mark.full, pytest.mark.browser]


def is_clean(view: ConsolePage) -> bool:
    assert (view.axe(), view.faults, view.broken_rules()) == ([], [], [])
    return True


@pytest.mark.parametrize(
    "look",
    [{}, {"locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 390, "height": 844}}],
    ids=["english", "chinese-dark-phone"],
)
def test_a_scanned_track_has_its_count_scans_creators_and_regions(
    pages: ConsolePages, track: dict[str, Any], job_id: str, look: dict[str, Any]
) -> None:
    view = pages.open(f"#/track/{track['music_id']}", **look)
    main = view.page.locator("main")
    expect(main.locator(f"a[href='#/job/{job_id}']")).to_be_visible()
    expect(main.locator("svg.chart").first).to_be_visible()
    expect(main.locator("a[href^='#/profile']").first).to_be_visible()
    expect(main.locator(".bars").first).to_be_visible()
    main.locator("details.card summary").first.click()
    expect(main.locator(f"a[href='#/track/{track['music_id']}']")).to_be_visible()
    assert is_clean(view)


def test_a_title_of_a_comparison_leads_to_the_page_of_the_track(
    view: ConsolePage, track: dict[str, Any], job_id: str
) -> None:
    assert job_id
    view.show(f"#/time/track/{track['music_id']}")
    view.page.locator(f"main a[href='#/track/{track['music_id']}']").first.click()
    view.page.wait_for_url(f"**#/track/{track['music_id']}")
    expect(view.page.locator("main h1")).not_to_have_text("Track")


def point(day: int, count: int, step: int | None, previous: int | None) -> dict[str, Any]:
    return {
        "day": f"2026-03-{day:02}", "use_count": count, "use_count_exact": step is None,
        "use_count_step": step, "range": step and [count - step // 2, count + step],
        "use_count_observed_at": f"2026-03-{day:02}T06:00:00Z",
        "previous_date": previous and f"2026-03-{previous:02}", "uses_gained": None,
    }  # fmt: skip


def test_a_rounded_count_is_a_band_and_days_without_a_count_are_a_gap(
    view: ConsolePage, track: dict[str, Any], job_id: str
) -> None:
    assert job_id
    place = f"/api/v1/sametrack/tracks/{track['music_id']}"
    data = view.page.request.get(view.base + place).json()["data"]
    steps = (None, None, None, 1000, 1000, 1000)
    points = [
        point(day, 998_000 + 900 * day, step, None)
        for day, step in zip((1, 2, 3, 20, 21, 22), steps, strict=True)
    ]
    usage = {"points": points, "returned_count": len(points)}
    answer(view, f"**{place}", read_example("history") | {"data": data | {"usage": usage}})
    view.show(f"#/track/{track['music_id']}")
    curve = view.page.locator("svg.chart").first
    expect(curve.locator("polyline")).to_have_count(2)
    expect(curve.locator("polygon")).to_have_count(1)
    expect(view.page.locator("main")).to_contain_text("rounded to 1,000")
    assert is_clean(view)


def test_an_unknown_track_offers_a_scan(view: ConsolePage) -> None:
    view.show("#/track/7399999999999999999")
    expect(view.page.locator("main .empty h2")).to_have_text(
        "Nothing is known about this track yet"
    )
    expect(view.page.get_by_role("button", name="Scan this track")).to_be_enabled()
    assert is_clean(view)
