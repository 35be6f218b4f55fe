"""What the report shows of a search, of accounts, and of a search by name alone."""

from collections.abc import Callable
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from api.services.report.render import render_report
from tests.stored_results import NO_SEARCH
from warehouse.exports.error_sheet import is_scan_result

TERM = {
    "term": "<b>晴天</b>", "pages": 2, "items": 20, "new_items": 18, "last_cursor": 20,
    "finished": False, "stop_reason": "upstream_verification",
}  # fmt: skip


def with_related(job: dict[str, Any], *, count: int) -> dict[str, Any]:
    videos = [
        {
            "aweme_id": f"75{number:017d}", "desc": f"<i>{number}</i>", "music": None,
            "search_relevance_level": "exact_title", "duplicate_with_returned_ranking": number == 0,
            "statistics": {"digg_count": None}, "hot_score": None,
        }
        for number in range(count)
    ]  # fmt: skip
    related: Any = {**NO_SEARCH, "aweme_list": videos, "returned_count": count}
    related["pagination"] = related["pagination"] | {"terms": [TERM]}
    job["result"]["search_related"] = related
    return job


def page_of(job: dict[str, Any]) -> LexborHTMLParser:
    return LexborHTMLParser(render_report(job))


def test_related_works_stand_apart_with_the_reason_why_each_term_ended(
    build_job: Callable[..., dict[str, Any]],
) -> None:
    page = page_of(with_related(build_job(works=3), count=25))
    text = page.text()
    assert "Related by search" in text
    assert "Showing the first 20." in text
    assert "<b>晴天</b>: 2" in text  # as text, not as markup
    assert "in the ranking" in text
    assert "Accounts of the confirmed videos" in text


def test_a_search_by_name_has_no_ranking_and_says_that_nothing_is_confirmed(
    build_job: Callable[..., dict[str, Any]],
) -> None:
    job = with_related(build_job(works=0), count=2)
    job["result"] |= {"music": None, "music_id": None, "keyword": "晴天 <script>"}
    page = page_of(job)
    heading = page.css_first("h1")
    assert heading is not None
    assert heading.text() == "晴天 <script>"
    titles = [node.text() for node in page.css("h2")]
    assert not any("Ranking" in title for title in titles)
    assert "no match is confirmed" in page.text()
    assert "Error sheet" not in page.text()  # its answers are about a recording
    assert not is_scan_result(job["result"])
