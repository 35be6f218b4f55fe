"""Catalogues in the console: imported from a table, read, run, stopped and removed."""

import json
import re
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import FilePayload, Route, expect

from api.schemas.examples import read_example
from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import answer, ask_module, refusal
from tests.catalog.test_import_tables import CASES, spreadsheet
from tests.deployment import Deployment
from warehouse.control import catalogs

pytestmark = [pytest.mark.full, pytest.mark.browser]

LINES = [
    "track;title;note",
    '7300000000000000001;"Boats; paper";"said ""once"""',
    "7300000000000000002;<b>Kites</b>;",
    "",
    "no track;;",
]


def test_a_table_is_imported_run_stopped_and_removed(
    deployment: Deployment, view: ConsolePage
) -> None:
    view.show("#/catalogs")
    page, main = view.page, view.page.locator("main")
    expect(main).to_contain_text("No catalogues")
    page.get_by_role("button", name="Import tracks").click()
    page.get_by_label("Name", exact=True).fill("songs")
    page.get_by_label("Tracks", exact=True).fill("\n".join(LINES))
    page.get_by_label("Scans a day").fill("5")
    assert view.axe() == []
    page.locator("form").get_by_role("button", name="Import tracks").click()
    expect(main).to_contain_text("2 added, 0 updated, 0 duplicates, 1 lines not imported")
    expect(main).to_contain_text("Line 5:")  # an empty line counts
    kept = {
        track.given.label: track.given
        for track in catalogs.read_tracks(deployment.control, "songs")
    }
    assert kept.keys() == {"Boats; paper", "<b>Kites</b>"}
    assert kept["Boats; paper"].columns["note"] == 'said "once"'
    page.get_by_role("button", name="Continue without these lines").click()

    expect(page).to_have_url(re.compile(r"#/catalogs\?name=songs$"))
    expect(main).to_contain_text("<b>Kites</b>")
    expect(main).to_contain_text("1 to 2 of 2")
    assert view.axe() == []
    page.get_by_label("State").select_option("failed")
    expect(main).to_contain_text("0 to 0 of 0")
    page.get_by_role("button", name="Scan what is due").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Scan what is due")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove the list; results stay").click()
    expect(main).to_contain_text("No catalogues")
    assert catalogs.read_all(deployment.control) == []
    _is_clean(view)


def test_a_spreadsheet_is_read_in_the_browser(view: ConsolePage) -> None:
    day = datetime(2026, 3, 1)  # noqa: DTZ001 -- a spreadsheet knows no zones
    rows: list[list[Any]] = [
        ["track", "title", "day"],
        ["7300000000000000003", 'Boats, "paper"', day],
        [],
        ["x;y"],
    ]
    view.show("#/catalogs")
    view.page.get_by_role("button", name="Import tracks").click()
    lines = view.page.get_by_label("Tracks", exact=True)
    chooser = view.page.locator("input[type=file]")
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    written = spreadsheet(*rows, default_date_format="yyyy-mm-dd")
    chooser.set_input_files(FilePayload(name="a.xlsx", mimeType=kind, buffer=written))
    expect(lines).to_have_value(
        'track,title,day\n7300000000000000003,"Boats, ""paper""",2026-03-01\n"x;y"'
    )
    chooser.set_input_files(FilePayload(name="b.xlsx", mimeType=kind, buffer=b"PK and nothing"))
    expect(view.page.locator("body")).to_contain_text("cannot be read as an XLSX file")
    text = "track,title\n7300000000000000003,晴天"
    chooser.set_input_files(
        FilePayload(name="c.csv", mimeType="text/csv", buffer=text.encode("utf-16"))
    )
    expect(lines).to_have_value(text)
    chooser.set_input_files(
        FilePayload(name="d.csv", mimeType="text/csv", buffer=text.encode("gb18030"))
    )
    expect(view.page.locator("body")).to_contain_text("The file is not UTF-8")
    expect(lines).to_have_value(text)
    _is_clean(view)


def catalog_of(tracks: int, *, is_running: bool = False) -> dict[str, Any]:
    """The catalogue `songs`: one of its tracks was never read, the others are stale."""
    states = {"fresh": 0, "stale": tracks - 1, "running": 0, "failed": 0, "never_read": 1}
    return {
        "name": "songs", "track_count": tracks, "due_count": 0, "is_running": is_running,
        "states": states, "spent_today": {"tracks": 0, "requests": 0},
        "updated_at": "2026-03-01T06:00:00Z",
        "settings": {"fresh_days": 7, "tracks_per_day": None, "requests_per_day": None},
    }  # fmt: skip


def test_a_read_that_fails_leaves_the_catalogues_shown_and_they_are_read_again(
    pages: ConsolePages,
) -> None:
    view = pages.open()
    steps = iter((61, 61, None))  # that one runs is known from the first read; then it is watched

    def catalogs(route: Route) -> None:
        tracks = next(steps, 62)
        if tracks is None:
            route.abort()
            return
        data = {"catalogs": [catalog_of(tracks, is_running=True)]}
        route.fulfill(json=read_example("history") | {"data": data})

    view.page.clock.install()
    view.page.route("**/sametrack/catalogs", catalogs)
    view.show("#/catalogs")
    row = view.page.locator("main tbody tr")
    expect(row).to_contain_text("61")
    with view.page.expect_event("requestfailed"):
        view.page.clock.run_for(4000)
    expect(row).to_contain_text("61")
    view.page.clock.run_for(4000)
    expect(row).to_contain_text("62")


def test_back_undoes_a_page_and_a_state(view: ConsolePage) -> None:
    track = {
        "key": "music:73", "input": "73", "label": None, "music_id": "73", "state": "stale",
        "error": None, "job_id": None, "stage": None, "result_job_id": None, "result_at": None,
    }  # fmt: skip
    catalog = catalog_of(61)
    states = catalog["states"]

    def tracks(route: Route) -> None:
        """Up to 50 tracks of a state, from a cursor on."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(route.request.url).query).items()}
        total, at = states[asked["state"]], int(asked["cursor"])
        rows = [track | {"key": f"music:{n}"} for n in range(at, min(total, at + 50))]
        rest = at + 50 if at + 50 < total else None
        data = {"tracks": rows, "total_count": total, "next_cursor": rest}
        route.fulfill(json=read_example("history") | {"data": data})

    answer(
        view, "**/sametrack/catalogs", read_example("history") | {"data": {"catalogs": [catalog]}}
    )
    view.page.route("**/catalogs/songs/tracks?*", tracks)
    main = view.page.locator("main")
    view.show("#/catalogs?name=songs&state=never_read")
    expect(main).to_contain_text("1 to 1 of 1")
    view.show("#/catalogs?name=songs&state=stale")
    expect(main).to_contain_text("1 to 50 of 60")
    main.get_by_role("button", name="Next").click()
    expect(main).to_contain_text("51 to 60 of 60")
    assert "from=50" in view.page.url
    view.page.go_back()
    expect(main).to_contain_text("1 to 50 of 60")
    view.page.go_back()
    expect(main).to_contain_text("1 to 1 of 1")
    _is_clean(view)


def test_the_service_sorts_by_every_column_and_exports_in_that_order(view: ConsolePage) -> None:
    figures = {
        "title": "Boats", "artist": "a", "confirmed_video_count": 3, "account_count": 2,
        "music_id_count": 2, "music_id_estimate": None, "music_id_lower": None,
        "music_id_upper": None, "variant_video_count": 0, "digg_count": 1200,
        "newest_job_id": "job-1", "last_result_at": "2026-03-01T06:00:00Z",
    }  # fmt: skip
    tracks = [
        {"key": f"music:{n}", "input": f"7300{n}", "label": None, "error": None,
         "music_id": found and "7300", "state": "never_read", "job_id": None, "stage": None,
         "result_job_id": None, "result_at": None, "title": found and found["title"],
         "figures": found}
        for n, found in enumerate((figures, None))
    ]  # fmt: skip
    envelope = read_example("history")
    answer(view, "**/sametrack/catalogs", envelope | {"data": {"catalogs": [catalog_of(2)]}})
    page_of_tracks = {"tracks": tracks, "total_count": 2, "next_cursor": None}
    answer(view, "**/catalogs/songs/tracks?*", envelope | {"data": page_of_tracks})
    view.show("#/catalogs?name=songs")
    table = view.page.get_by_role("region", name="Tracks").last
    rows = table.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("scanned separately")
    expect(rows.nth(0).get_by_role("link", name="Boats")).to_have_attribute("href", "#/track/7300")
    expect(rows.nth(0).get_by_role("link", name="Result")).to_have_attribute("href", "#/job/job-1")
    expect(rows.nth(1)).to_contain_text("not run yet")
    expect(rows.nth(1).get_by_role("link")).to_have_count(0)
    heads = table.locator("thead th button")
    assert heads.count() == table.locator("thead th").count()
    likes = heads.filter(has_text="Likes in total")
    with view.page.expect_request("**/catalogs/songs/tracks?*") as sorted_page:
        likes.click()
    asked = parse_qs(urlsplit(sorted_page.value.url).query)
    assert (asked["sort"], asked["descending"]) == (["digg_count"], ["true"])
    head = table.get_by_role("columnheader", name="Likes in total")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert view.axe() == []
    view.page.locator("main").get_by_role("button", name="Export").click()
    with view.page.expect_request("**/sametrack/export?*") as exported:
        view.page.get_by_role("button", name="CSV").click()
    query = parse_qs(urlsplit(exported.value.url).query)
    source = parse_qs(urlsplit(query["source"][0]).query)
    assert (query["table"], source["sort"], source["limit"]) == (
        ["catalog"], ["digg_count"], ["10000"],
    )  # fmt: skip
    view.page.keyboard.press("Escape")
    with view.page.expect_request("**/catalogs/songs/tracks?*descending=false*"):
        likes.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    with view.page.expect_request("**/catalogs/songs/tracks?*") as last:
        likes.click()
    assert "sort" not in parse_qs(urlsplit(last.value.url).query)
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_table_is_read_by_the_rules_of_the_service(
    view: ConsolePage, case: dict[str, Any]
) -> None:
    text = json.dumps(case["text"])
    found = ask_module(view, "views/catalogs/table_lines.js", f"m.tableLines({text})")
    lines = [[one["number"], one["values"]] for one in found["lines"]]
    assert (lines, found["open"]) == (case["lines"], None)


def test_a_text_without_tracks_or_with_an_open_quotation_mark_is_not_sent(
    view: ConsolePage,
) -> None:
    view.show("#/catalogs")
    view.page.get_by_role("button", name="Import tracks").click()
    form = view.page.locator("main form")
    form.get_by_label("Name", exact=True).fill("songs")
    sent: list[str] = []
    view.page.route("**/catalogs/songs/tracks", lambda route: sent.append(route.request.url))
    for text, words in (
        ("track,title\n", "There is no track in this text"),
        ('track,title\n73000001,"Boats\n73000002,x', "Line 2: a quotation mark is not closed"),
    ):
        form.get_by_label("Tracks", exact=True).fill(text)
        form.get_by_role("button", name="Import tracks").click()
        expect(form.get_by_role("alert")).to_have_text(words)
    assert sent == []


def test_parts_that_were_stored_are_counted_when_a_later_one_is_refused(view: ConsolePage) -> None:
    view.show("#/catalogs")
    parts = iter((True, False))
    stored = {"new_count": 200, "updated_count": 0, "duplicates": [], "problems": [
        {"line": 7, "input": "x", "reason": "not_a_track", "message": "no"}]}  # fmt: skip

    def take(route: Route) -> None:
        if next(parts):
            route.fulfill(json=read_example("history") | {"data": stored})
        else:
            route.fulfill(status=503, json=refusal())

    view.page.route("**/catalogs/songs/tracks", take)
    view.page.get_by_role("button", name="Import tracks").click()
    form = view.page.locator("main form")
    form.get_by_label("Name", exact=True).fill("songs")
    form.get_by_label("Tracks", exact=True).fill("\n".join(f"7300{at:04}" for at in range(250)))
    with view.page.expect_request("**/sametrack/catalogs"):  # the list is read again
        form.get_by_role("button", name="Import tracks").click()
    expect(form).to_contain_text("200 added, 0 updated, 0 duplicates, 1 lines not imported")
    expect(form).to_contain_text("neither an id nor the link of a track")
    expect(form.locator(".note.bad")).to_have_count(1)


def test_a_removal_that_is_refused_leaves_the_catalogue_shown(view: ConsolePage) -> None:
    answer(
        view,
        "**/sametrack/catalogs",
        read_example("history") | {"data": {"catalogs": [catalog_of(3)]}},
    )
    view.page.route("**/catalogs/songs", lambda route: route.fulfill(status=403, json=refusal()))
    view.show("#/catalogs?name=songs")
    view.page.get_by_role("button", name="Remove").click()
    view.page.get_by_role("button", name="Remove the list; results stay").click()
    expect(view.page.locator(".toasts")).to_contain_text("The stored data cannot be read")
    assert "name=songs" in view.page.url
    view.show("#/catalogs?name=gone")
    expect(view.page.locator("main")).to_contain_text("There is no catalogue “gone”")


def _is_clean(view: ConsolePage) -> None:
    assert view.faults == []
    assert view.broken_rules() == []
    assert view.hosts == {view.base.partition("//")[2]}
