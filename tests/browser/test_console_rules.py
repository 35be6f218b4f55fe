"""What a page must never do, whatever it is given; and how much it loads."""

import base64
import copy
import json
import re
import shlex
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from api.responses.errors import ERROR_SPECS
from api.schemas.examples import read_example
from pipelines.parameters.scan import SORT_LABELS, SORT_ORDERS
from tests.browser.console_pages import ConsolePage, ConsolePages

pytestmark = [pytest.mark.full, pytest.mark.browser]
FIRST_LOAD_BYTES = 120_000
TOKEN = "sesam-42-sesam-42-sesam-42"
ACCOUNT = "MS4wLjABAAAAaccount"
JOB_ID = "0b1f4c7e-6f0a-4a53-9d3a-2f6f5a1c9e21"
MARKUP = (
    "<script>window.hasRun=true</script>", "<img src=x onerror=window.hasRun=true>",
    "<svg onload=window.hasRun=true>", "javascript:window.hasRun=true", "</title><b>",
    "{{constructor.constructor('window.hasRun=true')()}}", "<iframe srcdoc='<script>1</script>'>",
    "\u202eesrever\u202c", "\u2066isolate", "a\u0000b\u0007c\u001b[31m", '=HYPERLINK("x")',
    "مرحبا بالعالم", "שלום עולם", "👩‍👩‍👧‍👦🇨🇳", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
    "\ufeff\u200b\u200f", "x" * 600, "` ${window.hasRun=true} `", "&lt;b&gt;&amp;",
    "\\u003cscript\\u003e",
)  # fmt: skip
PLACES = (
    "hot", "search", "compare", "chart", "profile", "posts", "metrics", "time", "reference",
    "operator", "sql", f"job/{JOB_ID}", "hashtag/1897292724585310112", "nowhere",
)  # fmt: skip
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LAST = "[...document.querySelectorAll('main :is(a, button, summary)')].at(-1).focus()"
HOSTILE = [f"{text}{number or ''}" for number in range(10) for text in MARKUP]


def completed(count: int) -> dict[str, Any]:
    """The answer of a completed job with so many works, texts out of the corpus."""
    envelope = read_example("music_collection_job")
    job = envelope["data"]
    result = job["result"]
    job.update(job_id=JOB_ID, status="completed", input=HOSTILE[1])
    example = result["aweme_list"][0]
    result["aweme_list"] = [hostile_video(example, at) for at in range(count)]
    result["music"]["title"], result["music"]["author"] = HOSTILE[0], HOSTILE[2]
    result.update(returned_count=count, confirmed_count=count, requested_count=count)
    result["search_related"]["aweme_list"] = [
        {**hostile_video(example, at), "search_relevance_level": HOSTILE[at]} for at in range(60)
    ]
    for account in result["account_summary"]["accounts"]:
        account["nickname"] = HOSTILE[3]
        account["unique_id"] = HOSTILE[7]
    return envelope


def hostile_video(example: dict[str, Any], at: int) -> dict[str, Any]:
    text = HOSTILE[at % len(HOSTILE)]
    video = copy.deepcopy(example)
    video.update(
        aweme_id=str(7350000000000000000 + at), rank=at + 1, desc=text, hot_score=10**6 - at,
        share_url="javascript:window.hasRun=true", source_music_title=text,
    )  # fmt: skip
    video["author"].update(nickname=text, unique_id=text)
    return video


def answer(view: ConsolePage, pattern: str, envelope: dict[str, Any]) -> None:
    def fulfil(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=json.dumps(envelope))

    view.page.route(pattern, fulfil)


def test_the_first_load_is_small_compressed_and_from_nowhere_else(pages: ConsolePages) -> None:
    view = pages.open("healthz", wait=False)
    sizes: list[int] = []
    codings: set[str] = set()

    def weigh(response: Any) -> None:
        sizes.append(response.request.sizes()["responseBodySize"])
        codings.add(response.header_value("content-encoding") or "plain")

    view.page.on("requestfinished", lambda request: weigh(request.response()))
    view.go("")
    view.page.wait_for_load_state("networkidle")
    assert 30_000 < sum(sizes) < FIRST_LOAD_BYTES
    assert "gzip" in codings or "zstd" in codings or "br" in codings
    assert view.hosts == {pages.base.partition("//")[2]}


def test_foreign_texts_run_nothing_and_break_no_rule(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(len(HOSTILE)))
    view.show(f"#/job/{JOB_ID}")
    view.page.wait_for_selector("tbody tr.data")
    seen: set[str] = set()
    for part in range(40):
        view.page.evaluate(
            "at => { document.querySelector('.table-wrap').scrollTop = at }", part * 320
        )
        view.page.wait_for_timeout(20)
        seen |= set(view.page.locator("tbody tr.data .rank").all_inner_texts())
    for tab in ("accounts", "plots", "related", "coverage"):
        view.page.locator(f'[data-tab="{tab}"]').click()
        view.page.wait_for_selector("#panel table, #panel svg.graph")
    assert len(seen) == len(HOSTILE) == 200
    assert view.page.evaluate("window.hasRun") is False
    assert view.page.locator("main script, main iframe, main a[href^='javascript']").count() == 0
    assert (view.faults, view.broken_rules()) == ([], [])


def test_five_hundred_rows_are_drawn_by_those_in_sight(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(500))
    view.show(f"#/job/{JOB_ID}")
    view.page.wait_for_selector("tbody tr.data")
    assert view.page.locator("tbody tr.data").count() < 60
    assert view.page.locator("table").first.get_attribute("aria-rowcount") == "501"


def test_a_token_in_the_address_is_refused_and_taken_out(pages: ConsolePages) -> None:
    view = pages.open("healthz", wait=False)
    for place in ("?token={}", "#/hot?access_token={}", "?x-api-key={}"):
        view.go("healthz", wait=False)  # so that the next address is loaded
        view.go(place.format(TOKEN))
        expect(view.page.locator("[role=alert]").first).to_be_visible()
        assert TOKEN not in view.page.url


def test_a_service_that_is_gone_is_said_and_found_again(view: ConsolePage) -> None:
    view.page.route("**/api/**", lambda route: route.abort())
    view.show("#/operator")
    expect(view.page.locator(".strip.off")).to_be_visible()
    view.page.unroute_all()
    view.page.locator(".strip.off button").click()
    expect(view.page.locator(".strip.off")).to_have_count(0)
    assert view.broken_rules() == []


@pytest.mark.parametrize("width", [1024, pytest.param(1440, marks=pytest.mark.soak)])
def test_no_view_is_wider_than_its_window(view: ConsolePage, width: int) -> None:
    view.page.set_viewport_size({"width": width, "height": 844})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(40))
    for place in PLACES:
        assert (place, is_too_wide(view, place)) == (place, False)


def test_every_view_fits_a_phone_and_is_accessible_there_while_it_is_empty(
    pages: ConsolePages,
) -> None:
    view = pages.open(viewport={"width": 390, "height": 844}, color_scheme="dark")
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(40))
    for place in PLACES:
        assert (place, is_too_wide(view, place), view.axe()) == (place, False, [])


def is_too_wide(view: ConsolePage, place: str) -> bool:
    """Whether a view, once it had time to be drawn, needs more than the width of its window."""
    view.show(f"#/{place}")
    view.page.wait_for_timeout(60)
    over: int = view.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return over > 0


def refuse(view: ConsolePage, pattern: str, status: int, envelope: dict[str, Any]) -> None:
    """Answer requests with an error."""
    view.page.route(pattern, lambda route: route.fulfill(status=status, json=envelope))


def refusal() -> dict[str, Any]:
    """The envelope of an error."""
    error = {"type": "warehouse_unavailable", "detail": "It is away", "hint": "Try again later"}
    return read_example("history") | {"data": {"error": error}}


def test_no_error_of_the_service_is_shown_as_it_is(pages: ConsolePages) -> None:
    for locale in ("en-GB", "zh-CN"):
        view = pages.open("#/profile", locale=locale)
        for kind, spec in ERROR_SPECS.items():
            detail = f"The detail of {kind} is for programs"
            error = {"type": kind, "detail": detail, "hint": "The hint is, too"}
            envelope = read_example("history") | {"message": "m", "message_zh": "m"}
            envelope["data"] = {"error": error}
            status = 403 if spec.status == 401 else spec.status  # 401 asks for a token first
            refuse(view, "**/handler_user_profile?*", status, envelope)
            view.show(f"#/profile?id={ACCOUNT}{kind}")
            note = view.page.locator("main .note.bad")
            expect(note.locator("details")).to_contain_text(detail)
            shown = note.inner_text()
            assert (kind, "for programs" in shown, "hint" in shown) == (kind, False, False)
            words = re.sub(r"sametrack \w+", "", shown)  # a command is the same in both languages
            assert locale == "en-GB" or re.search("[a-z]+ [a-z]+", words) is None
            view.page.unroute_all()
        assert view.axe() == []


def test_an_error_about_a_value_names_it_with_its_limits(view: ConsolePage) -> None:
    error = {
        "type": "invalid_parameter",
        "detail": "`candidate_limit`: input should be less than or equal to 2000, not 5000",
    }
    envelope = read_example("history") | {"data": {"error": error}}
    view.page.route(
        "**/music_collection_jobs", lambda route: route.fulfill(status=400, json=envelope)
    )
    view.show("#/hot")
    view.page.locator("textarea").fill("7300000000000000001")
    view.page.locator("textarea").press("Enter")
    expect(view.page.locator("form .note.bad")).to_contain_text("Videos to check: 15 to 2000")


def test_the_focus_is_never_under_the_header(view: ConsolePage) -> None:
    view.page.set_viewport_size({"width": 1024, "height": 500})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(6))
    for place in (f"job/{JOB_ID}", "reference"):
        view.show(f"#/{place}")
        view.page.wait_for_selector("main table, main details")
        view.page.evaluate(LAST)
        for _ in range(40):
            view.page.keyboard.press("Shift+Tab")
            hidden = view.page.evaluate(
                """() => {
                  const focused = document.activeElement;
                  if (!focused.closest("main")) return null;
                  const bar = document.querySelector(".bar").getBoundingClientRect();
                  const isHidden = focused.getBoundingClientRect().bottom <= bar.bottom;
                  return isHidden ? focused.outerHTML : null;
                }"""
            )
            assert hidden is None


def test_a_wide_window_is_used(view: ConsolePage) -> None:
    view.page.set_viewport_size({"width": 2560, "height": 1300})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(6))
    view.show(f"#/job/{JOB_ID}")
    box = view.page.locator("#panel table").bounding_box()
    assert box is not None
    assert box["width"] > 2000


def hold_first(view: ConsolePage, pattern: str, other: dict[str, Any]) -> list[Route]:
    """Answer requests with `other`, but the first: the test answers that one."""
    held: list[Route] = []

    def take(route: Route) -> None:
        if held:
            route.fulfill(json=other)
        else:
            held.append(route)

    view.page.route(pattern, take)
    return held


def settle(view: ConsolePage) -> None:
    """Let the page draw what it has been given."""
    frames = "requestAnimationFrame(() => requestAnimationFrame(done))"
    view.page.evaluate(f"new Promise((done) => {frames})")


def ask_module(view: ConsolePage, module: str, expression: str) -> Any:
    """What an expression over a module `m` of the page gives."""
    return view.page.evaluate(f"import('/console/app/{module}').then((m) => {expression})")


def test_undoing_a_tempo_keeps_the_pitch_and_undoing_a_speed_restores_it(view: ConsolePage) -> None:
    tone = "Float32Array.from({length: 44100}, (_, n) => Math.sin(n * 2 * Math.PI * 440 / 44100))"
    crossings = "made.reduce((sum, value, n) => sum + (n && made[n - 1] < 0 && value >= 0), 0)"
    made = ask_module(
        view,
        "parts/media/player.js",
        f"{{ const made = m.stretched({tone}, 1.25, 44100); return [made.length, {crossings}]; }}",
    )
    assert made == [55_125, pytest.approx(550, abs=3)]  # 440 Hz for 1.25 s
    undone = ask_module(
        view,
        "parts/media/player.js",
        "[m.undoing(1.25, 0), m.undoing(1.25, 3.863), m.undoing(2, null)]",
    )
    assert [(one["rate"], one["factor"]) for one in undone] == [
        (1, 1.25), (pytest.approx(0.8, abs=1e-3), pytest.approx(1, abs=1e-3)), (0.5, 1),
    ]  # fmt: skip
    assert view.faults == []


def test_videos_are_ordered_by_the_birth_of_their_sounds(pages: ConsolePages) -> None:
    view = pages.open()  # whose browser keeps the choice of columns
    envelope = completed(4)
    births = ["2026-03-01T00:00:00Z", None, "2024-03-01T00:00:00Z", "2025-03-01T00:00:00Z"]
    videos = envelope["data"]["result"]["aweme_list"]
    for video, born in zip(videos, births, strict=True):
        video["music"] = (video["music"] or {}) | {"created_at": born}
        video["desc"] = f"born {born}"
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_role("button", name="Columns").click()
    view.page.get_by_label("Sound uploaded").check()
    view.page.get_by_role("columnheader", name="Sound uploaded").get_by_role("button").click()
    expect(view.page.get_by_role("columnheader", name="Sound uploaded")).to_have_attribute(
        "aria-sort", "ascending"
    )
    captions = view.page.locator("tr.data .two-lines").all_inner_texts()
    assert [text for text in captions if text.startswith("born")] == [
        f"born {born}" for born in sorted(filter(None, births))
    ] + ["born None"]


def test_pictures_of_rows_that_fly_past_are_asked_for_when_the_scrolling_rests(
    pages: ConsolePages,
) -> None:
    view = pages.open()
    page = view.page
    page.clock.install()
    page.route("**/pictures/**", lambda route: route.fulfill(body=DOT, content_type="image/png"))
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(1000))
    view.show(f"#/job/{JOB_ID}")
    page.wait_for_selector("tr.data img")
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.evaluate("document.querySelector('main .table-wrap').scrollTop = 30000")
    page.wait_for_selector("tr.data[aria-rowindex='480']")
    assert page.locator("tr.data img").count() == 0
    page.clock.run_for(200)
    page.wait_for_selector("tr.data[aria-rowindex='480'] img")
    assert page.locator("tr.data span.picture-tile").count() == 0


def test_the_service_sorts_and_the_page_shows_its_order(view: ConsolePage) -> None:
    envelope, other = completed(6), completed(6)
    other["data"]["result"]["aweme_list"].reverse()
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    answer(view, f"**/jobs/{JOB_ID}/ranking?sort_by=oldest", other)
    view.show(f"#/job/{JOB_ID}")
    first = "tbody tr.data:first-of-type .rank"
    view.page.wait_for_selector(first)
    before = view.page.locator(first).first.inner_text()
    chosen = view.page.get_by_label("Sort by")
    assert chosen.locator("option").count() == len(SORT_ORDERS)
    chosen.select_option(SORT_LABELS["oldest"][0])
    ranks = [str(one["rank"]) for one in other["data"]["result"]["aweme_list"]]
    view.wait_until(
        "([place, rank]) => document.querySelector(place)?.innerText === rank",
        [first, ranks[0]],
    )
    assert before != ranks[0]
    assert "sort=oldest" in view.page.url


def test_a_copied_request_holds_its_text_and_never_the_token(view: ConsolePage) -> None:
    asked = json.dumps({"method": "POST", "place": "/api/x?a=1", "body": {"input": "it's; $(id)"}})
    curl = ask_module(view, "parts/raw.js", f"m.toCurl({asked})")
    python = ask_module(view, "parts/raw.js", f"m.toPython({asked})")
    assert shlex.split(curl)[-1] == '{"input":"it\'s; $(id)"}'
    assert compile(python, "copied", "exec").co_consts
    assert TOKEN not in curl + python
    file = json.dumps({"method": "GET", "place": "/api/x.png", "file": "it's.png"})
    kept = ask_module(view, "parts/raw.js", f"[m.toCurl({file}), m.toPython({file})]")
    assert shlex.split(kept[0])[-2:] == ["-o", "it's.png"]
    assert compile(kept[1], "copied", "exec").co_consts


def test_marks_that_turn_or_hide_text_are_taken_out(view: ConsolePage) -> None:
    shown = ask_module(view, "format.js", 'm.visible("a\\u202eb\\u0007c\\u2066d\\ne")')
    assert shown == "ab\u2407cd e"


def test_a_saved_row_is_marked_as_demo_data_and_no_formula(view: ConsolePage) -> None:
    rows = json.dumps(
        [{"aweme_id": "73", "desc": "\n=1+1", "search_relevance_level": "exact_title"}]
    )
    saved = ask_module(view, "parts/export.js", f'm.rowsCsv({rows}, "search_related")')
    head, _, line = saved.partition("\r\n")
    assert head == "search_relevance_level,aweme_id,desc,is_demo_data"
    assert line == 'exact_title,73,"\'\n=1+1",True'


def test_a_file_gets_the_view_of_the_address(view: ConsolePage) -> None:
    def asked(address: dict[str, str]) -> dict[str, str]:
        found = ask_module(view, "parts/export.js", f"m.fileView({json.dumps(address)})")
        return {name: value for name, value in found.items() if value}

    shown = {"sort": "share", "viral": "1", "threshold": "7", "rows": "50", "account": " mia "}
    assert asked(shown) == {
        "sort_by": "share",
        "viral_only": "true",
        "viral_threshold": "7",
        "count": "50",
        "account": "mia",
    }
    by_name = asked({"sort": "-author", "columns": "music"})
    assert by_name["order"] == "-nickname"
    assert "sort_by" not in by_name
    assert {"rank", "source_music_title"} <= set(by_name["columns"].split(","))


def test_escape_gives_the_focus_back_to_what_opened(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(3))
    view.show(f"#/job/{JOB_ID}")
    opener = view.page.get_by_role("button", name="Columns")
    opener.click()
    view.page.locator(".sheet input").first.focus()
    view.page.keyboard.press("Escape")
    expect(view.page.locator(".sheet")).to_have_count(0)
    expect(opener).to_be_focused()


def test_a_saved_note_gives_the_focus_back_to_its_button(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(3))
    answer(view, "**/sametrack/notes*", read_example("history") | {"data": {"notes": []}})
    view.show(f"#/job/{JOB_ID}")
    opener = view.page.locator("main .note-pad button").first
    for name in ("Save", "Close"):
        opener.click()
        view.page.locator("dialog[open]").get_by_role("button", name=name).click()
        expect(view.page.locator("dialog[open]")).to_have_count(0)
        expect(opener).to_be_focused()


def test_the_parameters_are_read_again_after_a_failure(pages: ConsolePages) -> None:
    view = pages.open()
    failed = iter((True,))

    def reference(route: Route) -> None:
        if next(failed, False):
            route.fulfill(status=503, json=refusal())
        else:
            route.continue_()

    view.page.route("**/sametrack/reference", reference)
    view.show("#/reference")
    view.page.get_by_role("button", name="Try again").click()
    expect(view.page.locator("main details").first).to_be_visible()


def test_an_error_of_another_order_goes_with_it(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(6))
    failed = refusal()
    view.page.route(
        f"**/jobs/{JOB_ID}/ranking?sort_by=oldest",
        lambda route: route.fulfill(status=503, json=failed),
    )
    view.show(f"#/job/{JOB_ID}")
    chosen = view.page.get_by_label("Sort by")
    chosen.select_option(SORT_LABELS["oldest"][0])
    expect(view.page.locator("#panel .note.bad")).to_have_count(1)
    chosen.select_option("hot_score")
    expect(view.page.locator("#panel .note.bad")).to_have_count(0)


def test_further_posts_and_their_files_are_of_the_order_that_is_shown(view: ConsolePage) -> None:
    asked: list[str] = []

    def posts(route: Route) -> None:
        asked.append(route.request.url)
        envelope = read_example("fetch_user_post_videos")
        envelope["data"] |= {"has_more": True, "max_cursor": len(asked)}
        route.fulfill(json=envelope)

    view.page.route("**/fetch_user_post_videos?*", posts)
    view.page.route("**/sametrack/export?*", lambda route: route.abort())
    view.show(f"#/posts?id={ACCOUNT}")
    view.page.wait_for_selector("tr.data")
    view.page.get_by_label("Order").select_option("1")  # chosen, and not read yet
    view.page.get_by_role("button", name="Show more").click()
    view.page.get_by_role("button", name="Export the first").click()
    with view.page.expect_request("**/sametrack/export?*") as saved:
        view.page.locator(".sheet button").first.click()
    urls = [*asked, parse_qs(urlsplit(saved.value.url).query)["source"][0]]
    assert [parse_qs(urlsplit(url).query)["sort_type"] for url in urls] == [["0"]] * 3
    assert [parse_qs(urlsplit(url).query)["max_cursor"] for url in urls] == [["0"], ["1"], ["0"]]


def test_an_account_that_cannot_be_read_leaves_nothing_of_the_one_before(view: ConsolePage) -> None:
    answer(
        view,
        f"**/fetch_user_post_videos?sec_user_id={ACCOUNT}&*",
        read_example("fetch_user_post_videos"),
    )
    view.page.route(
        "**/fetch_user_post_videos?sec_user_id=MS4wLjABAAAAother*",
        lambda route: route.fulfill(status=400, json=refusal()),
    )
    view.show(f"#/posts?id={ACCOUNT}")
    view.page.wait_for_selector("tr.data")
    view.page.locator("main form input").first.fill("MS4wLjABAAAAother")
    view.page.locator("main form button[type=submit]").click()
    view.page.wait_for_selector("main .note.bad")
    assert view.page.locator("tr.data").count() == 0


def test_a_file_of_metrics_is_of_the_days_that_are_shown(view: ConsolePage) -> None:
    answer(view, "**/fetch_user_metrics?*", read_example("fetch_user_metrics"))
    view.page.route("**/sametrack/export?*", lambda route: route.abort())
    view.show(f"#/metrics?id={ACCOUNT}")
    view.page.wait_for_selector("main .figures")
    view.page.locator("main form input[type=number]").fill("365")  # and not read yet
    view.page.get_by_role("button", name="Export").click()
    with view.page.expect_request("**/sametrack/export?*") as saved:
        view.page.locator(".sheet button").first.click()
    source = parse_qs(urlsplit(saved.value.url).query)["source"][0]
    shown = read_example("fetch_user_metrics")["data"]["days"]
    assert parse_qs(urlsplit(source).query)["days"] == [str(shown)]


def test_a_period_that_comes_late_does_not_take_the_place_of_another(view: ConsolePage) -> None:
    def chart(name: str) -> dict[str, Any]:
        envelope = read_example("history")
        envelope["data"]["snapshots"][0]["issue_name"] = name
        envelope["data"]["snapshots"] = envelope["data"]["snapshots"][:1]
        return envelope

    held = hold_first(view, "**/top500/history?*", chart("another issue"))
    with view.page.expect_request("**/top500/history?*"):
        view.show("#/chart?start=2026-01-01&end=2026-01-20")
    view.show("#/chart?start=2026-02-01&end=2026-02-20")
    expect(view.page.locator("main")).to_contain_text("another issue")
    with view.page.expect_response("**/top500/history?*"):
        held[0].fulfill(json=chart("a late issue"))
    settle(view)
    assert "another issue" in view.page.locator("main").inner_text()


def test_an_answer_that_is_not_of_the_service_says_what_to_do(view: ConsolePage) -> None:
    view.page.route(
        "**/handler_user_profile?*", lambda route: route.fulfill(status=502, body="<h1>Bad</h1>")
    )
    view.show(f"#/profile?id={ACCOUNT}")
    note = view.page.locator("main .note.bad")
    expect(note).to_contain_text("The service does not respond")
    expect(note).to_contain_text("try again")


def test_an_account_that_comes_late_does_not_take_the_place_of_another(view: ConsolePage) -> None:
    name = "document.querySelector('.person h2')?.innerText"

    def named(nickname: str) -> dict[str, Any]:
        envelope = read_example("handler_user_profile")
        envelope["data"]["user"]["nickname"] = nickname
        return envelope

    held = hold_first(view, "**/handler_user_profile?*", named("other"))
    with view.page.expect_request("**/handler_user_profile?*"):
        view.show("#/profile?id=MS4wLjABAAAAfirst")
    view.show("#/profile?id=MS4wLjABAAAAother")
    view.wait_until(f"{name} === 'other'")
    with view.page.expect_response("**/handler_user_profile?*"):
        held[0].fulfill(json=named("first"))
    settle(view)
    assert view.page.evaluate(name) == "other"
    assert "other" in view.page.url


def test_a_service_that_is_away_for_a_while_is_asked_again_for_each_of_many_scans(
    pages: ConsolePages,
) -> None:
    view = pages.open()
    view.page.clock.install()
    running = completed(3)
    running["data"] |= {"status": "running", "result": None, "finished_at": None}
    steps = iter(("busy", "running", "gone", "busy"))

    def job(route: Route) -> None:
        if not route.request.url.endswith("-0"):
            route.fulfill(json=running)
            return
        match next(steps, "completed"):
            case "gone":
                route.abort()
            case "busy":
                route.fulfill(status=503, json=refusal())
            case step:
                route.fulfill(json=running if step == "running" else completed(3))

    view.page.route("**/music_collection_jobs/*", job)
    view.show("#/jobs/" + ",".join(f"scan-{number}" for number in range(4)))
    first = view.page.locator("section.card").first
    expect(first).to_contain_text("It is away")
    for step in range(4):
        with view.page.expect_event("requestfinished", lambda one: one.url.endswith("-1")):
            view.page.clock.run_for(1500)
        if step == 0:
            expect(first.locator("[role=progressbar]")).to_have_count(1)
            expect(first.locator(".note.bad")).to_have_count(0)
    expect(first).to_contain_text("Open full result")
