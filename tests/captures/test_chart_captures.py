"""How many pages of a chart are read, and that songs of another issue are refused."""

from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.chart import ChartCaptures
from pipelines.platform.sources.table import PARSER_VERSION, Reading
from warehouse.records.charts import ChartPage, ChartSong
from warehouse.records.errors import ChartUnavailableError

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOTHING = cast("Any", None)


class Source:
    """A chart whose pages have these ranks; behind them, each has one more song."""

    name = "chart"

    def __init__(self, pages: Mapping[int, range] | None = None, **said: Any) -> None:
        self.asked: list[tuple[str | None, int]] = []
        self._pages = pages or {}
        self._said = said

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        self.asked.append((volid, page))
        ranks = self._pages.get(page, range(page, page + 1))
        songs = tuple(ChartSong(rank=rank, title=f"song {rank}") for rank in ranks)
        found = ChartPage(
            songs=songs, surface="chart_songs", observed_at=NOW, page=page, **self._said
        )
        return Reading(
            surface="chart_songs", entity_id=volid or "latest", value=found, payload=b"",
            content_type=None, http_status=200, source_path="/songs", fetched_at=NOW,
            request_count=1, parser_version=PARSER_VERSION,
        )  # fmt: skip


async def read_at_once(
    _captures: ChartCaptures,
    _request: CaptureRequest,
    ask: Callable[[], Coroutine[object, object, Reading[ChartPage]]],
) -> SimpleNamespace:
    """Read and record nothing."""
    return SimpleNamespace(result=(await ask()).value)


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[Source], ChartCaptures]:
    monkeypatch.setattr(ChartCaptures, "_capture", read_at_once)
    return lambda source: ChartCaptures(
        provider=cast("Any", source), lake=NOTHING, engine=NOTHING, control=NOTHING
    )


async def test_a_page_that_comes_again_is_the_end(begin: Any) -> None:
    source = Source({1: range(1, 23), 2: range(1, 23)})
    page = await begin(source).songs("9", limit=100)
    assert [song.rank for song in page.songs] == list(range(1, 23))
    assert source.asked == [("9", 1), ("9", 2)]


async def test_no_more_pages_are_read_than_a_whole_chart_has(begin: Any) -> None:
    source = Source()
    page = await begin(source).songs(None, limit=500)
    assert [number for _, number in source.asked] == list(range(1, 41))
    assert len(page.songs) == 40


async def test_a_chart_that_says_its_size_is_asked_for_no_page_behind_it(begin: Any) -> None:
    source = Source({1: range(1, 23), 2: range(23, 31)}, total=30)
    page = await begin(source).songs("9", limit=500)
    assert (len(page.songs), page.total, len(source.asked)) == (30, 30, 2)


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ({"volid": "8"}, "got issue 8, not 9"),
        ({"chart_date": date(2026, 11, 19)}, "got songs of 2026-11-19, not of 2026-11-20"),
    ],
    ids=["issue", "date"],
)
async def test_songs_of_another_issue_are_refused(
    said: dict[str, Any], reported: str, begin: Any
) -> None:
    with pytest.raises(ChartUnavailableError, match=reported) as refused:
        await begin(Source(**said)).songs("9", chart_date=date(2026, 11, 20))
    assert (refused.value.reason, refused.value.status) == ("other_issue", 200)


async def test_a_page_that_names_no_issue_is_of_the_one_asked_for(begin: Any) -> None:
    page = await begin(Source()).songs("9", chart_date=date(2026, 11, 20), limit=1)
    assert (page.volid, page.chart_date) == ("9", date(2026, 11, 20))
