"""A scan adds what this and earlier searches for its terms showed, however little it may ask."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.captures.session import Captures
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.collect import walk_search
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from warehouse.records.coverage import SourceCoverage
from warehouse.records.search import SearchPage, SearchPosition

pytestmark = pytest.mark.full

TERMS = ("song", "song remix")


class SearchingScan:
    """The part of a scan that a search needs, over the stores of the test."""

    music_id = "7361234567890123456"

    def __init__(
        self, captures: Captures, stores: Any, parameters: ScanParameters, loop: asyncio.Runner
    ) -> None:
        self.state = ScanState()
        self.captures, self.parameters, self.wait_for = captures, parameters, loop.run
        self.runtime = SimpleNamespace(engine=stores.engine)
        self.journal = self.stopwatch = self

    def once(self, key: str, kind: object, compute: Callable[[], Any]) -> Any:
        assert key == "search_union"
        assert kind is not None
        return compute()

    def waiting(self, kind: str) -> AbstractContextManager[None]:
        assert kind == "upstream"
        return nullcontext()

    def update_progress(self) -> None:
        """Nobody watches the progress."""


type Scan = Callable[..., tuple[SearchingScan, int]]


@pytest.fixture
def scan(begin: Callable[..., Captures], stores: Any, source: Any) -> Iterator[Scan]:
    """A search for `TERMS` that is shown these pages: the scan, and how many videos were new."""
    with asyncio.Runner() as loop:

        def scan(*pages: SearchPage, **parameters: Any) -> tuple[SearchingScan, int]:
            source.search_pages = list(pages)
            captures = loop.run(begin().__aenter__())
            found = SearchingScan(captures, stores, ScanParameters(**parameters), loop)
            new = walk_search(cast("ScanRun", found), TERMS)
            loop.run(captures.__aexit__(None, None, None))
            stores.engine.refresh()
            assert source.search_pages == []
            return found, new

        yield scan


def page(works: Any, *ids: str) -> SearchPage:
    place = SearchPosition(cursor=len(ids), search_id="log", backtrace="b")
    return SearchPage(videos=works(*ids), next_position=place, has_more=False)


def shown(scan: SearchingScan) -> list[tuple[str, str, str]]:
    return [(seen.aweme_id, seen.surface, seen.entity_id) for seen in scan.state.sightings]


def line(items: int, new: int, stop: str, *, requests: int = 0, pages: int = 0) -> SourceCoverage:
    return SourceCoverage(
        surface="search", requests=requests, pages=pages, items=items, new_items=new,
        stop_reason=stop,
    )  # fmt: skip


def test_a_search_that_may_ask_nothing_adds_what_earlier_ones_showed(
    scan: Scan, works: Any
) -> None:
    scan(page(works, "1", "2"), page(works, "3"))
    again, new = scan(search_candidate_limit=3)
    assert new == 3
    assert shown(again) == [
        ("1", "search", "song"), ("2", "search", "song"), ("3", "search", "song remix"),
    ]  # fmt: skip
    assert again.state.seen_ids == {"1", "2", "3"}
    assert again.state.coverage_report == [line(3, 3, "search_candidate_limit")]


def test_results_of_earlier_searches_follow_those_of_the_current_search(
    scan: Scan, works: Any
) -> None:
    scan(page(works, "1", "2"), page(works, "3"))
    again, new = scan(page(works, "4", "2"), page(works, "5"))
    assert new == 5
    assert [name for name, *_ in shown(again)] == ["4", "2", "5", "1", "3"]
    assert again.state.coverage_report == [
        line(2, 1, "exhausted", requests=1, pages=1), line(1, 1, "exhausted", requests=1, pages=1),
        line(2, 2, "completed"),
    ]  # fmt: skip


def test_a_term_that_was_not_asked_names_its_reason_beside_the_earlier_videos(
    scan: Scan, works: Any
) -> None:
    scan(page(works, "1", "2"), page(works, "3"))
    again, _ = scan(page(works, "4"), search_batch_target=1)
    assert again.state.coverage_report[-1] == line(3, 3, "batch_target_reached")


def test_a_refresh_adds_no_video_of_earlier_searches(scan: Scan, works: Any) -> None:
    scan(page(works, "1", "2"), page(works, "3"))
    again, new = scan(page(works, "4"), page(works, "2"), refresh=True)
    assert (new, [name for name, *_ in shown(again)]) == (2, ["4", "2"])


def test_a_first_search_has_nothing_earlier_to_report(scan: Scan, works: Any) -> None:
    first, new = scan(page(works, "1"), page(works, "2"))
    assert new == 2
    assert [one.requests for one in first.state.coverage_report] == [1, 1]


def test_each_term_that_shows_a_video_is_a_source_of_it(scan: Scan, works: Any) -> None:
    first, new = scan(page(works, "1", "2"), page(works, "2", "3"))
    assert new == 3
    assert shown(first) == [
        ("1", "search", "song"), ("2", "search", "song"), ("2", "search", "song remix"),
        ("3", "search", "song remix"),
    ]  # fmt: skip


def test_a_video_keeps_the_terms_of_earlier_searches(scan: Scan, works: Any) -> None:
    scan(page(works, "1", "2"), page(works, "3"))
    again, _ = scan(page(works, "4"), page(works, "2"))
    assert again.state.search_union["2"] == ("song", "song remix")
    assert [seen for seen in shown(again) if seen[0] == "2"] == [
        ("2", "search", "song"), ("2", "search", "song remix"),
    ]  # fmt: skip
