"""Every table is sorted by its headers."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.console_pages import ConsolePage

pytestmark = [pytest.mark.full, pytest.mark.browser]

WITHOUT_VALUES = {"", "More", "Evidence", "Scan"}
"""Columns of buttons and links, which no order has."""
HEADS = """() => [...document.querySelectorAll('main thead')].map(
  (head) => [...head.querySelectorAll('th')].map((cell) => [
    cell.textContent.trim(), Boolean(cell.querySelector('button, input')),
  ]),
)"""


def unsorted(view: ConsolePage, place: str) -> tuple[int, set[str]]:
    """Open a view; returns the number of its tables, and the headers that sort nothing."""
    view.show(place)
    view.page.locator("main thead").first.wait_for(state="attached")  # some are folded
    expect(view.page.locator("main .bone")).to_have_count(0)
    tables = view.page.evaluate(HEADS)
    heads = [head for table in tables for head in table]
    return len(tables), {text for text, is_sortable in heads if not is_sortable}


def test_every_table_is_sorted_by_every_column(
    view: ConsolePage, track: dict[str, Any], job_id: str
) -> None:
    places = [
        f"#/job/{job_id}",
        *(
            f"#/job/{job_id}?tab={tab}"
            for tab in (
                "accounts", "popularity", "genealogy", "variants", "related", "comparisons",
                "coverage",
            )
        ),
        f"#/track/{track['music_id']}",
        f"#/time/track/{track['music_id']}",
        f"#/sql/popularity?p.music_id={track['music_id']}&p.job_id={job_id}",
        "#/operator",
        "#/reference",
    ]  # fmt: skip
    for place in places:
        tables, heads = unsorted(view, place)
        assert (place, tables > 0, heads - WITHOUT_VALUES) == (place, True, set())
    assert view.faults == []


def test_the_rows_of_a_statement_are_sorted_by_a_header(view: ConsolePage) -> None:
    view.show("#/sql?q=from (values (2, 'b'), (10, 'a'), (null, 'c')) rows(n, s)")
    view.page.get_by_role("button", name="Run", exact=True).click()
    cells = view.page.locator("main tbody tr.data td:first-child")
    expect(cells).to_have_text(["2", "10", "—"])
    head = view.page.locator("main thead button").first
    head.click()
    expect(cells).to_have_text(["10", "2", "—"])
    head.click()
    expect(cells).to_have_text(["2", "10", "—"])
