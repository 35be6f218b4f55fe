"""The command palette finds pages, saved views, tracks and scans; a file brings tracks."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import xlsxwriter
from playwright.sync_api import Route, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages

ROWS = ["7300000000000000001", "7300000000000000002"]
pytestmark = [pytest.mark.full, pytest.mark.browser]


@pytest.fixture
def scanned(track: dict[str, Any], job_id: str) -> dict[str, Any]:
    """A track that was scanned."""
    assert job_id
    return track


def test_a_page_is_opened_by_keys_alone(view: ConsolePage) -> None:
    view.page.keyboard.press("Control+k")
    expect(view.page.locator("[role=combobox]")).to_be_focused()
    view.page.keyboard.type("oper")
    expect(view.page.locator("[role=option]")).to_have_count(2)  # and a search for that title
    assert view.axe() == []
    view.page.keyboard.press("Enter")
    expect(view.page.locator("main h1")).to_have_text("Operations")
    expect(view.page.locator("dialog.palette")).not_to_be_visible()
    assert is_clean(view)


def test_one_escape_closes_it_whatever_was_typed(view: ConsolePage) -> None:
    view.page.keyboard.press("Control+k")
    expect(view.page.locator("[role=combobox]")).to_be_focused()
    view.page.keyboard.type("oper")
    view.page.keyboard.press("Escape")
    expect(view.page.locator("dialog.palette")).not_to_be_visible()


def test_a_scanned_track_is_found_by_a_part_of_its_title(
    pages: ConsolePages, scanned: dict[str, Any]
) -> None:
    view = pages.open(locale="zh-CN", color_scheme="dark")
    view.page.locator("button.find").click()
    expect(view.page.locator("[role=combobox]")).to_be_focused()
    view.page.keyboard.type(scanned["title"][:2])
    found = view.page.locator("[role=option]", has_text=scanned["title"])
    expect(found.first).to_be_visible()
    assert view.axe() == []
    found.first.click()
    view.page.wait_for_url(f"**#/track/{scanned['music_id']}")
    expect(view.page.locator("main h1")).to_have_text(scanned["title"])
    assert is_clean(view)


def test_a_view_is_saved_found_and_forgotten(pages: ConsolePages) -> None:
    view = pages.open("#/reference")
    save = view.page.locator("header button[aria-pressed]")
    save.click()
    expect(save).to_have_attribute("aria-pressed", "true")
    view.show("#/hot")
    view.page.reload()  # the browser keeps it
    view.page.keyboard.press("Control+k")
    expect(view.page.locator("[role=combobox]")).to_be_focused()
    view.page.locator("[role=option]").first.click()
    expect(view.page.locator("main h1")).to_have_text("Parameter quick reference")
    save.click()
    expect(save).to_have_attribute("aria-pressed", "false")
    assert is_clean(view)


def test_a_pasted_link_offers_a_scan(pages: ConsolePages, track: dict[str, Any]) -> None:
    view = pages.open("#/operator")  # a page that remembers no tracks of another test
    view.page.keyboard.press("Control+k")
    expect(view.page.locator("[role=combobox]")).to_be_focused()
    view.page.keyboard.insert_text(track["share_link"])
    view.page.keyboard.press("Enter")
    expect(view.page.locator("textarea")).to_have_value(track["share_link"])
    assert is_clean(view)


def test_any_other_text_offers_a_search_for_the_song(pages: ConsolePages) -> None:
    view = pages.open("#/operator")
    view.page.keyboard.press("Control+k")
    view.page.locator("[role=combobox]").fill("Paper Boats of nobody")
    view.page.locator("[role=option]", has_text="Search for this song").click()
    expect(view.page.locator("textarea")).to_have_value("Paper Boats of nobody")
    expect(view.page.locator("main form")).to_contain_text("Search for the song instead?")
    assert is_clean(view)


def test_one_word_may_also_be_a_handle(pages: ConsolePages) -> None:
    view = pages.open("#/hot")
    view.page.locator("textarea").fill("two words")
    expect(view.page.get_by_role("button", name="Open the account")).to_have_count(0)
    view.page.locator("textarea").fill("no_body1")
    with view.page.expect_request("**/get_sec_user_id?*") as sent:
        view.page.get_by_role("button", name="Open the account @no_body1").click()
    assert parse_qs(urlsplit(sent.value.url).query) == {"url": ["@no_body1"]}


def test_tracks_come_from_a_spreadsheet(pages: ConsolePages, tmp_path: Path) -> None:
    table = tmp_path / "tracks.xlsx"
    with xlsxwriter.Workbook(table) as book:
        book.add_worksheet().write_column(0, 0, ["track", ROWS[0], f"see {ROWS[1]}", "nothing"])
    view = pages.open("#/hot")
    view.page.set_input_files("input[type=file]", table)
    expect(view.page.locator("textarea")).to_have_value("\n".join(ROWS))
    assert is_clean(view)


def test_a_damaged_spreadsheet_is_named(pages: ConsolePages, tmp_path: Path) -> None:
    table = tmp_path / "tracks.xlsx"
    table.write_bytes(b"no archive")
    view = pages.open("#/hot")
    view.page.set_input_files("input[type=file]", table)
    expect(view.page.locator(".toasts")).to_contain_text("The file cannot be read")
    expect(view.page.locator("textarea")).to_have_value("")


def test_two_links_on_a_line_are_two_tracks(view: ConsolePage) -> None:
    links = ["https://v.example/AbCd1/", "https://v.example/EfGh2/"]
    view.page.route("**/fetch_music_hot_videos_batch", lambda route: route.fulfill(json=_refused()))
    view.show("#/hot")
    view.page.locator("textarea").fill(f"{links[0]}，and {links[1]}\n{ROWS[0]} {ROWS[1]}")
    with view.page.expect_request("**/fetch_music_hot_videos_batch") as sent:
        view.page.locator("textarea").press("Enter")
    body: Any = sent.value.post_data_json
    assert body["inputs"] == [*links, *ROWS]


def test_a_title_is_searched_and_an_account_is_opened(view: ConsolePage) -> None:
    stored = read_example("music_collection_job")
    view.page.route("**/music_collection_jobs*", lambda route: route.fulfill(json=stored))
    view.show("#/hot")
    view.page.locator("textarea").fill("Paper Boats")
    with view.page.expect_request("**/music_collection_jobs") as sent:
        view.page.get_by_role("button", name="Search for the song").click()
    body: Any = sent.value.post_data_json
    assert body == {"keyword": "Paper Boats", "search_only": True}
    view.page.wait_for_url("**#/job/**")
    view.page.route(
        "**/get_sec_user_id?*",
        lambda route: route.fulfill(json=read_example("get_sec_user_id")),
    )
    view.page.route(
        "**/handler_user_profile?*",
        lambda route: route.fulfill(json=read_example("handler_user_profile")),
    )
    view.show("#/hot")
    view.page.locator("textarea").fill("@mia_00")
    view.page.get_by_role("button", name="Open the profile").click()
    view.page.wait_for_selector(".person h2")


def test_a_link_of_an_account_opens_its_profile(view: ConsolePage) -> None:
    refused = read_example("history") | {"data": {"error": _refused()["data"]["items"][0]["error"]}}
    view.page.route(
        "**/music_collection_jobs", lambda route: route.fulfill(status=400, json=refused)
    )
    view.page.route(
        "**/get_sec_user_id?*",
        lambda route: route.fulfill(json=read_example("get_sec_user_id")),
    )
    view.page.route(
        "**/handler_user_profile?*",
        lambda route: route.fulfill(json=read_example("handler_user_profile")),
    )
    view.show("#/hot")
    view.page.locator("textarea").fill("https://p.example/user/MS4wLjABAAAAaccount12345")
    view.page.locator("textarea").press("Enter")
    view.page.wait_for_selector(".person h2")


def test_tracks_come_from_a_file_once_each(
    pages: ConsolePages, track: dict[str, Any], tmp_path: Path
) -> None:
    table = tmp_path / "tracks.csv"
    link, music_id = track["share_link"], track["music_id"]
    table.write_text(f"title,link\na,{link}\nb,{music_id},100\nnone\n{link}", encoding="utf-8")
    view = pages.open("#/hot")
    view.page.set_input_files("input[type=file]", table)
    expect(view.page.locator("textarea")).to_have_value(f"{link}\n{music_id}")
    assert is_clean(view)


def test_more_tracks_than_one_request_holds_are_started(
    view: ConsolePage, track: dict[str, Any]
) -> None:
    view.show("#/hot")
    ids = [str(int(track["music_id"]) + step) for step in range(12)]
    view.page.route("**/fetch_music_hot_videos_batch", lambda route: route.fulfill(json=_refused()))
    with view.page.expect_request("**/fetch_music_hot_videos_batch") as first:
        view.page.locator("textarea").fill("\n".join(ids))
        view.page.locator("button[type=submit].main-act").first.click()
    body: Any = first.value.post_data_json
    assert body["inputs"] == ids[:10]
    expect(view.page.locator(".note.bad")).to_have_count(2)  # one refusal of each of two requests


def test_a_refused_request_leaves_its_lines_in_the_form_and_what_was_started_open(
    view: ConsolePage,
) -> None:
    ids = [f"73000000000000000{number:02}" for number in range(12)]
    busy = {"type": "queue_full", "detail": "The queue is full", "hint": "Try again later"}
    items = [_refused()["data"]["items"][0]]
    items.append(items[0] | {"ok": True, "status": "queued", "job_id": "begun", "error": None})
    steps = iter((items, None))

    def take(route: Route) -> None:
        begun = next(steps)
        if begun is None:
            route.fulfill(status=429, json=_refused() | {"data": {"error": busy}})
        else:
            route.fulfill(json={"data": {"items": begun, "notes": []}})

    view.page.route("**/fetch_music_hot_videos_batch", take)
    view.show("#/hot")
    view.page.locator("textarea").fill("\n".join(ids))
    view.page.locator("button[type=submit].main-act").first.click()
    main = view.page.locator("main")
    expect(main).to_contain_text("2 tracks were not started and stay in the form")
    expect(main).to_contain_text("The queue is full")
    assert view.page.url.endswith("#/jobs/begun")
    view.show("#/jobs/another")
    expect(main).not_to_contain_text("not started")
    view.page.go_back()
    expect(main).to_contain_text("no track")
    view.show("#/hot")
    expect(view.page.locator("textarea")).to_have_value("\n".join(ids[10:]))


def test_a_short_link_which_may_be_that_of_a_list_is_taken_apart(view: ConsolePage) -> None:
    item = _refused()["data"]["items"][0]
    begun = item | {"ok": True, "status": "queued", "job_id": "begun", "error": None}
    steps = iter((item, begun))
    view.page.route(
        "**/fetch_music_hot_videos_batch",
        lambda route: route.fulfill(json={"data": {"items": [next(steps)], "notes": []}}),
    )
    view.show("#/hot")
    view.page.locator("textarea").fill("v.example/AbCd1/")
    start = view.page.locator("button[type=submit].main-act").first
    start.click()
    expect(view.page.locator("form .note.bad")).to_contain_text("no track")
    start.click()
    view.page.wait_for_url("**#/job/begun")  # one track has no page of several


def _refused() -> dict[str, Any]:
    error = {"type": "invalid_music_input", "detail": "no track", "hint": "paste a link"}
    item = {"input": "1", "ok": False, "job_id": None, "error": error}
    return {"data": {"items": [item], "notes": []}}


def is_clean(view: ConsolePage) -> bool:
    assert view.faults == []
    assert view.broken_rules() == []
    return True
