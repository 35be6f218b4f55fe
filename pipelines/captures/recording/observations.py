"""Splits a parsed record into observations by table. Pure.

Shared by captures and the replay of the archive, so that both store the same rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from pipelines.platform.reading import CapturedValue
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    Video,
    VideoDetail,
    VideoPage,
)

CaptureKind = Literal[
    "track", "account", "hashtag", "work", "list", "search", "issues", "songs", "song", "link",
    "sound",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRequest:
    """A request to a surface; `kind` is the kind of its result.

    `entity_id` is the id, the term, or the issue (`latest` for the newest one); `cursor` and
    `place` are the position of a page, `begun_on` is the surface that gave the cursor.
    """

    kind: CaptureKind
    surface: str
    entity_id: str
    cursor: int | None = None
    place: SearchPosition | None = None
    volid: str | None = None
    begun_on: str | None = None

    @property
    def key(self) -> str:
        """Identity of the request, equal in all processes."""
        place = self.place or SearchPosition()
        parts = [self.surface, self.entity_id, self.cursor, place.search_id, place.backtrace]
        if self.begun_on not in {None, self.surface}:
            parts.append(self.begun_on)
        return "\x1f".join("" if part is None else str(part) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRecords:
    """Records by table. `items` are the ids on a page, in order; None if it was no page."""

    videos: tuple[Video, ...] = ()
    tracks: tuple[Track, ...] = ()
    accounts: tuple[Account, ...] = ()
    hashtags: tuple[HashtagInfo, ...] = ()
    search: SearchPage | None = None
    index: ChartIndex | None = None
    chart: ChartPage | None = None
    items: tuple[str, ...] | None = None
    item_count: int | None = None
    cursor_out: int | None = None
    has_more: bool | None = None


def to_observed_records(value: CapturedValue) -> ObservedRecords:
    """Split the value of a surface into records."""
    observed = ObservedRecords()
    match value:
        case VideoPage() | SearchPage():
            observed = _page(value)
        case ChartIndex():
            observed = ObservedRecords(index=value, item_count=len(value.issues))
        case ChartPage():
            observed = ObservedRecords(chart=value, item_count=len(value.songs))
        case Track():
            observed = ObservedRecords(tracks=(value,))
        case Account():
            observed = ObservedRecords(accounts=(value,))
        case HashtagInfo():
            observed = ObservedRecords(hashtags=(value,))
        case VideoDetail():
            observed = ObservedRecords(videos=(value.video,))
        case _:  # a video that is not shown; pages of the music service are archived as bodies
            pass
    return observed


def _each_once(videos: Iterable[Video]) -> tuple[Video, ...]:
    """Drop duplicate videos of a page; their positions are in `items`."""
    first: dict[str, Video] = {}
    for video in videos:
        first.setdefault(video.aweme_id, video)
    return tuple(first.values())


def _page(page: VideoPage | SearchPage) -> ObservedRecords:
    """Return the records of a page. Its foreign rows are observed, but no items of the list."""
    foreign = page.foreign if isinstance(page, VideoPage) else ()
    observed = ObservedRecords(
        videos=_each_once((*page.videos, *foreign)),
        items=tuple(video.aweme_id for video in page.videos),
        item_count=len(page.videos) + len(foreign),
        has_more=page.has_more,
    )
    if isinstance(page, SearchPage):
        return replace(observed, search=page, cursor_out=page.next_position.cursor)
    return replace(observed, cursor_out=page.cursor)
