"""The shape files, and every parser as a function of a body and what was asked for.

Shared by the tests of shapes, the mutations of `benchmarks.fuzz` and the bench, so that a new
surface is named once.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.chartsrc.bodies import (
    ChartParseContext,
    parse_issues,
    refuse_chart_answer,
)
from pipelines.platform.chartsrc.songs import (
    check_issue,
    parse_latest,
    parse_song_page,
    parse_songs,
)
from pipelines.platform.parsers.descriptions import (
    parse_account_page,
    parse_hashtag_info,
    parse_music_info,
    parse_user_by_handle,
    parse_user_info,
)
from pipelines.platform.parsers.lists import (
    parse_detail_body,
    parse_hashtag_list,
    parse_music_list,
    parse_slides_info,
    parse_user_page,
    parse_user_posts,
)
from pipelines.platform.parsers.music_service import parse_service_list, parse_service_track
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.search import parse_search_single, parse_search_stream
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import load_profile
from warehouse.records.charts import ChartPage
from warehouse.records.search import SearchPosition

SHAPES = Path(__file__).parents[1] / "shapes"
SEEN_AT = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
ISSUE_DAYS = {"103108": date(2025, 12, 22)}
"""What the list of issues says of the issue that the shapes of songs are asked for."""
LATER = SearchPosition(cursor=10, search_id="20261120080000EARLIER", backtrace="bt:0")
_MARKERS = load_profile("sandbox", sandbox_port=8790).markers


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One entry of the index. `row` is the row of the table of refusals that the shape stands
    for; a shape of level `wire` is served over HTTP, one of level `body` is handed to its parser.
    """

    file: str
    parser: str
    asked: str
    status: int
    outcome: str
    source: str
    row: str | None = None
    location: str | None = None
    page: int = 1
    level: str = "body"
    wire: str | None = None
    retry_after: str | None = None

    @property
    def body(self) -> bytes:
        return (SHAPES / self.file).read_bytes()

    @property
    def is_chart(self) -> bool:
        return self.parser.startswith("chart_")

    def answer(self, surface: str) -> HttpResponse:
        return HttpResponse(
            surface=surface,
            url=f"http://share.vidplat.localhost/{self.file}",
            status=self.status,
            content_type=None,
            body=self.body,
            fetched_at=SEEN_AT,
            location=self.location,
        )


def read_index() -> list[Shape]:
    """Every shape, in the order of the index."""
    return list(_index())


@cache
def _index() -> tuple[Shape, ...]:
    """Read once: it is long, and hundreds of tests ask for a shape by name."""
    index = tomllib.loads((SHAPES / "index.toml").read_text(encoding="utf-8"))
    return tuple(Shape(**entry) for entry in index["shape"])


Parse = Callable[[bytes, str, ParseContext], object]
"""Of a body, what was asked for, and where it was seen."""


def _chart(seen: ParseContext) -> ChartParseContext:
    return ChartParseContext(surface=seen.surface, observed_at=seen.observed_at, markers=_MARKERS)


def _of_issue(page: ChartPage, asked: str, *, is_proof_needed: bool = False) -> ChartPage:
    volid = asked or None
    day = ISSUE_DAYS.get(asked)
    check_issue(page, volid=volid, chart_date=day, is_proof_needed=is_proof_needed)
    return page


def _songs(body: bytes, asked: str, seen: ParseContext, page: int = 1) -> ChartPage:
    return _of_issue(parse_songs(body, page=page, context=_chart(seen)), asked)


def _latest(body: bytes, asked: str, seen: ParseContext) -> ChartPage:
    found = parse_latest(body, page=1, context=_chart(seen))
    return _of_issue(found, asked, is_proof_needed=True)


def _song_page(body: bytes, asked: str, seen: ParseContext) -> ChartPage:
    found = parse_song_page(body, page=1, page_size=22, context=_chart(seen))
    return _of_issue(found, asked, is_proof_needed=True)


def _old_song_page(body: bytes, asked: str, seen: ParseContext) -> ChartPage:
    return _of_issue(parse_song_page(body, page=1, page_size=30, context=_chart(seen)), asked)


PARSERS: dict[str, Parse] = {
    "work_page": parse_video_page,
    "detail_body": parse_detail_body,
    "slides_info": parse_slides_info,
    "music_info": parse_music_info,
    "music_list": parse_music_list,
    "trends_list": parse_music_list,
    "service_track": parse_service_track,
    "service_playlist": lambda body, asked, seen: parse_service_list(
        body, asked, replace(seen, surface="service_playlist")
    ),
    "service_album": lambda body, asked, seen: parse_service_list(
        body, asked, replace(seen, surface="service_album")
    ),
    "service_artist": lambda body, asked, seen: parse_service_list(
        body, asked, replace(seen, surface="service_artist")
    ),
    "hashtag_info": parse_hashtag_info,
    "hashtag_list": parse_hashtag_list,
    "user_posts": lambda body, asked, seen: parse_user_posts(
        body, asked, replace(seen, is_first=True)
    ),
    "user_page": parse_user_page,
    "user_account": parse_account_page,
    "user_info": parse_user_info,
    "user_by_handle": parse_user_by_handle,
    "search_stream": parse_search_stream,
    "search_single": lambda body, asked, seen: parse_search_single(
        body, asked, replace(seen, place=LATER)
    ),
    "chart_issues": lambda body, _, seen: parse_issues(body, context=_chart(seen)),
    "chart_songs": _songs,
    "chart_latest": _latest,
    "chart_html": _song_page,
    "chart_html_old": _old_song_page,
}


def parse_as(shape: Shape, body: bytes, seen: ParseContext) -> object:
    """What the parser of a shape makes of a body."""
    if shape.page > 1:
        return _songs(body, shape.asked, seen, shape.page)
    return PARSERS[shape.parser](body, shape.asked, seen)


def read_chart_shape(shape: Shape) -> object:
    """What a shape of the chart gives: its records, or the error by name."""
    answer = shape.answer(shape.parser)
    refuse_chart_answer(answer)
    seen = ParseContext(surface=shape.parser, observed_at=SEEN_AT, link_of=str)
    return parse_as(shape, answer.body, seen)
