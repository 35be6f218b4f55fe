"""Hashtags, the guest search, account pages: which surface is asked, what a refusal costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipelines.platform.providers.vidplat_public import VidplatPublic
from warehouse.records.errors import (
    EmptyAnswerError,
    LoginRequiredError,
    StructureChangedError,
    SubstitutionError,
    UnresolvedIdError,
    VerificationDemandedError,
)
from warehouse.records.search import SearchPosition

CH = "1612345678901234567"
SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
TERM = "晚风"
NEXT = SearchPosition(cursor=10, search_id="20261120080000A1B2C3D4E5F60718", backtrace="bt:1f2e")


@pytest.fixture
def play(scripted: Any, shape_named: Any) -> Callable[..., tuple[VidplatPublic, Any]]:
    """A provider whose client answers with these shapes, one after another."""

    def start(*script: str) -> tuple[VidplatPublic, Any]:
        client = scripted([shape_named(step).answer("any") for step in script])
        return VidplatPublic(client, name="public-graph"), client

    return start


def _surfaces(client: Any) -> list[str]:
    return [ask.surface for ask in client.asked]


async def test_hashtag_and_its_works_are_read(play: Any) -> None:
    provider, client = play("hashtag_info/hashtag.json", "hashtag_list/first_page.json")
    hashtag = await provider.fetch_hashtag(CH)
    page = await provider.fetch_hashtag_page(CH, 40)
    assert (hashtag.value.name, hashtag.value.view_count) == ("日落", 1_834_502_117)
    assert (len(page.value.videos), page.value.cursor, page.value.has_more) == (3, 20, True)
    assert [ask.params.get("cursor") for ask in client.asked] == [None, "40"]
    assert {ask.params["ch_id"] for ask in client.asked} == {CH}


async def test_cursor_of_a_hashtag_list_is_handed_on_as_it_came(play: Any) -> None:
    provider, _ = play("hashtag_list/stalled_cursor.json")
    assert (await provider.fetch_hashtag_page(CH, 0)).value.cursor == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("hashtag_info/unknown.json", UnresolvedIdError),
        ("hashtag_info/null.json", UnresolvedIdError),
        ("hashtag_info/another_hashtag.json", SubstitutionError),
        ("hashtag_info/no_name.json", StructureChangedError),
    ],
)
async def test_hashtag_that_is_none_says_why_after_one_request(
    answer: str, error: type[Exception], play: Any
) -> None:
    provider, client = play(answer)
    with pytest.raises(error):
        await provider.fetch_hashtag(CH)
    assert len(client.asked) == 1


async def test_empty_hashtag_is_asked_once_more_with_the_cookies(play: Any) -> None:
    provider, _ = play("hashtag_info/empty.json", "hashtag_info/hashtag.json")
    assert (await provider.fetch_hashtag(CH)).request_count == 2


async def test_first_screen_is_the_stream_and_later_pages_are_single(play: Any) -> None:
    provider, client = play("search_stream/first_screen.txt", "search_single/last_page.json")
    first = await provider.fetch_search_page(TERM, SearchPosition())
    later = await provider.fetch_search_page(TERM, first.value.next_position)
    assert _surfaces(client) == ["search_stream", "search_single"]
    assert (first.value.next_position, first.value.skipped_cards) == (NEXT, 2)
    assert (len(first.value.videos), later.value.has_more) == (2, False)
    assert (first.entity_id, first.surface) == (TERM, "search_stream")


async def test_place_of_a_page_is_passed_on_unchanged(play: Any) -> None:
    provider, client = play("search_single/page.json")
    await provider.fetch_search_page(TERM, NEXT)
    asked = client.asked[0]
    reported = [asked.params[name] for name in ("keyword", "offset", "search_id", "backtrace")]
    assert reported == [TERM, "10", NEXT.search_id, NEXT.backtrace]
    assert asked.url.startswith("http://www.vidplat.localhost:")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("search_stream/verify_check.txt", VerificationDemandedError),
        ("search_stream/verify_type.txt", VerificationDemandedError),
        ("search_stream/login.txt", LoginRequiredError),
    ],
)
async def test_search_that_says_no_stops_after_one_request(
    answer: str, error: type[Exception], play: Any
) -> None:
    provider, client = play(answer)
    with pytest.raises(error):
        await provider.fetch_search_page(TERM, SearchPosition())
    assert len(client.asked) == 1


async def test_search_that_breaks_off_in_its_first_document_is_an_empty_cut_page(play: Any) -> None:
    provider, client = play("search_stream/cut_off.txt")
    page = (await provider.fetch_search_page(TERM, SearchPosition())).value
    assert (page.videos, page.is_cut, page.has_more) == ((), True, None)
    assert len(client.asked) == 1


async def test_empty_search_body_is_asked_once_more_and_then_named(play: Any) -> None:
    empty = "search_stream/empty.txt"
    provider, client = play(empty, empty)
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_search_page(TERM, SearchPosition())
    assert len(client.asked) == 2


async def test_empty_search_page_has_nil_type_only_if_the_platform_states_it(play: Any) -> None:
    provider, _ = play("search_stream/empty_without_reason.txt", "search_stream/no_result.txt")
    silent = (await provider.fetch_search_page(TERM, SearchPosition())).value
    reported = (await provider.fetch_search_page(TERM, SearchPosition())).value
    assert (silent.videos, silent.nil_type) == ((), None)
    assert (reported.videos, reported.nil_type) == ((), "no_result")


async def test_account_that_stays_empty_is_read_from_its_page(play: Any) -> None:
    empty = "user_info/empty.json"
    provider, client = play(empty, empty, "user_account/by_its_path.html")
    reading = await provider.fetch_account(SEC)
    assert _surfaces(client) == ["user_info", "user_info", "user_page"]
    assert (reading.value.aweme_count, reading.value.follower_count) == (321, None)
    assert (reading.surface, reading.request_count) == ("user_page", 3)


@pytest.mark.parametrize(
    "page",
    [
        ["user_account/another_account.html"],
        ["user_account/shell.html", "user_account/shell.html"],
    ],
)
async def test_account_that_no_source_shows_is_named_by_the_best_source(
    page: list[str], play: Any
) -> None:
    provider, _ = play("user_info/empty.json", "user_info/empty.json", *page)
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_account(SEC)


async def test_redirect_to_a_verification_page_stops(scripted: Any, shape_named: Any) -> None:
    redirected = shape_named("video_page/verify_redirect.html").answer("any")
    client = scripted([replace(redirected, status=302)])
    with pytest.raises(VerificationDemandedError):
        await VidplatPublic(client, name="public-graph").fetch_video("7568123456789012345")
    assert client.asked[0].ends_at(redirected.location)
