"""Every shape file gives exactly the records, or the named error, that its index entry says."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.parsers.descriptions import parse_music_info
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import refusal_of
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import SourceRequest
from tests.platform.shape_answers import PARSERS, SHAPES, Shape, read_chart_shape
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.videos import Unavailability

Scripted = Callable[[Sequence[HttpResponse | SametrackError]], GuestClient]


async def _read(shape: Shape, scripted: Scripted) -> object:
    if shape.is_chart:
        return read_chart_shape(shape)
    surfaces = SurfaceReader(scripted([shape.answer(shape.parser)]))
    ask = HttpRequest(surface=shape.parser, url="http://share.vidplat.localhost/", allowed=())
    request = SourceRequest(entity_id=shape.asked)
    reading = await surfaces.read(ask, request, PARSERS[shape.parser])
    return reading.value


async def _outcome(shape: Shape, scripted: Scripted) -> tuple[str, object, str | None]:
    """What came, as the index says it; its value or the error's word; the row of the refusal."""
    try:
        value = await _read(shape, scripted)
    except SametrackError as error:
        row = refusal_of(error)
        word = error.reason if isinstance(error, UpstreamError) else error.detail
        return error.type, word, row.name if row else None
    is_gone = isinstance(value, Unavailability)
    return "unavailable" if is_gone else "records", value, shape.row


async def test_shape_gives_what_its_index_entry_says(
    shape: Shape, scripted: Scripted, snapshot: SnapshotAssertion
) -> None:
    kind, value, row = await _outcome(shape, scripted)
    assert (kind, value) == (shape.outcome, snapshot)
    assert row == shape.row


def test_every_shape_file_is_in_the_index(shapes: list[Shape]) -> None:
    on_disk = {
        str(path.relative_to(SHAPES))
        for path in SHAPES.rglob("*")
        if path.suffix in {".html", ".json", ".txt"}
    }
    assert {shape.file for shape in shapes} == on_disk


def test_every_shape_says_where_it_comes_from(shapes: list[Shape]) -> None:
    assert all(len(shape.source) > 20 for shape in shapes)


def test_ids_beyond_two_to_the_53_keep_every_digit() -> None:
    body = b'{"status_code":0,"music_info":{"id":7361234567890123457,"title":"a"}}'
    seen = ParseContext(surface="music_info", observed_at=datetime.now(UTC), link_of=str)
    track = parse_music_info(body, music_id="7361234567890123457", context=seen)
    assert track.music_id == "7361234567890123457"


@pytest.mark.parametrize("surface", ["music_list", "hashtag_list", "user_posts"])
def test_a_zero_of_a_list_is_unknown(surface: str, shapes: list[Shape]) -> None:
    seen = ParseContext(surface=surface, observed_at=datetime.now(UTC), link_of=str)
    pages = [
        PARSERS[shape.parser](shape.body, shape.asked, seen)
        for shape in shapes
        if shape.parser == surface and shape.outcome == "records"
    ]
    videos = [video for page in pages for video in page.videos]  # type: ignore[attr-defined]  # lists give pages
    assert videos
    assert not any(video.statistics_complete for video in videos)
    assert all(0 not in _counts(video) for video in videos)


@pytest.mark.parametrize("parser", ["search_stream", "search_single"])
def test_a_work_in_a_search_claims_no_completeness(parser: str, shapes: list[Shape]) -> None:
    seen = ParseContext(surface=parser, observed_at=datetime.now(UTC), link_of=str)
    pages: Any = [
        PARSERS[parser](shape.body, shape.asked, seen)
        for shape in shapes
        if shape.parser == parser and shape.outcome == "records"
    ]
    videos = [video for page in pages for video in page.videos]
    assert any(video.statistics.known for video in videos)
    assert not any(video.statistics_complete for video in videos)


def _counts(video: Any) -> list[int | None]:
    counts = video.statistics
    return [counts.digg_count, counts.comment_count, counts.collect_count, counts.share_count]
