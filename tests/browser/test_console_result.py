"""The page of a result: its sentence, variants, what its cells say, what its rows can do."""

import csv
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import JOB_ID, answer, completed, refusal

pytestmark = [pytest.mark.full, pytest.mark.browser]
JOB = f"**/music_collection_jobs/{JOB_ID}"
RANKING = f"**/jobs/{JOB_ID}/ranking?*"
EVIDENCE = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
CHECKS = {
    "compared": {"kind": "compared", "verdict": "confirmed", "comparison_id": EVIDENCE},
    "reference": {"kind": "reference", "verdict": "confirmed", "comparison_id": EVIDENCE},
    "same_sound": {"kind": "same_sound", "verdict": "confirmed", "comparison_id": EVIDENCE},
    "not_compared": {"kind": "not_compared", "verdict": None, "comparison_id": None},
}


def with_hotter_variants(count: int = 3) -> dict[str, Any]:
    """A job with so many confirmed videos, and two variants that are hotter than all of them."""
    envelope = completed(count)
    result = envelope["data"]["result"]
    hotter = {"count": 2, "by_form": {"sped_up": 2}, "hot_scores": [9_000_000, 8_000_000]}
    result["variants"] = {"count": 2, "aweme_list": [], "by_kind": {"speed": 2}, "hotter": hotter}
    result["totals"] |= {"video_count": 53, "account_count": 18, "digg_count": 71_630}
    return envelope


def mixed() -> dict[str, Any]:
    """The same job with one of its variants in the ranking."""
    envelope = with_hotter_variants()
    result = envelope["data"]["result"]
    variant = {**result["aweme_list"][0], "variant_kind": "speed", "speed": 1.25, "semitones": 3.9}
    variant |= {"aweme_id": "7390000000000000001", "desc": "faster"}
    del variant["link_type"]
    result["aweme_list"].insert(0, variant)
    for rank, video in enumerate(result["aweme_list"], 1):
        video["rank"] = rank
    result["totals"] |= {"video_count": 55, "includes_variants": True}
    return envelope


def test_the_headline_says_what_was_found_and_that_variants_are_hotter(view: ConsolePage) -> None:
    answer(view, JOB, with_hotter_variants())
    view.show(f"#/job/{JOB_ID}")
    expect(view.page.locator("main .headline")).to_have_text(
        "53 videos by 18 creators, 71,630 likes; 2 sped-up versions are hotter"
    )
    expect(view.page.locator("main .notice")).to_contain_text("first place: 9,000,000, 8,000,000")
    assert view.axe() == []


def test_variants_are_ranked_counted_and_exported_when_they_are_included(
    view: ConsolePage,
) -> None:
    answer(view, JOB, with_hotter_variants())
    asked: list[str] = []

    def ranking(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=mixed())

    view.page.route(RANKING, ranking)
    view.page.route(
        "**/sametrack/export?*", lambda route: route.fulfill(status=503, json=refusal())
    )
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_role("button", name="Include variants").click()
    rows = view.page.locator("#panel tr.data")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("changed speed × 1.25")
    expect(view.page.locator("#panel tr.variant")).to_have_count(1)
    expect(view.page.locator("#panel [role=status]").first).to_contain_text("with variants: 55")
    expect(view.page.locator("main .headline")).to_contain_text("53 videos")  # the strict totals
    assert "variants=1" in view.page.url
    view.page.get_by_role("button", name="Export").click()
    with view.page.expect_request("**/sametrack/export?*") as saved:
        view.page.locator(".sheet button").first.click()
    source = parse_qs(urlsplit(saved.value.url).query)["source"][0]
    assert [parse_qs(urlsplit(url).query) for url in (*asked, source)] == [
        {"include_variants": ["true"]}
    ] * 2
    assert (view.axe(), view.faults) == ([], [])
    view.page.get_by_label("Include 2 variants").uncheck()
    expect(rows).to_have_count(3)


def test_each_row_says_whether_its_own_sound_was_compared_and_plays(view: ConsolePage) -> None:
    envelope = completed(4)
    videos = envelope["data"]["result"]["aweme_list"]
    for video, check in zip(videos, CHECKS.values(), strict=True):
        video["audio_check"] = check
    answer(view, JOB, envelope)
    played: list[str] = []

    def excerpt(route: Route) -> None:
        played.append(urlsplit(route.request.url).path)
        route.fulfill(status=404, json=read_example("history"))

    view.page.route("**/excerpt**", excerpt)
    view.show(f"#/job/{JOB_ID}")
    cells = view.page.locator("#panel td.cell-check")
    expect(cells).to_have_text(
        [
            "Confirmed",
            "reference of the comparisons",
            "sound id compared",
            "same sound id, not listened to",
        ]
    )
    links = cells.locator("a").evaluate_all("all => all.map((one) => one.hash)")
    assert links == [f"#/evidence/{EVIDENCE}"] * 3
    for cell in cells.all():
        with view.page.expect_response("**/excerpt**"):
            cell.get_by_role("button", name="Play").click()
    expect(view.page.get_by_text("The sound of this video cannot be read").last).to_be_visible()
    own = f"/api/v1/sametrack/comparisons/{EVIDENCE}/excerpt"
    beginning = "/api/v1/sametrack/videos/{}/excerpt"
    assert list(dict.fromkeys(played)) == [
        f"{own}/candidate", f"{own}/reference",
        beginning.format(videos[2]["aweme_id"]), beginning.format(videos[3]["aweme_id"]),
    ]  # fmt: skip


def test_a_threshold_that_no_video_reaches_says_the_most_likes(view: ConsolePage) -> None:
    answer(view, JOB, completed(3))
    nothing = completed(0)
    nothing["data"]["result"]["totals"]["max_digg_count"] = 8412
    answer(view, RANKING, nothing)
    view.show(f"#/job/{JOB_ID}")
    panel = view.page.locator("#panel")
    panel.get_by_role("button", name="Viral ≥ 10,000 likes").click()
    panel.get_by_label("Viral videos only").check()
    expect(panel.locator(".empty")).to_contain_text("No video has 10,000 likes")
    expect(panel.locator(".empty")).to_contain_text("The most liked video has 8,412 likes.")
    panel.get_by_label("A video is viral from").fill("500")
    panel.get_by_role("button", name="Apply").click()
    expect(panel.get_by_role("button", name="Viral ≥ 500 likes")).to_be_visible()
    assert "threshold=500" in view.page.url


def test_the_sorted_count_has_a_bar_and_all_four_counts_are_shown(view: ConsolePage) -> None:
    answer(view, JOB, completed(3))
    answer(view, RANKING, completed(3))
    view.show(f"#/job/{JOB_ID}")
    for name in ("Likes", "Comments", "Bookmarks", "Shares"):
        head = view.page.get_by_role("columnheader", name=name)
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "descending")
        expect(view.page.locator("#panel tr.data .cell-bar")).to_have_count(3)
    assert "sort=share" in view.page.url
    date = view.page.get_by_role("columnheader", name="Published")
    for direction, order in (("descending", "latest"), ("ascending", "oldest")):
        date.get_by_role("button").click()
        expect(date).to_have_attribute("aria-sort", direction)
        assert f"sort={order}" in view.page.url


def test_the_choice_of_columns_and_their_widths_are_kept_and_the_choice_is_in_the_link(
    pages: ConsolePages,
) -> None:
    view = pages.open()
    answer(view, JOB, completed(3))
    view.show(f"#/job/{JOB_ID}")
    view.page.get_by_role("button", name="Columns").click()
    view.page.get_by_label("Linked by").check()
    view.page.keyboard.press("Escape")
    assert "columns=link" in view.page.url
    link = view.page.url
    head = view.page.get_by_role("columnheader", name="Account")
    before = head.evaluate("head => head.offsetWidth")
    head.get_by_role("button").focus()
    for _ in range(3):
        view.page.keyboard.press("Shift+ArrowRight")
    expect(head).to_have_js_property("offsetWidth", before + 48)
    view.page.reload()
    expect(head).to_have_js_property("offsetWidth", before + 48)
    view.show("#/nowhere")
    view.show(f"#/job/{JOB_ID}")
    expect(view.page.get_by_role("columnheader", name="Linked by")).to_be_visible()
    expect(view.page).to_have_url(link)
    other = pages.open()
    answer(other, JOB, completed(3))
    other.show(f"#{link.partition('#')[2]}")
    expect(other.page.get_by_role("columnheader", name="Linked by")).to_be_visible()


def test_a_table_is_sorted_by_any_column_with_what_is_unknown_last(view: ConsolePage) -> None:
    envelope = completed(3)
    accounts = envelope["data"]["result"]["account_summary"]["accounts"]
    for account, followers in zip(accounts, (5, None, 70, 9), strict=True):
        account |= {"follower_count": followers, "nickname": f"account {followers}"}
    answer(view, JOB, envelope)
    view.show(f"#/job/{JOB_ID}?tab=accounts")
    head = view.page.get_by_role("columnheader", name="Followers")
    names = view.page.locator("#panel tr.data td:first-child a")
    head.get_by_role("button").click()
    expect(names).to_have_text(["account 70", "account 9", "account 5", "account None"])
    head.get_by_role("button").click()
    expect(names).to_have_text(["account 5", "account 9", "account 70", "account None"])
    assert "order=followers" in view.page.url
    view.page.go_back()
    expect(head).to_have_attribute("aria-sort", "descending")


def test_chosen_rows_are_exported_tagged_and_compared(pages: ConsolePages, tmp_path: Path) -> None:
    view = pages.open()
    answer(view, JOB, completed(5))
    written: list[Any] = []

    def notes(route: Route) -> None:
        if route.request.method == "POST":
            written.append(route.request.post_data_json)
        route.fulfill(json=read_example("history") | {"data": {"notes": []}})

    view.page.route("**/sametrack/notes*", notes)
    view.show(f"#/job/{JOB_ID}")
    for rank in (2, 4):
        view.page.get_by_label(f"Choose place {rank}", exact=True).check()
    bar = view.page.get_by_role("group", name="Chosen videos")
    expect(bar).to_contain_text("2 chosen")
    with view.page.expect_download() as saved:
        bar.get_by_role("button", name="Export (CSV)").click()
    saved.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["rank"] for row in csv.DictReader(file)] == ["2", "4"]
    bar.get_by_role("button", name="Tag").click()
    bar.get_by_label("Tags").fill("June, 六月")
    bar.get_by_role("button", name="Save").click()
    expect(view.page.locator(".toasts")).to_contain_text("Tags added")
    assert [note["tags"] for note in written] == [["June", "六月"]] * 2
    view.page.keyboard.press("Escape")
    bar.get_by_role("button", name="Compare").click()
    dialog = view.page.locator("dialog[open]")
    expect(dialog.locator("thead th")).to_have_count(3)
    expect(dialog.locator("tbody tr").nth(2)).to_contain_text("Likes")
    assert view.axe() == []
    dialog.get_by_role("button", name="Close").click()
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_have_count(0)
    assert view.faults == []


def test_the_creators_of_chosen_rows_are_watched_each_once(view: ConsolePage) -> None:
    envelope = completed(4)
    videos = envelope["data"]["result"]["aweme_list"]
    for video, account in zip(videos, ("one", "two", "one", None), strict=True):
        video["author"]["sec_uid"] = account and f"MS4wLjABAAAA{account}"
    answer(view, JOB, envelope)
    sent: list[Any] = []
    entry = {"kind": "account", "input": "MS4wLjABAAAAtwo", "subject": "MS4wLjABAAAAtwo"}
    stored = {"name": "songs", "every": "daily", "entries": [entry], "enabled": True}

    def watchlists(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(route.request.post_data_json)
        route.fulfill(json=read_example("history") | {"data": {"watchlists": [stored]}})

    view.page.route("**/sametrack/watchlists", watchlists)
    view.show(f"#/job/{JOB_ID}")
    bar = view.page.get_by_role("group", name="Chosen videos")
    view.page.get_by_label("Choose place 4", exact=True).check()
    expect(bar).to_contain_text("1 chosen")
    expect(bar.get_by_role("button", name="Watch")).to_have_count(0)  # its account is unknown
    view.page.get_by_label("Choose all rows").check()
    bar.get_by_role("button", name="Watch 2 creators").click()
    dialog = view.page.locator("dialog[open]")
    assert view.axe() == []
    dialog.get_by_role("button", name="Watch", exact=True).click()
    expect(dialog).to_have_count(0)
    # the other one is watched already
    assert [body["entries"] for body in sent] == [[{"kind": "account", "input": "MS4wLjABAAAAone"}]]
    assert view.faults == []


def test_the_ids_of_a_result_lead_to_the_track_and_to_the_video_of_its_sound(
    view: ConsolePage,
) -> None:
    envelope = completed(1)
    result = envelope["data"]["result"]
    result["music"]["born_with"] = {"aweme_id": "7310000000000000001"}
    answer(view, JOB, envelope)
    view.show(f"#/job/{JOB_ID}?columns=music")
    view.page.locator("main summary", has_text="Technical").click()
    facts = view.page.locator("main .summary dl.pairs")
    expect(facts.locator("a").nth(0)).to_have_attribute("href", f"#/track/{result['music_id']}")
    expect(facts.locator("a").nth(1)).to_have_attribute("href", "#/time/video/7310000000000000001")
    sound = result["aweme_list"][0]["source_music_id"]
    expect(view.page.locator(f"#panel td a[href='#/track/{sound}']")).to_have_count(1)


def test_a_focused_row_is_never_under_the_header(view: ConsolePage) -> None:
    answer(view, JOB, completed(80))
    view.show(f"#/job/{JOB_ID}")
    box = view.page.locator("#panel .table-wrap")
    view.page.wait_for_selector("tr.data")
    box.evaluate("box => { box.scrollTop = 1500 }")
    view.page.wait_for_selector("tr.data[aria-rowindex='27']")
    view.page.locator("tr.data[aria-rowindex='27'] a").first.focus()
    for _ in range(12):
        view.page.keyboard.press("Shift+Tab")
        top, head = view.page.evaluate(
            """() => [
              document.activeElement.getBoundingClientRect().top,
              document.querySelector('#panel thead').getBoundingClientRect().bottom,
            ]"""
        )
        assert top >= head


def test_ranking_comparisons_and_coverage_agree_on_what_was_compared(
    view: ConsolePage, job_id: str
) -> None:
    def read(path: str) -> Any:
        return view.page.request.get(f"{view.base}{path}").json()["data"]

    result = read(f"/api/v1/vidplat/app/v3/music_collection_jobs/{job_id}")["result"]
    pairs = read(f"/api/v1/sametrack/jobs/{job_id}/comparisons")
    deciding = {
        pair["candidate_aweme_id"]: pair
        for pair in pairs["comparisons"]
        if pair["comparison_id"] in pairs["deciding_ids"]
    }
    videos = [*result["aweme_list"], *result["variants"]["aweme_list"]]
    compared = [video for video in videos if video["aweme_id"] in deciding]
    assert len(compared) >= 3
    for video in compared:
        pair = deciding[video["aweme_id"]]
        assert video["audio_check"] == {
            "kind": "compared", "verdict": pair["verdict"], "comparison_id": pair["comparison_id"],
        }  # fmt: skip
    counts = result["audio_check_counts"]
    assert sum(counts.values()) == result["confirmed_count"]
    own_list = result["coverage"]["list_genuine_share"][0]
    assert (own_list["music_id"], own_list["audio_rows"] > 0) == (result["music_id"], True)
    view.show(f"#/job/{job_id}?tab=coverage")
    basis = f"own sound compared ({counts['compared']})"
    expect(view.page.locator("#panel .note.info")).to_contain_text(basis)
