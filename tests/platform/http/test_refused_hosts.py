"""Hosts that a page was refused are reported with it, the most requested first."""

from datetime import UTC, datetime

from pipelines.platform.browser.client import not_loaded_error
from pipelines.platform.browser.page_loader import LoadedPage
from pipelines.platform.call_trace import HttpResponse


def loaded(refused: dict[str, int]) -> LoadedPage:
    document = HttpResponse(
        surface="user_page", url="http://share.vidplat.localhost/", status=200, content_type=None,
        body=b"<html></html>", fetched_at=datetime(2026, 11, 20, tzinfo=UTC),
    )  # fmt: skip
    return LoadedPage(document, refused=refused)


def test_an_empty_page_names_the_hosts_that_it_lacked_and_where_to_list_them() -> None:
    error = not_loaded_error(loaded({"b.example": 1, "a.example": 3}), "user_posts")
    assert (error.reason, error.surface) == ("not_loaded", "user_posts")
    assert error.detail.endswith("refused hosts: a.example (3), b.example (1)")
    assert "[browser]" in str(error.hint)


def test_an_empty_page_that_was_refused_nothing_names_no_host() -> None:
    error = not_loaded_error(loaded({}), "user_posts")
    assert ("refused" in error.detail, error.hint) == (False, None)


def test_many_hosts_are_counted_beyond_the_first_ones() -> None:
    hosts = {f"h{number}.example": 1 for number in range(20)}
    assert loaded(hosts).describe_refused().endswith("h15.example (1), and 12 more")
