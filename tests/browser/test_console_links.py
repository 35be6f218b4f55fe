"""A read-only link in the console: created, opened by somebody without a token, revoked."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import refusal

pytestmark = [pytest.mark.full, pytest.mark.browser]


def open_as_reader(pages: ConsolePages, path: str, **look: Any) -> ConsolePage:
    """The page of a link, opened by somebody without a token; it requests nothing else."""
    reader = pages.open(path.removeprefix("/"), wait=False, **look)
    asked: list[str] = []
    reader.page.on("request", lambda request: asked.append(request.url))
    reader.page.reload()
    assert [url for url in asked if not url.startswith("data:")] == [f"{reader.base}{path}"]
    return reader


def test_a_link_is_created_opened_and_revoked(
    view: ConsolePage, pages: ConsolePages, job_id: str
) -> None:
    view.show(f"#/job/{job_id}")
    view.page.get_by_role("button", name="Read-only link").click()
    dialog = view.page.get_by_role("dialog", name="Read-only link")
    expect(dialog.get_by_label("Days until it ends")).to_have_attribute("placeholder", "30")
    assert view.axe() == []
    dialog.get_by_label("Days until it ends").fill("7")
    dialog.get_by_role("button", name="Create a link").click()
    entry = dialog.get_by_role("listitem")
    expect(entry).to_contain_text("not opened yet")
    path = entry.get_by_role("link", name="Open").get_attribute("href")
    assert path is not None
    assert re.fullmatch(r"/shared/[\w.-]+", path)
    assert view.axe() == []

    reader = open_as_reader(pages, path)
    expect(reader.page.get_by_role("heading", name="Ranking")).to_be_visible()
    assert reader.faults == []

    view.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    view.page.get_by_role("button", name="Read-only link").click()
    expect(entry).to_contain_text("last opened")
    dialog.get_by_role("button", name="Revoke").click()
    expect(entry).to_have_count(0)
    reader.page.reload()
    expect(reader.page.get_by_role("heading", name="This link is not valid")).to_be_visible()
    expect(reader.page.get_by_role("heading", name="链接无效")).to_be_visible()
    assert view.faults == []


@pytest.mark.parametrize(
    "look",
    [{}, {"locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 390, "height": 844}}],
    ids=["english", "chinese-dark-phone"],
)
def test_the_page_of_a_track_is_read_without_a_token_until_its_link_is_revoked(
    view: ConsolePage, pages: ConsolePages, track: dict[str, Any], job_id: str, look: dict[str, Any]
) -> None:
    view.show(f"#/track/{track['music_id']}")
    view.page.get_by_role("button", name="Read-only link").click()
    dialog = view.page.get_by_role("dialog", name="Read-only link")
    expect(dialog).to_contain_text("sees this page as it is when they open it")
    dialog.get_by_role("button", name="Create a link").click()
    entry = dialog.get_by_role("listitem")
    path = entry.get_by_role("link", name="Open").get_attribute("href")
    assert path is not None
    assert view.axe() == []

    reader = open_as_reader(pages, path, **look)
    expect(reader.page.locator("svg.plot .point").first).to_be_visible()
    expect(reader.page.locator("a")).to_have_count(0)
    assert job_id not in reader.page.content()
    assert (reader.axe(), reader.faults) == ([], [])

    dialog.get_by_role("button", name="Revoke").click()
    expect(entry).to_have_count(0)
    reader.page.reload()
    expect(reader.page.get_by_role("heading", name="This link is not valid")).to_be_visible()
    assert view.faults == []


def test_the_page_of_a_track_is_saved_as_a_file(
    view: ConsolePage, track: dict[str, Any], job_id: str
) -> None:
    assert job_id
    view.show(f"#/track/{track['music_id']}")
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name="Save as a web page").click()
    assert download.value.suggested_filename.endswith(" – demo data.html")
    assert view.faults == []


def test_a_link_that_is_refused_says_why(view: ConsolePage, job_id: str) -> None:
    view.page.route("**/sametrack/shared", lambda route: route.fulfill(status=403, json=refusal()))
    view.show(f"#/job/{job_id}")
    view.page.get_by_role("button", name="Read-only link").click()
    dialog = view.page.get_by_role("dialog", name="Read-only link")
    dialog.get_by_role("button", name="Create a link").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_a_refusal_stays_when_the_list_of_links_arrives_after_it(
    view: ConsolePage, job_id: str
) -> None:
    view.show(f"#/job/{job_id}")
    button = view.page.get_by_role("button", name="Read-only link")
    dialog = view.page.get_by_role("dialog", name="Read-only link")
    button.click()
    dialog.get_by_role("button", name="Create a link").click()
    entry = dialog.get_by_role("listitem")
    expect(entry).to_be_visible()
    dialog.get_by_role("button", name="Close").click()

    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    view.page.route("**/sametrack/shared", lambda route: route.fulfill(status=403, json=refusal()))
    view.page.route("**/sametrack/shared?*", hold)
    with view.page.expect_request("**/sametrack/shared?*"):
        button.click()
    dialog.get_by_role("button", name="Create a link").click()
    alert = dialog.get_by_role("alert")
    expect(alert).to_be_visible()
    for route in held:
        route.continue_()
    expect(entry).to_be_visible()
    expect(alert).to_be_visible()

    view.page.unroute_all()
    dialog.get_by_role("button", name="Revoke").click()
    expect(entry).to_have_count(0)
