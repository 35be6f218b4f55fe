"""The first page explains a scan and starts an example; tables save what they show."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.stage import Stage
from tests.visitor import View, Visitors

pytestmark = pytest.mark.browser


@pytest.fixture
def newcomer(visitors: Visitors, track: dict[str, Any]) -> Callable[..., View]:
    """Somebody for whom there is no scan yet; the platform of `track` is up."""
    assert track

    def come(**look: Any) -> View:
        view = visitors.open("#/reference", **look)
        nothing = {"data": {"jobs": [], "tracks": {}, "returned_count": 0}}
        view.page.route("**/sametrack/jobs?*", lambda route: route.fulfill(json=nothing))
        view.show("#/hot")
        return view

    return come


@pytest.mark.parametrize("look", [{}, {"locale": "zh-CN", "color_scheme": "dark"}])
def test_a_newcomer_sees_what_happens_and_starts_an_example(
    newcomer: Callable[..., View], look: dict[str, Any]
) -> None:
    view = newcomer(**look)
    expect(view.page.locator(".intro svg")).to_have_count(3)
    assert view.axe() == []
    view.page.locator(".card", has=view.page.locator(".intro")).locator("button").click()
    view.page.wait_for_selector("[role=tabpanel], .progress")
    assert "#/job/" in view.page.url
    assert (view.faults, view.broken_rules()) == ([], [])


def test_a_filtered_ranking_saves_the_rows_it_shows(
    visitors: Visitors, stage: Stage, track: dict[str, Any], tmp_path: Path
) -> None:
    job_id = stage.ask(track["music_id"], music_id=track["music_id"], candidate_limit=15)
    stage.ended(job_id)
    view = visitors.open(f"#/job/{job_id}?link=exact_music_id")
    view.page.wait_for_selector("#panel tr.data")
    ranks = shown_ranks(view.page)
    rows = view.page.locator("#panel .row.apart button", has_text="shown")
    with view.page.expect_download() as saved:
        rows.click()
    saved.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("rank,aweme_id,desc")
    assert [line.partition(",")[0] for line in lines[1:]] == ranks


def shown_ranks(page: Page) -> list[str]:
    return page.locator("#panel tr.data .rank").all_inner_texts()
