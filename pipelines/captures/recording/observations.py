"""What a record that was read says about the world, sorted by table. Pure.

One place for captures and for reading the archive again, so that both keep the same things.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPlace
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    Video,
    VideoDetail,
    VideoPage,
)

type Seen = (
    Track
    | Account
    | HashtagInfo
    | VideoDetail
    | UnavailableVideo
    | VideoPage
    | SearchPage
    | ChartIndex
    | ChartPage
)
"""Everything that a surface can show."""


Kind = Literal["track", "account", "hashtag", "work", "list", "search", "issues", "songs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a surface was asked, of which `kind` the answer is. `entity_id` is the id, the term,
    or the issue (`latest` for the newest one); `cursor` and `place` say where a page begins.
    """

    kind: Kind
    surface: str
    entity_id: str
    cursor: int | None = None
    place: SearchPlace | None = None
    volid: str | None = None

    @property
    def key(self) -> str:
        """The same text for the same question, whoever asks."""
        place = self.place or SearchPlace()
        parts = (self.surface, self.entity_id, self.cursor, place.search_id, place.backtrace)
        return "\x1f".join("" if part is None else str(part) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Records by table. `items` are the ids that a page showed, in its order; None: no page."""

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


def to_observed(value: Seen) -> Observed:
    """The records in what a surface showed."""
    match value:
        case VideoPage() | SearchPage():
            return _page(value)
        case ChartIndex():
            return Observed(index=value, item_count=len(value.issues))
        case ChartPage():
            return Observed(chart=value, item_count=len(value.songs))
        case _:
            return _single(value)


def _single(value: Track | Account | HashtagInfo | VideoDetail | UnavailableVideo) -> Observed:
    match value:
        case Track():
            return Observed(tracks=(value,))
        case Account():
            return Observed(accounts=(value,))
        case HashtagInfo():
            return Observed(hashtags=(value,))
        case VideoDetail():
            return Observed(videos=(value.video,))
        case UnavailableVideo():
            return Observed()


def _each_once(videos: Iterable[Video]) -> tuple[Video, ...]:
    """A work that a page repeats was observed once; its places are in `items`."""
    first: dict[str, Video] = {}
    for video in videos:
        first.setdefault(video.aweme_id, video)
    return tuple(first.values())


def _page(page: VideoPage | SearchPage) -> Observed:
    observed = Observed(
        videos=_each_once(page.videos),
        items=tuple(video.aweme_id for video in page.videos),
        item_count=len(page.videos),
        has_more=page.has_more,
    )
    if isinstance(page, SearchPage):
        return replace(observed, search=page, cursor_out=page.next_place.cursor)
    return replace(observed, cursor_out=page.cursor)
