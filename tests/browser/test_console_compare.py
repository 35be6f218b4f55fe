"""Tracks are compared side by side, from their choice to an address that shows the same."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.deployment import Deployment

pytestmark = [pytest.mark.full, pytest.mark.browser]


@pytest.fixture(scope="module")
def compared(deployment: Deployment, track: dict[str, Any], job_id: str) -> list[str]:
    """The ids of two tracks that were scanned."""
    assert job_id
    other = deployment.world("/_world/tracks")["tracks"][1]["music_id"]
    deployment.ended(deployment.ask(other, music_id=other, candidate_limit=15, verify_audio=False))
    return [track["music_id"], other]


def test_two_tracks_are_chosen_and_compared(view: ConsolePage, compared: list[str]) -> None:
    view.show("#/compare")
    boxes = view.page.locator(".choices input")
    expect(boxes.nth(1)).to_be_visible()  # other tests may have scanned further tracks
    assert view.axe() == []
    for music_id in compared:
        view.page.locator(f".choices input[value='{music_id}']").check()
    expect(view.page.locator("thead th.side-by-side")).to_have_count(2)
    expect(view.page.locator("svg.chart polyline").first).to_be_visible()
    assert sorted(view.page.url.partition("ids=")[2].split("%2C")) == sorted(compared)
    assert is_clean(view)


def test_the_address_holds_the_choice_and_back_undoes_it(
    pages: ConsolePages, compared: list[str]
) -> None:
    view = pages.open(f"#/compare?ids={','.join(compared)}", locale="zh-CN", color_scheme="dark")
    shown = view.page.locator("thead th.side-by-side")
    expect(shown).to_have_count(2)
    view.page.locator("main summary").first.click()
    view.page.locator(".choices input:checked").first.uncheck()
    expect(shown).to_have_count(0)
    view.page.go_back()
    expect(shown).to_have_count(2)
    assert is_clean(view)


def test_a_track_that_was_not_scanned_is_named_and_takes_no_place(
    view: ConsolePage, compared: list[str]
) -> None:
    view.show(f"#/compare?ids={','.join([*compared, '7999999999999999999'])}")
    expect(view.page.locator("thead th.side-by-side")).to_have_count(2)
    main = view.page.locator("main")
    expect(main).to_contain_text("Not scanned here, so not compared: 7999999999999999999")
    expect(main).to_contain_text("2 of at most 6")
    uncounted = main.locator("tbody tr", has_text="Videos without all counts").locator("td")
    assert all(text.isdigit() for text in uncounted.all_inner_texts())
    assert is_clean(view)


def is_clean(view: ConsolePage) -> bool:
    assert view.axe() == []
    assert view.faults == []
    assert view.broken_rules() == []
    return True
