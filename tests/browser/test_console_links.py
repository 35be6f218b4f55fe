"""A read-only link in the console: created, opened by somebody without a token, revoked."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import refusal

pytestmark = [pytest.mark.full, pytest.mark.browser]


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

    reader = pages.open()
    asked: list[str] = []
    reader.page.on("request", lambda request: asked.append(request.url))
    reader.go(path.removeprefix("/"), wait=False)
    expect(reader.page.get_by_role("heading", name="Ranking")).to_be_visible()
    address = f"{reader.base}{path}"
    assert [url for url in asked if not url.startswith("data:")] == [address]
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


def test_a_link_that_is_refused_says_why(view: ConsolePage, job_id: str) -> None:
    view.page.route("**/sametrack/shared", lambda route: route.fulfill(status=403, json=refusal()))
    view.show(f"#/job/{job_id}")
    view.page.get_by_role("button", name="Read-only link").click()
    dialog = view.page.get_by_role("dialog", name="Read-only link")
    dialog.get_by_role("button", name="Create a link").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
