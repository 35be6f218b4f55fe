"""The seven functions of the console from typing to result, before the stand-in platform.

In English and light colours; `make soak` runs all of them in Chinese and dark, too, of which the
full tier walks through a result.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import DOT, ask_module

pytestmark = [pytest.mark.full, pytest.mark.browser]
LOOKS: dict[str, dict[str, Any]] = {
    "english-light": {"locale": "en-GB", "color_scheme": "light"},
    "chinese-dark": {"locale": "zh-CN", "color_scheme": "dark"},
}
SMALL = "20"
AGAIN = "5e0c8a52-33aa-4d0b-8a43-9c1f3b7d2e10"
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"


@pytest.fixture(
    scope="module",
    params=["english-light", pytest.param("chinese-dark", marks=pytest.mark.soak)],
)
def shared_view(
    session_pages: ConsolePages, track: dict[str, Any], request: pytest.FixtureRequest
) -> Iterator[ConsolePage]:
    """One visitor per language and theme, whose page is never loaded again."""
    with session_pages.leaving() as pages:
        yield pages.open(**LOOKS[request.param])


@pytest.fixture
def view(shared_view: ConsolePage) -> ConsolePage:
    """The shared page as it was opened, whatever the test before did to it."""
    shared_view.restore()
    return shared_view


@pytest.fixture(scope="module")
def person(shared_view: ConsolePage, job_id: str) -> str:
    """The account behind the first work of a scan."""
    shared_view.restore()
    look(shared_view, job_id)
    shared_view.page.locator('[data-tab="accounts"]').click()
    link = shared_view.page.locator("#panel a[href^='#/profile']").first
    return (link.get_attribute("href") or "").partition("id=")[2]


def scan(view: ConsolePage, track: dict[str, Any]) -> None:
    start_scan(view, track["prose"])
    view.page.wait_for_selector("[role=tabpanel]")


def start_scan(view: ConsolePage, lines: str) -> None:
    view.show("#/hot")
    view.page.locator("textarea").fill(lines)
    view.page.locator("main form summary", has_text=re.compile("More settings|更多设置")).click()
    view.page.locator("input[type=number]").nth(1).fill(SMALL)
    view.page.locator("button[type=submit].main-act").first.click()


def look(view: ConsolePage, job_id: str) -> None:
    """Show the result of a scan that has ended."""
    view.show(f"#/job/{job_id}")
    view.page.wait_for_selector("[role=tabpanel]")


def submit(page: Page) -> None:
    page.locator("main form button[type=submit]").click()


def is_clean(view: ConsolePage) -> bool:
    assert view.faults == []
    assert view.broken_rules() == []
    assert view.hosts == {view.base.partition("//")[2]}
    return True


def walk(view: ConsolePage, track: dict[str, Any]) -> None:
    """Look at every tab of the result that is shown, and at the evidence of a pair."""
    expect(view.page.locator("main h1")).to_have_text(track["title"])
    expect(view.page.locator("tbody tr.data").nth(4)).to_be_visible()
    assert view.axe() == []
    for tab in (
        "accounts", "popularity", "plots", "genealogy", "variants", "related", "comparisons",
        "coverage",
    ):  # fmt: skip
        view.page.locator(f'[data-tab="{tab}"]').click()
        view.page.wait_for_selector("#panel h2, #panel table, #panel .empty, #panel h3")
        assert (tab, view.axe()) == (tab, [])
    view.page.locator('[data-tab="comparisons"]').click()
    view.page.locator("a[href^='#/evidence']").first.click()
    view.page.wait_for_selector(".verdict-text")
    view.page.wait_for_selector(".player .wave")
    view.page.locator("details summary").first.click()
    view.page.wait_for_selector(".picture img")
    assert view.axe() == []


def test_a_track_is_scanned_ranked_and_its_evidence_is_shown(
    view: ConsolePage, track: dict[str, Any]
) -> None:
    scan(view, track)
    walk(view, track)
    assert is_clean(view)


def test_a_result_is_shown_in_chinese_and_dark_colours(
    pages: ConsolePages, track: dict[str, Any], job_id: str
) -> None:
    view = pages.open(f"#/job/{job_id}", **LOOKS["chinese-dark"])
    view.page.wait_for_selector("[role=tabpanel]")
    walk(view, track)
    assert is_clean(view)


def test_the_ranking_begins_on_the_first_screen(view: ConsolePage, job_id: str) -> None:
    view.page.set_viewport_size({"width": 1440, "height": 900})
    look(view, job_id)
    box = view.page.locator("#panel table").bounding_box()
    assert box is not None
    assert box["y"] < 380
    view.page.set_viewport_size({"width": 390, "height": 844})
    card = view.page.locator("#panel .cards .data").first
    expect(card).to_be_visible()
    box = card.bounding_box()
    assert box is not None
    assert box["y"] < 844


def test_rows_show_covers_with_an_alternative_text(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    cover = view.page.locator("#panel tr.data img").first
    expect(cover).to_have_js_property("naturalHeight", 64)  # as the sandbox draws it
    assert len(cover.get_attribute("alt") or "") > 5
    assert is_clean(view)


def test_a_cover_that_failed_is_requested_again_by_the_next_view(
    view: ConsolePage, job_id: str
) -> None:
    page = view.page
    page.route("**/pictures/**", lambda route: route.abort())
    view.show(f"#/job/{job_id}")
    expect(page.locator("#panel tr.data span.picture-tile").first).to_be_visible()
    expect(page.locator("#panel tr.data img")).to_have_count(0)
    page.unroute_all()
    page.route("**/pictures/**", lambda route: route.fulfill(body=DOT, content_type="image/png"))
    view.show("#/reference")
    view.show(f"#/job/{job_id}")
    expect(page.locator("#panel tr.data img").first).to_be_visible()


def test_a_track_gets_a_note_and_tags(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    view.page.locator("main .note-pad button").first.click()
    fields = view.page.locator("dialog[open] input")
    fields.nth(0).fill("<b>ask</b> the label")
    fields.nth(1).fill("六月， June, June")
    assert view.axe() == []
    view.page.locator("dialog[open] button[type=submit]").click()
    tags = view.page.locator("main .note-pad").first.locator(".badge")
    expect(tags).to_have_text(["六月", "June"])
    expect(view.page.locator("main .note-pad").first).to_contain_text("<b>ask</b> the label")
    view.page.locator("main .note-pad button").first.click()
    for at in range(2):
        fields.nth(at).fill("")
    view.page.locator("dialog[open] button[type=submit]").click()
    expect(tags).to_have_count(0)
    assert is_clean(view)


def test_back_returns_to_the_tab_before(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    view.page.locator('[data-tab="coverage"]').click()
    expect(view.page.locator('[data-tab="coverage"]')).to_have_attribute("aria-selected", "true")
    view.page.go_back()
    expect(view.page.locator('[data-tab="ranking"]')).to_have_attribute("aria-selected", "true")
    view.page.wait_for_selector("#panel table")
    assert is_clean(view)


def test_a_printed_result_has_every_row_and_no_controls(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    rows = int(view.page.locator('[data-tab="ranking"] .num').inner_text())
    view.page.emulate_media(media="print")
    expect(view.page.locator("#panel tr.data")).to_have_count(rows)
    expect(view.page.locator("#panel select").first).not_to_be_visible()
    expect(view.page.locator("#panel tr.data").last).to_be_visible()
    assert is_clean(view)


def test_rows_appear_while_a_scan_runs(
    view: ConsolePage, track: dict[str, Any], job_id: str
) -> None:
    whole = view.page.request.get(f"{view.base}{JOBS}/{job_id}").json()
    found = whole["data"]["result"]
    rows = {
        "aweme_list": found["aweme_list"][:4], "music": found["music"], "returned_count": 4,
        "confirmed_count": 4,
    }  # fmt: skip

    def tell_running(route: Route) -> None:
        data = {**whole["data"], "status": "running", "result": None, "finished_at": None}
        route.fulfill(json={**whole, "data": data})

    view.page.route(f"**/music_collection_jobs/{job_id}", tell_running)
    view.page.route(f"**/jobs/{job_id}/events", lambda route: route.abort())
    view.page.route(f"**/jobs/{job_id}/preview", lambda route: route.fulfill(json={"data": rows}))
    view.show(f"#/job/{job_id}")
    expect(view.page.locator("main tr.data")).to_have_count(4)
    expect(view.page.locator("main h1")).to_have_text(track["title"])
    assert view.axe() == []
    view.page.unroute_all()
    view.page.wait_for_selector("[role=tabpanel]")


def test_a_cancelled_scan_is_started_again(view: ConsolePage, job_id: str) -> None:
    whole = view.page.request.get(f"{view.base}{JOBS}/{job_id}").json()
    cancelled = {**whole, "data": {**whole["data"], "status": "cancelled", "result": None}}
    again = {**whole, "data": {**whole["data"], "job_id": AGAIN}}  # so that no scan has to run
    view.page.route("**/music_collection_jobs", lambda route: route.fulfill(json=again))
    view.page.route(
        f"**/music_collection_jobs/{job_id}", lambda route: route.fulfill(json=cancelled)
    )
    view.page.route(f"**/music_collection_jobs/{AGAIN}", lambda route: route.fulfill(json=again))
    view.show(f"#/job/{job_id}")
    with view.page.expect_request(
        lambda request: request.method == "POST" and request.url.endswith("music_collection_jobs")
    ) as asked:
        view.page.locator("main .card button.button:not(.little)").click()
    body: Any = asked.value.post_data_json
    assert (body["input"], body["candidate_limit"]) == (whole["data"]["input"], int(SMALL))
    view.page.wait_for_url(f"**#/job/{AGAIN}")
    view.page.wait_for_selector("[role=tabpanel]")
    assert is_clean(view)


@pytest.mark.parametrize(
    ("text", "is_track"),
    [
        ("6812345", True), ("v.example/AbCd1/", True), ("Listen: https://v.example/AbCd1/", True),
        ("Track 123456789012345 of 2024", False), ("1989", False), ("Mr. Blue/Red", False),
    ],
)  # fmt: skip
def test_a_text_is_a_track_or_a_title(shared_view: ConsolePage, text: str, is_track: bool) -> None:
    found = ask_module(shared_view, "parts/scan_request.js", f"m.isTrack({json.dumps(text)})")
    assert found is is_track


def test_the_end_of_a_scan_is_told_whatever_is_looked_at(pages: ConsolePages, job_id: str) -> None:
    view = pages.open()
    view.page.clock.install()
    view.page.evaluate(
        """() => {
          window.Notification = class {
            constructor(title, {body}) { document.body.dataset.told = body; }
          };
          Notification.permission = 'granted';
        }"""
    )
    whole = view.page.request.get(f"{view.base}{JOBS}/{job_id}").json()
    running = {
        **whole,
        "data": {**whole["data"], "status": "running", "result": None, "finished_at": None},
    }
    answers = {"now": running}
    view.page.route(
        f"**/music_collection_jobs/{job_id}", lambda route: route.fulfill(json=answers["now"])
    )
    view.page.route(f"**/jobs/{job_id}/events", lambda route: route.abort())
    view.show(f"#/job/{job_id}")
    view.page.get_by_role("button", name="Notify me").click()
    view.show("#/reference")  # who still asks for the scan is not its page
    with view.page.expect_response(f"**/music_collection_jobs/{job_id}"):
        view.page.clock.run_for(1500)
    answers["now"] = whole
    view.page.clock.run_for(1500)
    expect(view.page.locator("body[data-told*='Completed']")).to_have_count(1)


def test_several_tracks_have_a_panel_each(view: ConsolePage, track: dict[str, Any]) -> None:
    start_scan(view, f"{track['music_id']}\n{track['share_link']}")
    view.page.wait_for_selector(".grid.two .card .figures")
    expect(view.page.locator(".grid.two > .card")).to_have_count(2)
    assert view.axe() == []
    assert is_clean(view)


def test_a_song_is_searched_by_its_title(view: ConsolePage, track: dict[str, Any]) -> None:
    view.show("#/search")
    assert view.axe() == []
    view.page.locator("main form input").first.fill(track["title"])
    submit(view.page)
    view.page.wait_for_selector('[role=tabpanel] [data-tab], [data-tab="related"]')
    expect(view.page.locator("main h1")).to_have_text(track["title"])
    assert view.page.locator('[data-tab="ranking"]').count() == 0
    assert is_clean(view)


def test_the_history_of_the_chart_is_drawn_and_listed(view: ConsolePage) -> None:
    view.show("#/chart")
    days = view.page.locator("input[type=date]")
    days.nth(0).fill("2024-01-01")
    days.nth(1).fill("2024-02-20")
    submit(view.page)
    view.page.wait_for_selector("svg.chart polyline")
    expect(view.page.locator("main table tbody tr")).to_have_count(20)
    assert view.axe() == []
    view.page.locator("main select").first.select_option(index=1)
    beside = view.page.locator(".card", has_text="hash:")
    expect(beside.locator(".empty")).to_be_visible()  # nothing was scanned that it could be
    assert view.axe() == []
    assert is_clean(view)


def test_a_profile_is_read(view: ConsolePage, person: str) -> None:
    view.show("#/profile")
    view.page.locator("main form input").first.fill(person)
    submit(view.page)
    view.page.wait_for_selector(".person h2")
    assert re.search(r"\d", view.page.locator(".figures dd").first.inner_text())
    assert view.axe() == []
    assert is_clean(view)


def test_account_address_opens_the_profile_of_that_account(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    view.page.locator('[data-tab="accounts"]').click()
    links = view.page.locator("#panel tbody a[href^='#/profile']")
    links.first.wait_for()
    places = list(dict.fromkeys(links.evaluate_all("all => all.map((one) => one.hash)")))[:2]
    shown = []
    for place in places:
        view.show(place)
        expect(view.page.locator("main dl.pairs dd").first).to_have_text(place.partition("id=")[2])
        shown.append(view.page.locator(".person h2").inner_text())
    view.page.go_back()
    expect(view.page.locator("main dl.pairs dd").first).to_have_text(places[0].partition("id=")[2])
    expect(view.page.locator(".person h2")).to_have_text(shown[0])
    assert is_clean(view)


def test_the_posts_of_an_account_are_listed(view: ConsolePage, person: str) -> None:
    view.show("#/posts")
    view.page.locator("main form input").first.fill(person)
    submit(view.page)
    view.page.wait_for_selector("tbody tr.data")
    assert view.axe() == []
    assert is_clean(view)


def test_the_figures_of_a_creator_are_worked_out(view: ConsolePage, person: str) -> None:
    view.show("#/metrics")
    view.page.locator("main form input").first.fill(person)
    view.page.locator("main form input[type=number]").fill("365")
    submit(view.page)
    view.page.wait_for_selector("main .figures")
    assert view.axe() == []
    assert is_clean(view)


def test_parameters_are_looked_up_with_their_limits_and_a_request_to_copy(
    view: ConsolePage,
) -> None:
    view.show("#/reference")
    view.page.locator("input[type=search]").fill("candidate_limit")
    cell = view.page.locator("tbody tr", has=view.page.locator("code", has_text="candidate_limit"))
    expect(cell.first).to_contain_text("15 – 2000")
    view.page.locator("details.raw summary").first.click()
    expect(view.page.locator(".raw pre").first).to_contain_text("curl")
    assert view.axe() == []
    assert is_clean(view)


def test_time_and_operation_are_shown(view: ConsolePage, track: dict[str, Any]) -> None:
    view.show(f"#/time/track/{track['music_id']}")
    view.page.wait_for_selector("svg.chart, main .empty")
    assert view.axe() == []
    view.show("#/operator")
    view.page.wait_for_selector("main table")
    assert view.axe() == []
    assert is_clean(view)


def test_a_table_is_taken_along_in_every_form(view: ConsolePage, job_id: str) -> None:
    look(view, job_id)
    view.page.locator("#panel .tools .pop > button").last.click()
    for at, form in enumerate(("csv", "xlsx", "parquet", "json")):
        with view.page.expect_download() as saved:
            view.page.locator(".sheet button").nth(at).click()
        name = saved.value.suggested_filename
        words = "(ranking – [0-9-]+ – demo data|排行 – [0-9-]+ – 演示数据)"
        assert re.fullmatch(rf".+ – {words}\.{form}", name)
    assert is_clean(view)


def test_the_language_changes_without_loading_the_page_again(pages: ConsolePages) -> None:
    view = pages.open()
    view.page.evaluate("window.isTheSame = true")
    view.page.locator("header button[lang]").click()
    expect(view.page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(view.page.locator("main h1")).to_have_text("哪些作品在用这首歌？")
    assert view.page.evaluate("window.isTheSame")
