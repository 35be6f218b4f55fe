"""Hashtags lead from the videos that have them to their videos, and are watched there."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import ACCOUNT, JOB_ID, answer, completed, refusal

pytestmark = [pytest.mark.full, pytest.mark.browser]

CH_ID = "1897292724585310112"
NAME = "慢半拍潜水艇"
LIST = "**/fetch_hashtag_video_list?*"


def test_a_ranked_video_and_a_post_lead_to_their_hashtags(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(1))
    answer(view, "**/fetch_user_post_videos?*", read_example("fetch_hashtag_video_list"))
    view.show(f"#/job/{JOB_ID}?columns=hashtags")
    chip = view.page.locator("#panel a.chip").first
    expect(chip).to_have_text("#纸船")
    expect(chip).to_have_attribute("href", "#/hashtag/1600000000000001")
    view.show(f"#/posts?id={ACCOUNT}")
    chip = view.page.locator("main tr.data a.chip", has_text=NAME).first
    expect(chip).to_have_attribute("href", f"#/hashtag/{CH_ID}")
    assert view.axe() == []
    assert view.faults == []


def test_hashtags_that_a_source_did_not_show_are_unknown(view: ConsolePage) -> None:
    envelope = read_example("fetch_user_post_videos")
    videos = envelope["data"]["aweme_list"]
    videos[0]["hashtags"], videos[1]["hashtags"] = None, []
    answer(view, "**/fetch_user_post_videos?*", envelope)
    view.show(f"#/posts?id={ACCOUNT}")
    rows = view.page.locator("main tr.data")
    expect(rows.nth(1)).to_be_visible()
    column = view.page.locator("main thead th").all_inner_texts().index("Hashtags")
    expect(rows.nth(0).locator("td").nth(column)).to_have_text("—")
    expect(rows.nth(1).locator("td").nth(column)).to_have_text("")


@pytest.mark.parametrize(
    "look",
    [{}, {"locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 390, "height": 844}}],
    ids=["english", "chinese-dark-phone"],
)
def test_a_hashtag_shows_its_videos_and_a_button_that_watches_it(
    pages: ConsolePages, look: dict[str, Any]
) -> None:
    view = pages.open(**look)
    answer(view, LIST, read_example("fetch_hashtag_video_list"))
    view.show(f"#/hashtag/{CH_ID}")
    main = view.page.locator("main")
    expect(main.locator("h1")).to_have_text(f"#{NAME}")
    expect(main.locator(".data").first).to_be_visible()
    assert view.axe() == []
    main.get_by_role("button", name="加入监控" if look else "Watch", exact=True).click()
    expect(view.page.locator("dialog[open] h2")).to_contain_text(NAME)
    with view.page.expect_request("**/sametrack/watchlists") as sent:
        answer(view, "**/sametrack/watchlists", refusal())
        view.page.locator("dialog[open] button[type=submit]").click()
    assert (sent.value.post_data_json or {})["entries"] == [{"kind": "hashtag", "input": CH_ID}]
    assert (view.faults, view.broken_rules()) == ([], [])


def test_the_service_sorts_a_hashtag_by_likes_and_time_and_pages_in_that_order(
    view: ConsolePage,
) -> None:
    requested: list[dict[str, list[str]]] = []

    def videos(route: Route) -> None:
        requested.append(parse_qs(urlsplit(route.request.url).query))
        envelope = read_example("fetch_hashtag_video_list")
        for video in envelope["data"]["aweme_list"]:
            video["aweme_id"] += str(len(requested))
        route.fulfill(json=envelope)

    view.page.route(LIST, videos)
    view.show(f"#/hashtag/{CH_ID}")
    rows = view.page.locator("main tr.data")
    expect(rows).to_have_count(10)

    def press(button: Locator) -> None:
        with view.page.expect_response(LIST):
            button.click()

    def head(name: str) -> Locator:
        return view.page.get_by_role("columnheader", name=name)

    press(head("Likes").get_by_role("button"))
    view.page.wait_for_url("**sort=1")
    press(view.page.get_by_role("button", name="Show more"))
    press(head("Comments").get_by_role("button"))
    expect(head("Comments")).to_have_attribute("aria-sort", "descending")
    press(head("Published").get_by_role("button"))
    view.page.wait_for_url("**sort=2")
    expect(rows).to_have_count(10)
    orders = [(query["sort_type"], query["cursor"]) for query in requested]
    assert orders == [
        (["0"], ["0"]), (["1"], ["0"]), (["1"], ["1048586"]), (["0"], ["0"]), (["2"], ["0"]),
    ]  # fmt: skip


def test_an_unknown_hashtag_says_what_to_do(view: ConsolePage) -> None:
    view.page.route(LIST, lambda route: route.fulfill(status=400, json=refusal()))
    view.show("#/hashtag/1")
    expect(view.page.locator("main .note.bad")).to_be_visible()
    assert view.faults == []
