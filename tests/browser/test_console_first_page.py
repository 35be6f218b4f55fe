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


def test_a_filtered_ranking_is_exported_with_the_rows_and_columns_it_shows(
    view: ConsolePage, job_id: str, tmp_path: Path
) -> None:
    view.show(f"#/job/{job_id}?link=exact_music_id")
    view.page.wait_for_selector("#panel tr.data")
    ranks = shown_ranks(view.page)
    view.page.locator("#panel .tools .pop button", has_text="Export").click()
    with view.page.expect_download() as saved:
        view.page.locator(".sheet button").first.click()
    saved.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("Rank,Caption,Video id")
    assert "Sound uploaded" not in lines[0]
    assert [line.partition(",")[0] for line in lines[1:]] == ranks
    assert [line.rpartition(",")[2] for line in lines] == ["Demo data"] + ["True"] * len(ranks)


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


def test_a_rejected_pair_is_heard_on_both_sides(view: ConsolePage, job_id: str) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=rejected")
    view.page.locator("#panel tr.data a[href^='#/evidence']").last.click()
    expect(view.page.locator("main .verdict-text")).to_contain_text("this video", ignore_case=True)
    expect(view.page.locator(".player .wave")).to_have_count(2)
    with view.page.expect_response("**/excerpt/reference?fetch=true") as song:
        view.page.get_by_role("button", name="Play", exact=True).click()
    assert song.value.status == 200  # the song of the music service, read from its page there
    expect(view.page.get_by_role("button", name="Pause")).to_be_visible()
    expect(view.page.locator(".player .wave .head")).to_have_count(2)
    expect(view.page.locator(".player")).to_contain_text("Both clips play in sync")
    assert view.axe() == []
    assert (view.faults, view.broken_rules()) == ([], [])


def test_sounds_that_are_not_stored_are_read_on_both_sides(view: ConsolePage, job_id: str) -> None:
    def withhold(route: Route) -> None:
        answer = route.fetch()
        pair = answer.json()
        for sound in pair["data"]["sounds"].values():
            sound["excerpt_state"] = "readable"
            sound["excerpt_path"] = f"{sound['excerpt_path'].partition('?')[0]}?fetch=true"
        route.fulfill(response=answer, json=pair)

    view.page.route(re.compile("/comparisons/[^/]+$"), withhold)
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    player = view.page.locator(".player")
    expect(player).to_contain_text("The song is not stored: Play reads it")
    with (
        view.page.expect_response("**/excerpt/reference?fetch=true") as song,
        view.page.expect_response("**/excerpt/candidate?fetch=true") as video,
    ):
        view.page.get_by_role("button", name="Play", exact=True).click()
    assert (song.value.status, video.value.status) == (200, 200)
    expect(view.page.get_by_role("button", name="Pause")).to_be_visible()
    expect(player).not_to_contain_text("is not stored")
    assert view.faults == []


def test_a_sound_that_cannot_be_read_says_why_and_the_other_one_plays(
    view: ConsolePage, job_id: str
) -> None:
    gone = {"message": "m", "message_zh": "z", "data": {"error": {
        "type": "not_found", "detail": "The video 1 is no longer available", "hint": "Its",
    }}}  # fmt: skip
    view.page.route("**/excerpt/reference*", lambda route: route.fulfill(status=404, json=gone))
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    view.page.get_by_role("button", name="Play", exact=True).click()
    expect(view.page.locator(".player .note.bad")).to_contain_text("no longer available")
    expect(view.page.get_by_role("button", name="Pause")).to_be_visible()
    view.page.unroute("**/excerpt/reference*")
    view.page.get_by_role("button", name="Try again").click()
    expect(view.page.get_by_role("button", name="A · The song")).to_be_visible()
    expect(view.page.locator(".player .note.bad")).to_have_count(0)
    assert view.faults == []


def test_the_measures_and_the_plot_are_folded(view: ConsolePage, job_id: str) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    expect(view.page.locator("main .verdict-text")).to_contain_text(
        "of the song play in this video"
    )
    expect(view.page.locator(".measure").first).not_to_be_visible()
    view.page.get_by_text("How we measured").click()
    expect(view.page.locator(".measure").first).to_contain_text("Difference in melody and harmony")
    expect(view.page.locator(".picture img")).to_be_visible()
    assert view.axe() == []
    assert view.faults == []


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
    assert view.page.evaluate("window.begun") == view.page.locator(".player .wave").count()


def test_the_x_key_switches_before_and_after_the_sounds_are_loaded(
    view: ConsolePage, job_id: str
) -> None:
    view.show(f"#/job/{job_id}?tab=comparisons&verdict=confirmed")
    view.page.locator("#panel tr.data a[href^='#/evidence']").first.click()
    candidate = view.page.get_by_role("button", name="B · This video")
    expect(candidate).to_have_attribute("aria-pressed", "true")
    view.page.keyboard.press("x")
    expect(candidate).to_have_attribute("aria-pressed", "false")
    view.page.get_by_role("button", name="Play", exact=True).click()
    expect(view.page.get_by_role("button", name="Pause")).to_be_visible()
    view.page.keyboard.press("x")
    expect(candidate).to_have_attribute("aria-pressed", "true")
    assert view.faults == []


def shown_ranks(page: Page) -> list[str]:
    return page.locator("#panel tr.data .rank").all_inner_texts()
