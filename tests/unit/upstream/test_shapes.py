"""Every shape file gives exactly the records, or the named error, that its index entry says."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pipelines.domain.errors import SametrackError, UpstreamError
from pipelines.domain.records import UnavailableVideo
from pipelines.upstream.http import Ask, GuestClient
from pipelines.upstream.surfaces import Surfaces
from pipelines.upstream.trail import Answer
from pipelines.upstream.vidplat.accounts import parse_user_info
from pipelines.upstream.vidplat.lists import (
    parse_detail_body,
    parse_music_list,
    parse_slides_info,
    parse_user_page,
    parse_user_posts,
)
from pipelines.upstream.vidplat.music import parse_music_info
from pipelines.upstream.vidplat.pages import parse_work_page
from pipelines.upstream.vidplat.videos import Seen

SHAPES = Path(__file__).parents[2] / "shapes"
Scripted = Callable[[Sequence[Answer | SametrackError]], GuestClient]
PARSERS: dict[str, Callable[[bytes, str, Seen], object]] = {
    "work_page": lambda body, asked, seen: parse_work_page(body, aweme_id=asked, seen=seen),
    "detail_body": lambda body, asked, seen: parse_detail_body(body, aweme_id=asked, seen=seen),
    "slides_info": lambda body, asked, seen: parse_slides_info(body, aweme_id=asked, seen=seen),
    "music_info": lambda body, asked, seen: parse_music_info(body, music_id=asked, seen=seen),
    "music_list": lambda body, _, seen: parse_music_list(body, seen=seen),
    "user_posts": lambda body, asked, seen: parse_user_posts(body, sec_uid=asked, seen=seen),
    "user_page": lambda body, asked, seen: parse_user_page(body, sec_uid=asked, seen=seen),
    "user_info": lambda body, asked, seen: parse_user_info(body, sec_uid=asked, seen=seen),
}


async def _outcome(shape: Any, scripted: Scripted) -> tuple[str, object]:
    surfaces = Surfaces(scripted([shape.answer(shape.parser)]))
    parse = PARSERS[shape.parser]
    ask = Ask(surface=shape.parser, url="http://share.vidplat.localhost/", allowed=())
    try:
        reading = await surfaces.read(
            ask, shape.asked, lambda a: parse(a.body, shape.asked, surfaces.seen(a))
        )
    except SametrackError as error:
        return error.type, error.reason if isinstance(error, UpstreamError) else error.detail
    kind = "unavailable" if isinstance(reading.value, UnavailableVideo) else "records"
    return kind, reading.value


async def test_shape_gives_what_its_index_entry_says(
    shape: Any, scripted: Scripted, snapshot: SnapshotAssertion
) -> None:
    kind, value = await _outcome(shape, scripted)
    assert (kind, value) == (shape.outcome, snapshot)


def test_every_shape_file_is_in_the_index(shapes: list[Any]) -> None:
    on_disk = {
        str(path.relative_to(SHAPES))
        for path in SHAPES.rglob("*")
        if path.suffix in {".html", ".json"}
    }
    assert {shape.file for shape in shapes} == on_disk


def test_every_shape_says_where_it_comes_from(shapes: list[Any]) -> None:
    assert all(len(shape.source) > 20 for shape in shapes)


def test_ids_beyond_two_to_the_53_keep_every_digit() -> None:
    body = b'{"status_code":0,"music_info":{"id":7361234567890123457,"title":"a"}}'
    seen = Seen(surface="music_info", observed_at=datetime.now(UTC), link_of=str)
    track = parse_music_info(body, music_id="7361234567890123457", seen=seen)
    assert track.music_id == "7361234567890123457"


@pytest.mark.parametrize("surface", ["music_list", "user_posts"])
def test_a_zero_of_a_list_is_unknown(surface: str, shapes: list[Any]) -> None:
    seen = Seen(surface=surface, observed_at=datetime.now(UTC), link_of=str)
    pages = [
        PARSERS[shape.parser](shape.body, shape.asked, seen)
        for shape in shapes
        if shape.parser == surface and shape.outcome == "records"
    ]
    videos = [video for page in pages for video in page.videos]  # type: ignore[attr-defined]  # lists give pages
    assert videos
    assert not any(video.statistics_complete for video in videos)
    assert all(0 not in _counts(video) for video in videos)


def _counts(video: Any) -> list[int | None]:
    counts = video.statistics
    return [counts.digg_count, counts.comment_count, counts.collect_count, counts.share_count]
