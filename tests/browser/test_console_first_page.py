"""The first page explains a scan and starts an example; tables save what they show."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import settle

pytestmark = [pytest.mark.full, pytest.mark.browser]


@pytest.fixture
def newcomer(pages: ConsolePages, track: dict[str, Any]) -> Callable[..., ConsolePage]:
    """Somebody for whom there is no scan yet; the platform of `track` is up."""
    assert track

    def come(**look: Any) -> ConsolePage:
        view = pages.open("#/reference", **look)
        nothing = {"data": {"jobs": [], "tracks": {}, "returned_count": 0}}
        view.page.route("**/sametrack/jobs?*", lambda route: route.fulfill(json=nothing))
        view.show("#/hot")
        return view

    return come


@pytest.mark.parametrize(
    "look", [{}, pytest.param({"locale": "zh-CN", "color_scheme": "dark"}, marks=pytest.mark.soak)]
)
def test_a_newcomer_sees_what_happens_and_starts_an_example(
    newcomer: Callable[..., ConsolePage], look: dict[str, Any]
) -> None:
    view = newcomer(**look)
    expect(view.page.locator(".intro svg")).to_have_count(3)
    assert view.axe() == []
    view.page.locator(".card", has=view.page.locator(".intro")).locator("button").click()
    view.page.wait_for_selector("[role=tabpanel], .progress")
    assert "#/job/" in view.page.url
    assert (view.faults, view.broken_rules()) == ([], [])


def test_a_filtered_ranking_saves_the_rows_it_shows(
    view: ConsolePage, job_id: str, tmp_path: Path
) -> None:
    view.show(f"#/job/{job_id}?link=exact_music_id")
    view.page.wait_for_selector("#panel tr.data")
    ranks = shown_ranks(view.page)
    rows = view.page.locator("#panel .row.apart button", has_text="shown")
    with view.page.expect_download() as saved:
        rows.click()
    saved.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("rank,aweme_id,desc")
    assert [line.partition(",")[0] for line in lines[1:]] == ranks
    assert [line.rpartition(",")[2] for line in lines] == ["is_demo_data"] + ["True"] * len(ranks)


def test_filtered_comparisons_save_the_rows_they_show(
    view: ConsolePage, job_id: str, tmp_path: Path
) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=rejected")
    shown = view.page.locator("#panel tr.data a[href^='#/evidence']")
    shown.first.wait_for()
    places = shown.evaluate_all("all => all.map((one) => one.hash)")
    with view.page.expect_download() as saved:
        view.page.locator("#panel .row.apart button", has_text="shown").click()
    saved.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("comparison_id,verdict,reason")
    saved_places = [f"#/evidence/{line.partition(',')[0]}" for line in lines[1:]]
    assert saved_places[: len(places)] == places  # the table draws the rows in sight alone
    assert {line.split(",")[1] for line in lines[1:]} == {"rejected"}


def test_a_rejected_pair_is_heard_on_demand(view: ConsolePage, job_id: str) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=rejected")
    view.page.locator("#panel tr.data a[href^='#/evidence']").last.click()
    read = view.page.get_by_role("button", name="Read what is missing again")
    read.click()
    expect(
        view.page.locator(".player .lane", has_text="Candidate").locator("canvas")
    ).to_be_visible()
    expect(read).to_have_count(0)
    assert view.axe() == []
    assert (view.faults, view.broken_rules()) == ([], [])


def test_a_sound_that_was_stopped_while_it_was_loaded_is_not_heard(
    view: ConsolePage, job_id: str
) -> None:
    view.page.evaluate(
        """() => {
          window.heard = [];
          HTMLMediaElement.prototype.play = async function () { window.heard.push(this.src); };
        }"""
    )
    held: list[Route] = []
    view.page.route("**/excerpt/candidate*", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright marks it
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    row = view.page.locator("#panel tr.data").first
    for _ in range(2):
        with view.page.expect_request("**/excerpt/candidate*"):
            row.get_by_role("button", name="Play the excerpt").click()
        row.get_by_role("button", name="Stop").click()
    with view.page.expect_request("**/excerpt/candidate*"):
        row.get_by_role("button", name="Play the excerpt").click()
    for route in held:
        with view.page.expect_response("**/excerpt/candidate*"):
            route.fulfill(body=b"RIFF", content_type="audio/wav")
    view.wait_until("window.heard.length > 0")
    settle(view)
    assert view.page.evaluate("window.heard.length") == 1


def test_a_double_press_on_play_begins_the_clips_once(view: ConsolePage, job_id: str) -> None:
    view.page.evaluate(
        """() => {
          window.begun = 0;
          const start = AudioBufferSourceNode.prototype.start;
          AudioBufferSourceNode.prototype.start = function (...given) {
            window.begun += 1;
            return start.apply(this, given);
          };
        }"""
    )
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    button = view.page.locator(".player button.main-act")
    button.wait_for()
    button.evaluate("button => { button.click(); button.click(); }")
    view.wait_until("window.begun > 0")
    settle(view)
    assert view.page.evaluate("window.begun") == view.page.locator(".player canvas").count()


def test_the_x_key_switches_after_a_missing_sound_was_read(view: ConsolePage, job_id: str) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    withheld = ["candidate"]

    def withhold_once(route: Route) -> None:
        answer = route.fetch()
        pair = answer.json()
        for role in withheld:
            pair["data"]["excerpts"][role] = None
        withheld.clear()
        route.fulfill(response=answer, json=pair)

    view.page.route(re.compile("/comparisons/[^/]+$"), withhold_once)
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    view.page.get_by_role("button", name="Read what is missing again").click()
    candidate = view.page.get_by_role("button", name="B · Candidate")
    expect(candidate).to_have_attribute("aria-pressed", "false")
    view.page.keyboard.press("x")
    expect(candidate).to_have_attribute("aria-pressed", "true")


def shown_ranks(page: Page) -> list[str]:
    return page.locator("#panel tr.data .rank").all_inner_texts()
