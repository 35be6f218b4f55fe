"""SQL in the console: from a question to rows, a chart, a file and a link.

In English and light colours; `make soak` does it in Chinese, dark, and on a phone, too.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.console_pages import ConsolePage, ConsolePages
from tests.browser.test_console_rules import ask_module

pytestmark = [pytest.mark.full, pytest.mark.browser]
LOOKS: dict[str, dict[str, Any]] = {
    "english-light": {"locale": "en-GB", "color_scheme": "light"},
    "chinese-dark-phone": {
        "locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 390, "height": 844},
    },
}  # fmt: skip
in_english = pytest.mark.parametrize("shared_view", ["english-light"], indirect=True)
KINDS_OF_VALUES = (
    "select '7300000000000000001' as id, null as nothing, 9007199254740993::bigint as large, "
    "timestamptz '2026-11-01 08:00:00+08' as at, '<img src=x onerror=window.hasRun=true>' as text"
)
ENDLESS = "select count(*) from range(9000000000000)"
TWO = "select i from range(2) t(i)"


@pytest.fixture(
    scope="module",
    params=["english-light", pytest.param("chinese-dark-phone", marks=pytest.mark.soak)],
)
def shared_view(
    session_pages: ConsolePages, request: pytest.FixtureRequest
) -> Iterator[ConsolePage]:
    """One visitor per language and theme."""
    with session_pages.leaving() as pages:
        yield pages.open("#/sql", **LOOKS[request.param])


@pytest.fixture
def view(shared_view: ConsolePage) -> ConsolePage:
    """The shared page as it was opened, whatever the test before did to it."""
    shared_view.restore()
    return shared_view


def editor(view: ConsolePage) -> Locator:
    return view.page.locator("textarea[data-editor=sql]")


def run(view: ConsolePage, statement: str) -> None:
    """Type a statement and run it, by keyboard alone."""
    editor(view).fill(statement)
    editor(view).press("Control+Enter")


def rows_come(view: ConsolePage, count: int) -> None:
    """Wait for an answer: a process may have to start first."""
    view.page.wait_for_selector("tr.data")
    expect(view.page.locator("tr.data")).to_have_count(count)


def cells(view: ConsolePage) -> list[str]:
    return view.page.locator("tr.data").first.locator("td").all_inner_texts()


@in_english
def test_a_kind_that_the_rows_do_not_fit_is_not_offered(view: ConsolePage) -> None:
    view.show("#/sql")
    known = "select 'a' as title, 1 as n, null::bigint as unknown union all select 'b', 2, null"
    run(view, known)
    rows_come(view, 2)
    kinds = view.page.get_by_label("Kind of chart").locator("option")
    expect(kinds).to_have_text(["Bars", "No chart"])
    run(view, "select 'a' as title, null::bigint as unknown union all select 'b', null")
    expect(kinds).to_have_count(0)
    rows_come(view, 2)
    assert is_clean(view)


@in_english
def test_bars_have_no_groups_of_the_lines_before(view: ConsolePage) -> None:
    view.show("#/sql")
    days, names = "range(2) d(day)", "(values ('a'), ('b')) n(name)"
    run(view, f"select date '2026-03-01' + day::int as at, name, day as n from {days}, {names}")
    rows_come(view, 4)
    kind = view.page.get_by_label("Kind of chart")
    expect(kind).to_have_value("line")
    expect(view.page.locator("figure h3")).to_contain_text("for each name")
    kind.select_option("bars")
    expect(view.page.locator("figure h3")).not_to_contain_text("for each")
    expect(view.page.locator("figure .legend")).to_have_count(0)
    assert is_clean(view)


def is_clean(view: ConsolePage) -> bool:
    assert view.faults == []
    assert view.broken_rules() == []
    assert view.hosts == {view.base.partition("//")[2]}
    over = view.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return bool(over <= 0)


def test_values_are_shown_as_they_are_and_unknown_is_a_dash(view: ConsolePage) -> None:
    view.show("#/sql")
    run(view, KINDS_OF_VALUES)
    rows_come(view, 1)
    assert cells(view) == [
        "7300000000000000001", "—", "9007199254740993", "2026-11-01 00:00:00 UTC",
        "<img src=x onerror=window.hasRun=true>",
    ]  # fmt: skip
    assert view.page.evaluate("window.hasRun") is False
    assert view.axe() == []
    assert is_clean(view)


def test_a_query_of_the_library_runs_when_its_link_is_opened(view: ConsolePage) -> None:
    view.show("#/sql/viral-videos?p.least=7")
    expect(view.page.locator("main .note.bad")).to_have_count(0)
    view.page.wait_for_selector("main .empty, tr.data")
    expect(view.page.get_by_label("least")).to_have_value("7")
    titles = ("Confirmed videos above a number of likes", "点赞数超过指定值的已确认作品")
    assert view.page.locator("main form h2").inner_text() in titles
    assert view.axe() == []
    assert is_clean(view)


def test_a_chart_fits_the_columns_and_can_be_changed(view: ConsolePage) -> None:
    view.show("#/sql")
    run(view, "select 'n' || i as name, i * 2 - 3 as twice, i * i as square from range(4) t(i)")
    chart = view.page.locator("svg.chart")
    chart.wait_for()
    expect(chart.locator("rect")).to_have_count(4)
    kind = view.page.locator("figure").locator("xpath=..").locator("select").first
    kind.select_option("scatter")
    expect(chart.locator("path")).to_have_count(4)
    assert view.axe() == []
    run(view, "select timestamptz '2026-11-01' + to_days(i::int) as day, i as n from range(5) t(i)")
    chart.locator("polyline").wait_for()
    expect(chart.locator("polyline")).to_have_count(1)
    assert chart.get_attribute("aria-label")
    run(view, "select 'a' as word union all select 'b'")
    view.page.get_by_role("cell", name="b").wait_for()
    expect(chart).to_have_count(0)
    assert is_clean(view)


@pytest.mark.parametrize(
    ("value", "day", "reported"),
    [
        ("date '2026-03-02'", "1", "2 Mar 2026: "),
        ("timestamptz '2026-03-01 20:30:00Z'", "interval 1 day", "1 Mar 2026, 20:30 UTC: "),
    ],
)
def test_a_chart_tells_times_in_utc_as_the_table_does(
    pages: ConsolePages, value: str, day: str, reported: str
) -> None:
    view = pages.open("#/sql", timezone_id="Asia/Shanghai")
    run(view, f"select {value} as at, 5 as n union all select {value} - {day}, 4")
    rows_come(view, 2)
    view.page.locator("svg.chart[role=slider]").focus()
    view.page.keyboard.press("End")
    expect(view.page.locator(".reading")).to_contain_text(reported)


def test_rows_that_are_cut_are_said_and_a_fault_is_named(view: ConsolePage) -> None:
    view.show("#/sql")
    run(view, "select i from range(1001) t(i)")
    view.page.wait_for_selector("main .note.warn")
    expect(view.page.locator("main .note.warn")).to_contain_text("1,000")
    run(view, "select rankk from marts.rankings")
    fault = view.page.locator("main .note.bad")
    fault.wait_for()
    expect(fault).to_contain_text("rankk")
    expect(fault).to_contain_text("invalid_parameter")
    assert view.axe() == []


@in_english
def test_a_running_statement_is_cancelled_by_button_and_by_leaving(view: ConsolePage) -> None:
    view.show("#/sql")
    run(view, ENDLESS)
    view.page.get_by_role("button", name="Cancel").click()
    expect(view.page.locator("main form")).to_contain_text("was cancelled")
    run(view, ENDLESS)
    expect(view.page.get_by_role("button", name="Cancel")).to_be_visible()
    view.show("#/reference")
    view.show("#/sql")
    run(view, TWO)  # waits for its turn, and gets it at once
    rows_come(view, 2)
    assert view.faults == []


def test_a_link_holds_the_statement_and_waits_for_its_reader(pages: ConsolePages) -> None:
    view = pages.open(f"#/sql?q={quote(TWO)}&rows=100")
    expect(editor(view)).to_have_value(TWO)
    view.page.wait_for_load_state("networkidle")
    expect(view.page.locator("tr.data")).to_have_count(0)
    view.page.get_by_role("button", name="Run").click()
    rows_come(view, 2)
    run(view, "select $who as who")
    expect(view.page.get_by_label("who")).to_be_visible()
    view.page.get_by_label("who").fill("Lin")
    editor(view).press("Control+Enter")
    view.page.get_by_role("cell", name="Lin").wait_for()
    assert "p.who=Lin" in view.page.url
    assert "rows=100" in view.page.url


@in_english
def test_names_are_put_in_from_the_list_of_tables(view: ConsolePage) -> None:
    view.page.set_viewport_size({"width": 1440, "height": 900})
    view.show("#/sql")
    editor(view).fill("select count(*) from")
    view.page.get_by_label("Find a table or column").fill("hot_score")
    view.page.locator(".tables summary", has_text="marts.rankings").click()
    view.page.get_by_role("button", name="Insert marts.rankings into").click()
    expect(editor(view)).to_have_value("select count(*) from marts.rankings")
    editor(view).press("Control+Enter")
    rows_come(view, 1)
    assert cells(view)[0].isdigit()


@in_english
def test_rows_are_saved_in_every_form(view: ConsolePage) -> None:
    view.show("#/sql")
    run(view, TWO)
    rows_come(view, 2)
    view.page.get_by_role("button", name="Save rows").click()
    for at, form in enumerate(("csv", "xlsx", "parquet", "json")):
        with view.page.expect_download() as saved:
            view.page.locator(".sheet button").nth(at).click()
        name = saved.value.suggested_filename
        assert re.fullmatch(rf"sametrack-demo-sql-[0-9-]+\.{form}", name)


SUGGESTED = (
    ("time whole", "[['2026-11-01T00:00:00Z', 1], ['2026-11-02T00:00:00Z', 2]]", "line 0 1 -"),
    (
        "time text whole",
        "[['2026-11-01', 'a', 1], ['2026-11-01', 'b', 2], ['2026-11-02', 'a', 3]]",
        "line 0 2 1",
    ),
    ("text whole real", "[['a', 1, 0.5], ['b', 2, 1.5]]", "bars 0 1 -"),
    ("real whole", "[[1, 2], [2, 3]]", "scatter 1 0 -"),
    ("text real whole", "[['a', 1, 2], ['a', 2, 3], ['b', 2, 3]]", "scatter 2 1 0"),
    ("text text", "[['a', 'b'], ['c', 'd']]", None),
    ("text whole", "[['a', null], ['b', null]]", None),
)
"""Kinds of columns, their rows, and the chart: kind, x, y and group."""


@in_english
def test_a_chart_is_suggested_by_the_kinds_of_columns(view: ConsolePage) -> None:
    for kinds, rows, chart in SUGGESTED:
        columns = [{"name": f"c{at}", "kind": kind} for at, kind in enumerate(kinds.split())]
        found = ask_module(view, "views/sql.js", f"m.suggestChart({columns}, {rows})")
        wanted = None
        if found is not None:
            group = found.get("group")
            wanted = f"{found['kind']} {found['x']} {found['y']} {'-' if group is None else group}"
        assert (kinds, wanted) == (kinds, chart)
