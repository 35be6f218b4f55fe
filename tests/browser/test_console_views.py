"""A view is that of the request and of its address, and says which rows it leaves out."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from playwright.sync_api import Request, Route, expect

from api.schemas.examples import read_example
from pipelines.documents.result_plots import build_plots
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import (
    ACCOUNT,
    JOB_ID,
    TOKEN,
    answer,
    completed,
    hold_first,
    settle,
)

pytestmark = [pytest.mark.full, pytest.mark.browser]
FUNCTIONS = {
    "Tracks": "hot", "Song search": "search", "Chart": "chart", "Creators": "profile",
    "Posts": "posts", "Metrics": "metrics", "Parameters": "reference",
}  # fmt: skip
"""The seven functions of the interface, by their names in the menu."""
RANKING = f"**/jobs/{JOB_ID}/ranking?*"
ASKED = {"count": 100, "sort_by": "digg", "viral_only": True, "viral_threshold": 500}


def params_of(url: str) -> dict[str, str]:
    """The query of an address."""
    return {name: one[0] for name, one in parse_qs(urlsplit(url).query).items()}


def ranked(
    view: ConsolePage, shown: Callable[[dict[str, str]], dict[str, Any]]
) -> list[dict[str, str]]:
    """Answer each request for a ranking by what it asks for; returns what was asked."""
    asked: list[dict[str, str]] = []

    def take(route: Route) -> None:
        asked.append(params_of(route.request.url))
        route.fulfill(json=shown(asked[-1]))

    view.page.route(RANKING, take)
    return asked


def rows_of(count: int, *, asked: int, confirmed: int) -> dict[str, Any]:
    """A job that shows so many of its confirmed videos."""
    envelope = completed(count)
    envelope["data"]["parameters"]["count"] = asked
    envelope["data"]["result"] |= {"requested_count": asked, "confirmed_count": confirmed}
    return envelope


def test_each_function_of_the_interface_is_one_click_away(view: ConsolePage) -> None:
    for name, place in FUNCTIONS.items():
        view.show("#/nowhere")
        view.page.locator("nav").get_by_role("link", name=name, exact=True).click()
        expect(view.page.locator("main h1")).not_to_have_text("Page not found")
        assert view.page.url.endswith(f"#/{place}")
        expect(view.page.locator(".side [aria-current=page]")).to_have_text(name)


def test_the_tabs_of_a_creator_keep_the_account(view: ConsolePage) -> None:
    for pattern in ("fetch_user_post_videos", "fetch_user_metrics", "handler_user_profile"):
        answer(view, f"**/{pattern}?*", read_example(pattern))
    view.show(f"#/profile?id={ACCOUNT}")
    tabs = view.page.locator("main nav.tabs")
    for name in ("Posts", "Metrics", "Profile"):
        tabs.get_by_role("link", name=name).click()
        expect(tabs.locator("[aria-current=page]")).to_have_text(name)
        expect(view.page.get_by_label("Account", exact=True)).to_have_value(ACCOUNT)
    assert (view.axe(), view.faults) == ([], [])


def test_addresses_of_earlier_versions_open_their_views(view: ConsolePage) -> None:
    for place, title in (
        ("hot", "Which videos use this song?"), ("search", "Song search"), ("profile", "Creators"),
        ("compare", "Compare tracks"), ("time/video/73", "Over time"), ("metrics", "Creators"),
    ):  # fmt: skip
        view.show(f"#/{place}")
        expect(view.page.locator("main h1")).to_have_text(title)


def test_signing_in_is_offered_only_where_a_token_is_set(pages: ConsolePages) -> None:
    view = pages.open()
    button = view.page.get_by_role("button", name="Sign in")
    expect(button).to_have_count(0)
    session = {"required": True, "role": "read", "dagster_url": None, "shows_pictures": True}
    view.page.route("**/session", lambda route: route.fulfill(json=session))
    view.page.reload()
    expect(button).to_be_visible()


def test_a_stored_result_is_shown_as_the_new_request_views_it(view: ConsolePage) -> None:
    stored = rows_of(30, asked=30, confirmed=120)
    answer(view, "**/music_collection_jobs", stored | {"params": ASKED})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", stored)
    asked = ranked(view, lambda _: rows_of(7, asked=100, confirmed=120))
    view.show("#/hot")
    view.page.locator("textarea").fill("7300000000000000001")
    view.page.locator("button[type=submit].main-act").first.click()
    expect(view.page.locator("#panel")).to_contain_text("7 of 7 videos")
    assert asked == [
        {"count": "100", "sort_by": "digg", "viral_only": "true", "viral_threshold": "500"}
    ]
    assert params_of(view.page.url.replace("#", "")) == {
        "rows": "100", "sort": "digg", "viral": "1", "threshold": "500"
    }  # fmt: skip
    view.page.get_by_role("button", name="Viral ≥ 500 likes").click()
    expect(view.page.get_by_label("Viral videos only")).to_be_checked()


def test_each_scan_of_a_batch_is_shown_as_the_batch_views_it(view: ConsolePage) -> None:
    stored = rows_of(30, asked=30, confirmed=120)
    item = {"ok": True, "status": "completed", "error": None, "result": stored["data"]["result"]}
    items = [item | {"input": name, "job_id": JOB_ID} for name in ("one", "other")]
    batch = stored | {"params": ASKED, "data": {"items": items[:1], "notes": []}}
    batch["data"]["items"].append(items[1] | {"ok": False, "error": {"type": "x", "detail": "no"}})
    answer(view, "**/fetch_music_hot_videos_batch", batch)
    answer(view, f"**/music_collection_jobs/{JOB_ID}", stored)
    asked = ranked(view, lambda _: rows_of(3, asked=100, confirmed=120))
    view.show("#/hot")
    view.page.locator("textarea").fill("7300000000000000001\n7300000000000000002")
    view.page.locator("button[type=submit].main-act").first.click()
    expect(view.page.locator("main ol.list li")).to_have_count(3)
    view.page.get_by_role("link", name="Open full result").click()
    expect(view.page.locator("#panel")).to_contain_text("3 of 3 videos")
    assert {one["sort_by"] for one in asked} == {"digg"}


def test_tracks_of_a_batch_are_compared_with_one_click(view: ConsolePage) -> None:
    other_job = JOB_ID.replace(JOB_ID[:8], "00000000")
    musics = {JOB_ID: "7300000000000000001", other_job: "7300000000000000002"}
    for job_id, music_id in musics.items():
        stored = rows_of(1, asked=30, confirmed=1)
        stored["data"] |= {"job_id": job_id}
        stored["data"]["result"] |= {"music_id": music_id}
        answer(view, f"**/music_collection_jobs/{job_id}", stored)
    ranked(view, lambda _: rows_of(1, asked=30, confirmed=1))
    view.show(f"#/jobs/{'%2C'.join(musics)}")
    link = view.page.get_by_role("link", name="Compare these tracks")
    ids = (link.get_attribute("href") or "").partition("ids=")[2]
    assert sorted(unquote(ids).split(",")) == sorted(musics.values())


def test_all_rows_are_part_of_the_address_and_offered_only_while_there_are_more(
    view: ConsolePage,
) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", rows_of(30, asked=30, confirmed=120))

    def shown(asked: dict[str, str]) -> dict[str, Any]:
        is_viral, count = asked.get("viral_only") == "true", int(asked.get("count", 30))
        return rows_of(6 if is_viral else min(count, 120), asked=count, confirmed=120)

    ranked(view, shown)
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_role("button", name="Show all 120").click()
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text("120 of 120 videos")
    assert "rows=120" in view.page.url
    expect(panel.get_by_role("button", name="Show all")).to_have_count(0)
    panel.get_by_role("button", name="Viral ≥").click()
    view.page.get_by_label("Viral videos only").check()
    expect(panel).to_contain_text("6 of 6 videos")
    expect(panel.get_by_role("button", name="Show")).to_have_count(0)
    view.show("#/nowhere")
    view.show(f"#/job/{JOB_ID}?rows=120")
    expect(panel).to_contain_text("120 of 120 videos")


def test_a_scan_for_viral_videos_can_show_the_others(view: ConsolePage) -> None:
    envelope = rows_of(2, asked=30, confirmed=9)
    envelope["data"]["parameters"]["viral_only"] = True
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    asked = ranked(view, lambda _: rows_of(9, asked=30, confirmed=9))
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_role("button", name="Viral ≥").click()
    box = view.page.get_by_label("Viral videos only")
    expect(box).to_be_checked()
    box.uncheck()
    expect(view.page.locator("#panel")).to_contain_text("9 of 9 videos")
    assert asked == [{"viral_only": "false"}]


@pytest.mark.parametrize(
    ("locale", "note"),
    [
        ("en-GB", "never confirmed, never in the ranking or in totals"),
        ("zh-CN", "不计入确认数，也不计入排行和合计"),
    ],
)
def test_versions_are_shown_with_their_scores(pages: ConsolePages, locale: str, note: str) -> None:
    envelope = rows_of(1, asked=1, confirmed=1)
    result = envelope["data"]["result"]
    video = {**result["aweme_list"][0], "evidence": {"comparison_id": "c1"}}
    listed = [{**video, "aweme_id": f"74{score}", "version_score": score} for score in (0.7, 0.9)]
    result["versions"] = {"count": 2, "aweme_list": listed}
    view = pages.open(locale=locale)
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}?tab=versions")
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text(note)
    expect(panel.locator("tr.data")).to_have_count(2)
    expect(panel.locator("tr.data").first).to_contain_text("0.90")
    evidence = panel.locator("tr.data").first.locator("a[href='#/evidence/c1']")
    expect(evidence).to_have_count(1)
    assert (view.axe(), view.faults) == ([], [])


def test_the_card_of_a_version_on_a_phone_shows_its_score_instead_of_a_hot_score(
    pages: ConsolePages,
) -> None:
    envelope = rows_of(1, asked=1, confirmed=1)
    result = envelope["data"]["result"]
    video = {**result["aweme_list"][0], "evidence": {"comparison_id": "c1"}, "version_score": 0.53}
    result["versions"] = {"count": 1, "aweme_list": [video]}
    view = pages.open(viewport={"width": 390, "height": 844})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}?tab=versions")
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text("Version score 0.53")
    expect(panel).not_to_contain_text("Hot score")


def test_a_result_that_was_not_searched_for_versions_says_so(view: ConsolePage) -> None:
    envelope = rows_of(1, asked=1, confirmed=1)
    envelope["data"]["result"]["versions"] = None
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    view.show(f"#/job/{JOB_ID}?tab=versions")
    expect(view.page.locator("#panel")).to_contain_text("did not look for other versions")


def test_variants_say_how_many_are_shown(view: ConsolePage) -> None:
    envelope = rows_of(1, asked=1, confirmed=1)
    result = envelope["data"]["result"]
    variant = {**result["aweme_list"][0], "variant_kind": "changed", "speed": 1.2, "semitones": 0.0}
    result["variants"] |= {"count": 3, "aweme_list": [variant]}

    def shown(asked: dict[str, str]) -> dict[str, Any]:
        other = rows_of(1, asked=3, confirmed=1)
        many = [{**variant, "aweme_id": f"74{number}"} for number in range(3)]
        kept = [] if asked.get("viral_only") == "true" else many
        other["data"]["result"]["variants"] |= {"count": 3, "aweme_list": kept}
        return other

    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    ranked(view, shown)
    view.show(f"#/job/{JOB_ID}?tab=variants")
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text("1 of 3 videos")
    panel.get_by_role("button", name="Show all 3").click()
    expect(panel.locator("tr.data")).to_have_count(3)
    panel.get_by_role("button", name="Viral ≥").click()
    panel.get_by_label("Viral videos only").check()
    expect(panel).to_contain_text("No matches for these filters")
    assert (view.axe(), view.faults) == ([], [])


def test_a_filter_without_search_results_does_not_blame_the_search(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(3))
    view.show(f"#/job/{JOB_ID}?tab=related&level=exact_title")
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text("No matches for these filters")
    expect(panel).not_to_contain_text("The search returned nothing")


def test_plots_show_the_findings_of_the_service_and_what_is_left_out(view: ConsolePage) -> None:
    answer(view, f"**/music_collection_jobs/{JOB_ID}", rows_of(4, asked=4, confirmed=9))
    videos: Any = rows_of(4, asked=4, confirmed=9)["data"]["result"]["aweme_list"]
    videos[0]["statistics"]["digg_count"] = None
    plots = build_plots(
        videos,
        [{"linked_digg_count": likes} for likes in (70, 20, 10)],
        confirmed_count=9,
        viral_threshold=10_000,
    )
    answer(view, f"**/sametrack/jobs/{JOB_ID}/plots?*", {"data": plots})
    view.show(f"#/job/{JOB_ID}?tab=plots")
    panel = view.page.locator("#panel")
    expect(panel).to_contain_text("1 of 3 creators holds 70 % of the likes")
    expect(panel).to_contain_text("1 creator: 70 %")
    expect(panel).to_contain_text("Of 9 confirmed videos, the 4 ranked ones are drawn.")
    expect(panel).to_contain_text("without a known publication time or likes: 1 video.")
    marks = panel.get_by_role("slider", name=plots["likes"]["title"])
    marks.focus()
    view.page.keyboard.press("Home")
    expect(panel.locator(".reading", has_text="likes")).to_be_visible()


def test_the_room_of_cards_that_are_not_drawn_is_that_of_cards(view: ConsolePage) -> None:
    view.page.set_viewport_size({"width": 390, "height": 844})
    answer(view, f"**/music_collection_jobs/{JOB_ID}", completed(100))
    view.show(f"#/job/{JOB_ID}")
    card = view.page.locator(".cards li.data").first
    height = card.evaluate("card => card.offsetHeight")
    view.page.locator(".cards").evaluate("box => { box.scrollTop = 5000 }")
    gap = view.page.locator(".cards li.gap").first
    expect(gap).not_to_have_css("height", "0px")
    assert gap.evaluate("gap => gap.offsetHeight") % height == 0


@pytest.mark.parametrize(
    ("place", "pattern", "example", "part", "label"),
    [
        ("posts", "**/fetch_user_post_videos?*", "fetch_user_post_videos", "sort=1", "Order"),
        ("metrics", "**/fetch_user_metrics?*", "fetch_user_metrics", "days=365", "Days"),
    ],
)
def test_an_address_shows_its_order_and_its_days_on_the_open_page(
    view: ConsolePage, place: str, pattern: str, example: str, part: str, label: str
) -> None:
    answer(view, pattern, read_example(example))
    value = part.partition("=")[2]

    def is_asked(request: Request) -> bool:
        asked = params_of(request.url)
        return value in (asked.get("sort_type"), asked.get("days"))

    for account in (ACCOUNT, "MS4wLjABAAAAother"):  # the one that is shown, and another
        view.show(f"#/{place}?id={ACCOUNT}")
        view.page.wait_for_selector("main .figures, tr.data")
        with view.page.expect_request(is_asked):
            view.show(f"#/{place}?id={account}&{part}")
        expect(view.page.get_by_label(label, exact=True)).to_have_value(value)
        view.page.wait_for_selector("main .figures, tr.data")
        assert part in view.page.url


def test_a_token_in_a_later_address_is_taken_out_too(pages: ConsolePages) -> None:
    view = pages.open("#/reference")
    view.page.evaluate("place => { location.hash = place; }", f"#/hot?token={TOKEN}")
    expect(view.page.locator("[role=alert]").first).to_contain_text("A token in the address")
    assert TOKEN not in view.page.url


def test_an_answer_for_one_song_is_not_shown_under_another(view: ConsolePage) -> None:
    history = read_example("history")
    answer(view, "**/top500/history?*", history)

    def song(key: str) -> dict[str, Any]:
        lead = dict.fromkeys(("lead_days", "low_days", "high_days", "direction", "rise_before"))
        counts = dict.fromkeys(("observation_count", "work_count", "observed_day_count"), 0)
        data = {
            "song_key": key, "title": key, "artist": "", "links": [], "said": [],
            "platform": {"music_ids": [], "points": []},
            "lead": {**lead, **counts, "reason": "no_observations"},
            "chart": {
                "issue_count": 1, "kept_issue_count": 1, "best_rank": 1,
                "first_chart_date": "2026-03-13", "entry_after_date": None,
            },
        }  # fmt: skip
        return history | {"data": data}

    def asked_song(route: Route) -> None:
        route.fulfill(json=song(urlsplit(route.request.url).path.rpartition("/")[2]))

    view.page.route("**/chart/songs/*", asked_song)
    held = hold_first(view, "**/chart/links", history)
    view.show("#/chart?start=2026-01-01&end=2026-01-20&song=hash:one")
    card = view.page.locator(".card", has_text="Compared with the platform")
    card.locator("summary").click()
    card.get_by_label("Music id").fill("7400000000000000009")
    card.get_by_role("button", name="Same song").click()
    view.show("#/chart?start=2026-01-01&end=2026-01-20&song=hash:other")
    expect(card).to_contain_text("other")
    with view.page.expect_response("**/chart/links"):
        held[0].fulfill(json=song("hash%3Aone"))
    settle(view)
    expect(card).to_contain_text("hash%3Aother")
    expect(card).not_to_contain_text("hash%3Aone")


def test_the_chart_says_what_is_still_read_and_what_is_missing(view: ConsolePage) -> None:
    history = read_example("history")
    one = history["data"]["snapshots"][0]
    reasons = ("no_issue_within_10_days", "not_collected_yet", "upstream_rate_limited")
    gaps = [{**one, "songs": [], "reason": reason, "target_date": f"2026-01-0{at}"}
            for at, reason in enumerate(reasons, 1)]  # fmt: skip
    short = {**one, "songs": one["songs"][:3], "reason": "issue_incomplete"}
    whole = read_example("history")
    reported = {"end_date_cut": True, "issues_refreshed": False, "not_collected_count": 1}
    history["data"] |= {"snapshots": [short, *gaps], **reported}
    held = hold_first(view, "**/top500/history?*", whole)
    with view.page.expect_request("**/top500/history?*"):
        view.show("#/chart?start=2026-01-01&end=2026-01-20")
    settle(view)  # the request has reached this process
    held[0].fulfill(json=history)
    main = view.page.locator("main")
    for words in (
        "1 issue is still being read",
        "1 date has no issue within ten days: 2026-01-01",
        "1 issue has fewer than 20 songs:",
        "The list of issues could not be read again",
        "The latest issue is that of 2025-10-05",
    ):
        expect(main).to_contain_text(words)
    expect(main.locator(".card", has_text="Positions over time")).not_to_contain_text(
        "not_collected_yet"
    )
    assert view.axe() == []
    main.get_by_role("button", name="Try again").click()
    expect(main).not_to_contain_text("still being read")


def running(stage: str, **progress: Any) -> dict[str, Any]:
    """A scan that goes on."""
    envelope = completed(3)
    envelope["data"] |= {"status": "running", "result": None, "finished_at": None}
    envelope["data"]["progress"] |= {"stage": stage, **progress}
    return envelope


def test_a_running_scan_has_four_steps_and_one_estimate_that_moves(pages: ConsolePages) -> None:
    view = pages.open("#/reference")
    view.page.clock.install()
    answer(
        view,
        f"**/music_collection_jobs/{JOB_ID}",
        running("confirmed_videos", eta_range_s=[20.0, 40.0]),
    )
    view.page.route(f"**/jobs/{JOB_ID}/*", lambda route: route.abort())
    view.show(f"#/job/{JOB_ID}")
    main = view.page.locator("main")
    expect(main).to_contain_text("about 30 s left")
    steps = main.locator(".steps li")
    expect(steps).to_have_text(["Find the videos", "Read the details", "Compare the audio", "Rank"])
    states = steps.evaluate_all("all => all.map((step) => step.dataset.state)")
    assert states == ["done", "done", "now", "next"]
    view.page.clock.run_for(10_000)
    expect(main).to_contain_text("about 20 s left")
    view.page.clock.run_for(17_000)
    expect(main).to_contain_text("almost done")


def test_a_completed_result_is_scanned_again_with_the_same_parameters(view: ConsolePage) -> None:
    stored = completed(3)
    answer(view, f"**/music_collection_jobs/{JOB_ID}", stored)
    answer(view, "**/music_collection_jobs", running("resolving"))
    view.show(f"#/job/{JOB_ID}")
    expect(view.page.locator("main .lead")).to_contain_text("Result of")
    with view.page.expect_request(lambda request: request.method == "POST") as sent:
        view.page.get_by_role("button", name="Scan again").click()
    body: Any = sent.value.post_data_json
    asked = {**stored["data"]["parameters"], "input": stored["data"]["input"], "refresh": True}
    assert body == asked


def test_the_first_scan_of_a_track_says_what_may_come_next(view: ConsolePage) -> None:
    for runs in (1, 2):
        envelope = completed(3)
        result = envelope["data"]["result"]
        result["discovery"]["confirmed_graph_observation_history"]["run_count"] = runs
        answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
        view.show("#/nowhere")
        view.show(f"#/job/{JOB_ID}")
        view.page.wait_for_selector("#panel table")
        compare = view.page.locator("main .lead a", has_text="Compare it?")
        expect(compare).to_have_count(1 if runs == 1 else 0)
        if runs == 1:
            place = compare.get_attribute("href")
            assert place == f"#/compare?ids={envelope['data']['music_id']}"


def test_recent_scans_are_cards_with_what_changed(view: ConsolePage) -> None:
    job = completed(1)["data"] | {"result": None, "music_id": "7300000000000000001"}

    def scan(number: int, count: int, **changes: Any) -> dict[str, Any]:
        progress = job["progress"] | {"confirmed_count": count}
        finished_at = f"2026-01-{number:02}T12:00:00Z"
        more = {"job_id": f"scan-{number}", "finished_at": finished_at, "progress": progress}
        document: dict[str, Any] = job | more | changes
        return document

    jobs = [
        scan(9, 0, status="running", music_id="7300000000000000002", finished_at=None),
        scan(8, 53), scan(7, 0, status="failed"), scan(6, 48), scan(5, 40),
    ]  # fmt: skip
    tracks = {"7300000000000000001": {"title": "Paper Boats", "author": "Mia"}}
    answer(
        view,
        "**/sametrack/jobs?*",
        read_example("history") | {"data": {"jobs": jobs, "tracks": tracks}},
    )
    view.show("#/hot")
    cards = view.page.locator("main .scan")
    expect(cards).to_have_count(2)
    expect(cards.nth(0)).to_contain_text("Running")
    for words in ("Paper Boats", "53 videos", "+5 since 6 Jan 2026"):
        expect(cards.nth(1)).to_contain_text(words)
    assert (view.axe(), view.faults) == ([], [])


def test_a_hit_of_the_song_search_is_scanned_and_leads_to_its_account(view: ConsolePage) -> None:
    envelope = completed(3)
    envelope["data"]["result"]["keyword"] = "Paper Boats"
    answer(view, f"**/music_collection_jobs/{JOB_ID}", envelope)
    answer(view, "**/music_collection_jobs", running("resolving"))
    view.show(f"#/job/{JOB_ID}")
    row = view.page.locator("#panel tr.data").first
    hit = envelope["data"]["result"]["search_related"]["aweme_list"][0]
    account = row.locator("a[href^='#/profile']")
    assert account.get_attribute("href") == f"#/profile?id={hit['author']['sec_uid']}"
    with view.page.expect_request(lambda request: request.method == "POST") as sent:
        row.get_by_role("button", name="Scan this").click()
    body: Any = sent.value.post_data_json
    assert body == {"input": hit["source_music_id"]}


def test_jobs_are_read_again_while_one_of_them_goes_on(pages: ConsolePages) -> None:
    job = {"job_id": JOB_ID, "input": "7300000000000000001", "music_id": None, "created_at": None}
    asked: list[str] = []  # once more as soon as it is known that one goes on

    def jobs(route: Route) -> None:
        asked.append(route.request.url)
        finished_at = None if len(asked) < 3 else "2026-01-31T12:00:00Z"
        row = job | {
            "status": "completed" if finished_at else "running",
            "finished_at": finished_at,
        }
        route.fulfill(json=read_example("history") | {"data": {"jobs": [row], "tracks": {}}})

    view = pages.open("#/reference")
    view.page.clock.install()
    view.page.route("**/sametrack/jobs?limit=50", jobs)
    with view.page.expect_response(lambda _: len(asked) == 2):
        view.show("#/hot")
    main = view.page.locator("main")
    expect(main).to_contain_text("Running")
    view.page.clock.run_for(5000)
    expect(main).to_contain_text("Completed")


def test_the_same_observations_are_read_again_when_they_are_asked_for_again(
    view: ConsolePage,
) -> None:
    asked: list[str] = []

    def series(route: Route) -> None:
        asked.append(route.request.url)
        data: dict[str, Any] = {
            "kind": "video",
            "id": "73",
            "name": None,
            "measures": [],
            "points": [],
        }
        route.fulfill(json=read_example("history") | {"data": data})

    view.page.route("**/series/video/73", series)
    view.show("#/time/video/73")
    show = view.page.get_by_role("button", name="Show")
    expect(show).to_be_enabled()
    with view.page.expect_response("**/series/video/73"):
        show.click()
    assert len(asked) == 2
