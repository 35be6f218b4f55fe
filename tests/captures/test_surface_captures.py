"""Hashtags, accounts, searches and the chart: what is read, what is kept, what links lead to."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.captures.walks import SearchLimits
from pipelines.platform.parsers.links import LinkTarget
from warehouse.lake.record_rows import chart_index_from_rows, hashtag_from_row
from warehouse.queries.captures import read_search_union
from warehouse.queries.charts import KnownSongs, read_songs_of_issues
from warehouse.records.errors import (
    ChartUnavailableError,
    InvalidParameterError,
    UnresolvedIdError,
    VerificationDemandedError,
)
from warehouse.records.search import SearchPage, SearchPosition

pytestmark = pytest.mark.full

SEC = "MS4wLjABAAAAabcdef"
Begin = Callable[..., Captures]
LIMITS = SearchLimits(page_limit=5)


def found_page(*videos: Any, cursor: int, has_more: bool = True) -> SearchPage:
    place = SearchPosition(cursor=cursor, search_id="log", backtrace="b")
    return SearchPage(videos=videos, next_position=place, has_more=has_more, skipped_cards=1)


async def test_hashtag_and_its_works_are_kept(begin: Begin, stores: Any) -> None:
    async with begin() as captures:
        seen = await captures.hashtag("77777")
        walk = await captures.walk_hashtag("77777", limit=100)
    assert [hashtag_from_row(row) for row in stores.rows("select * from raw.hashtags")] == [seen]
    assert (walk.coverage.surface, walk.coverage.stop_reason) == ("hashtag_list", "exhausted")
    assert (len(walk.videos), walk.cursor, walk.has_more) == (8, 8, False)
    kept = stores.rows(
        "select cursor_in, cursor_out, has_more, item_count from raw.captures "
        "where surface = 'hashtag_list' order by cursor_in"
    )
    assert [tuple(row.values()) for row in kept] == [
        (0, 2, True, 2), (2, 4, True, 2), (4, 6, True, 2), (6, 8, False, 2),
    ]  # fmt: skip


async def test_author_walk_goes_on_from_the_platforms_own_cursor(begin: Begin, source: Any) -> None:
    async with begin() as captures:
        first = await captures.walk_user_posts("sec", pages=2)
        rest = await captures.walk_user_posts("sec", pages=9, cursor=first.cursor or 0)
    assert [entry[2] for entry in source.asked] == [0, 2, 4, 6]
    assert (first.coverage.stop_reason, first.cursor, first.has_more) == ("page_limit", 4, True)
    assert rest.coverage.stop_reason == "exhausted"


async def test_search_keeps_each_page_and_where_the_next_begins(
    begin: Begin, stores: Any, source: Any, works: Any
) -> None:
    source.search_pages = [
        found_page(*works("1", "2"), cursor=12),
        found_page(*works("2", "3"), cursor=24, has_more=False),
    ]
    async with begin() as captures:
        walk = await captures.search(["song"], limits=LIMITS)
    assert [term.stop_reason for term in walk.terms] == ["exhausted"]
    pages = stores.rows("select * from seen.search_pages order by cursor")
    assert [
        (row["surface"], row["cursor"], row["search_id"], row["next_cursor"], row["item_count"])
        for row in pages
    ] == [("search_stream", 0, "", 12, 2), ("search_single", 12, "log", 24, 2)]
    assert read_search_union(stores.engine, ["song", "other"]) == {
        "1": ["song"], "2": ["song"], "3": ["song"],
    }  # fmt: skip


async def test_refused_search_is_a_stop_reason_and_a_row(
    begin: Begin, stores: Any, source: Any
) -> None:
    source.search_pages = [VerificationDemandedError("no", surface="search_stream")]
    async with begin() as captures:
        walk = await captures.search(["one", "two"], limits=LIMITS)
    assert [term.stop_reason for term in walk.terms] == ["upstream_verification"] * 2
    assert (walk.requests_used, walk.videos) == (1, ())
    assert stores.rows("select surface, entity_id, outcome from raw.captures") == [
        {"surface": "search_stream", "entity_id": "one", "outcome": "upstream_verification"}
    ]


async def test_chart_is_kept_issue_by_issue(
    begin_chart: Callable[..., ChartCaptures], stores: Any
) -> None:
    async with begin_chart() as captures:
        index = await captures.issues()
        songs = await captures.songs("9", chart_date=date(2026, 11, 20), limit=20)
        assert captures.requests_used == 3
    assert [song.rank for song in songs.songs] == list(range(1, 21))
    listed = stores.rows("select * from raw.chart_issues order by chart_date desc")
    assert chart_index_from_rows(listed) == index
    kept = read_songs_of_issues(stores.engine, ["9", "1"], limit=20)
    assert kept == {"9": KnownSongs(songs=songs.songs, chart_date=date(2026, 11, 20))}


async def test_songs_of_another_day_are_refused_and_not_observed(
    begin_chart: Callable[..., ChartCaptures], stores: Any
) -> None:
    async with begin_chart() as captures:
        with pytest.raises(ChartUnavailableError) as caught:
            await captures.songs("9", chart_date=date(2026, 11, 1))
    assert caught.value.reason == "other_issue"
    assert stores.rows("select * from raw.chart_songs") == []
    assert stores.rows("select outcome from raw.captures") == [{"outcome": "chart_unavailable"}]


async def test_user_is_resolved_from_every_form_and_remembered(begin: Begin, source: Any) -> None:
    source.targets = {
        "/user/": LinkTarget("user", SEC),
        "/short/": LinkTarget("short", "short", "http://v/short/"),
        "behind http://v/short/": LinkTarget("video", "7361234567890123456"),
    }
    async with begin() as captures:
        assert await captures.resolve_user(SEC) == SEC
        assert await captures.resolve_user(f"look http://p/user/{SEC}!") == SEC
        assert captures.requests_used == 0
        for text in ("@mia_00", "@Mia_00", "mia_00"):  # asked for once, and then remembered
            assert await captures.resolve_user(text) == "sec of @mia_00"
        assert [asked for asked in source.asked if "@mia_00" in asked] == [
            ("user_by_handle", "@mia_00")
        ]
        assert await captures.resolve_user("http://v/short/") == "sec"
        used = captures.requests_used
        assert await captures.resolve_user("http://v/short/") == "sec"
        assert captures.requests_used == used == 3


async def test_hashtag_is_resolved_from_id_link_and_short_link(begin: Begin, source: Any) -> None:
    source.targets = {
        "/challenge/": LinkTarget("hashtag", "88888"),
        "/short/": LinkTarget("short", "short", "http://v/short/"),
        "behind http://v/short/": LinkTarget("hashtag", "99999"),
    }
    async with begin() as captures:
        texts = ["77777", "see http://p/challenge/88888", "http://v/short/"]
        assert [await captures.resolve_hashtag(text) for text in texts] == [
            "77777", "88888", "99999",
        ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "   ", "just words", "x" * 5000])
async def test_nonsense_leads_nowhere_without_a_request(text: str, begin: Begin) -> None:
    async with begin() as captures:
        with pytest.raises(UnresolvedIdError):
            await captures.resolve_user(text)
        with pytest.raises(InvalidParameterError):
            await captures.resolve_hashtag(text)
        assert captures.requests_used == 0


@pytest.mark.parametrize("kind", ["music", "hashtag"])
async def test_link_to_something_else_is_no_user(kind: Any, begin: Begin, source: Any) -> None:
    source.targets = {"/it/": LinkTarget(kind, "77777")}
    async with begin() as captures:
        with pytest.raises(UnresolvedIdError, match=kind):
            await captures.resolve_user("http://p/it/")
