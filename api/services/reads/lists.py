"""Video lists over time: first screens merged into a union, and pages over that union.

Decides when to read a new first screen and which page to return. `warehouse.queries.lists.pages`
defines the order of a union, `pipelines.reads.cursors` the meaning of a cursor.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync

from api.services.reads.deadline import Deadline
from api.services.reads.read_result import Answer, marked
from api.services.reads.sources import STAND_IN, Sources
from pipelines.captures.freshness import is_fresh, serves_until
from pipelines.captures.list_walk import Walk
from pipelines.documents.lists import LOCAL_CURSOR, History, to_list_document
from pipelines.documents.videos import Document, to_video_document
from pipelines.reads.cursors import Place, read_place
from warehouse.queries.lists.pages import UnionPage, read_union_page
from warehouse.queries.lists.union import Order
from warehouse.queries.videos import Listed, read_listed
from warehouse.records.errors import InvalidParameterError
from warehouse.records.videos import Video

type Shown = Callable[[Video], Video]
"""Completes a video with facts known from the list itself."""


async def as_it_is() -> Shown:
    """Return videos unchanged."""
    return lambda video: video


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A first screen that was just read. `is_stand_in` marks demo data, which is not stored."""

    walk: Walk
    is_stand_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list that can be read.

    Attributes:
        surfaces: Surfaces that show the list; the first one is requested.
        entity_id: Id of the entity that the list belongs to.
        cursor_name: Name of the operation's cursor parameter.
        read_first_screen: Reads a new first screen; raises if the entity does not exist.
        refuse_unknown: Raises if the platform recently reported that the entity does not exist.
        more: Additional fields of this operation.
        completion: Loads facts that complete a video, concurrently with the videos.
    """

    surfaces: tuple[str, ...]
    entity_id: str
    cursor_name: str
    read_first_screen: Callable[[], Awaitable[Seen]]
    refuse_unknown: Callable[[], Awaitable[None]]
    more: Document = field(default_factory=dict)
    completion: Callable[[], Awaitable[Shown]] = as_it_is

    @property
    def entities(self) -> tuple[tuple[str, str], ...]:
        """The captures that the pages depend on."""
        return ((self.surfaces[0], self.entity_id),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The requested page. `ttl_s` None: any stored observation may be served."""

    cursor: int
    count: int
    order: Order
    refresh: bool = False
    ttl_s: float | None = None


async def read_list(
    sources: Sources, listing: Listing, wanted: Wanted, *, now: datetime, deadline: Deadline
) -> Answer:
    """Return a page of the union of a list.

    Raises:
        InvalidParameterError: The cursor belongs to no capture.
        UpstreamError: The platform refused the first screen.
    """
    place = read_place(wanted.cursor)
    page = None if wanted.refresh else await read_page(sources, listing, place, wanted)
    if wanted.refresh or _is_due(sources, place, page, wanted, now=now):
        async with deadline.guard(listing.surfaces[0]):
            seen = await listing.read_first_screen()
        if seen.is_stand_in:
            return to_stand_in(listing, seen.walk, place.offset, wanted)
        page = await read_page(sources, listing, place, wanted)
    if page is None:
        raise no_such_cursor(listing.cursor_name)
    if page.union_count == 0:
        await listing.refuse_unknown()
    return await _to_answer(sources, listing, page, place, wanted)


async def read_page(
    sources: Sources, listing: Listing, place: Place, wanted: Wanted
) -> UnionPage | None:
    """Read a page from the store."""
    return await run_sync(
        partial(
            read_union_page,
            sources.engine,
            surfaces=listing.surfaces,
            entity_id=listing.entity_id,
            sequence=place.sequence,
            offset=place.offset,
            count=wanted.count,
            order=wanted.order,
        )
    )


async def to_works(
    sources: Sources,
    listing: Listing,
    aweme_ids: Sequence[str],
    *,
    listed: Mapping[str, Listed] | None = None,
) -> list[Document]:
    """Return the records of a page in its order.

    `listed` holds the records that are already loaded.
    """
    if not aweme_ids:
        return []
    known = listed or {}
    missing = [name for name in aweme_ids if name not in known]
    read, complete = await asyncio.gather(
        run_sync(read_listed, sources.engine, missing), listing.completion()
    )
    return [
        to_video_document(complete(found.video), first_observed_at=found.first_observed_at)
        for found in map({**known, **read}.get, aweme_ids)
        if found is not None
    ]


def to_history(page: UnionPage) -> History:
    """Return the observation history of a list without the page itself."""
    return History(**{name: getattr(page, name) for name in History.__dataclass_fields__})


def to_stand_in(listing: Listing, walk: Walk, offset: int, wanted: Wanted) -> Answer:
    """Return a page of demo data in place of a refused one. Its cursor is an offset."""
    works = sorted(walk.videos, key=_KEYS[wanted.order])
    shown = works[offset : offset + wanted.count]
    nothing = History(
        first_screen_count=len(works), union_count=len(works), snapshot_count=0,
        distinct_snapshot_count=0, first_observed_at=None, last_observed_at=None,
    )  # fmt: skip
    document = to_list_document(
        [to_video_document(video) for video in shown],
        next_cursor={listing.cursor_name: offset + len(shown)},
        has_more=offset + len(shown) < len(works),
        platform_has_more=walk.has_more,
        pagination_mode=LOCAL_CURSOR,
        history=nothing,
    )
    told = marked(document | listing.more, data_provider=STAND_IN, is_demo=True)
    return Answer(told, is_kept=False)


def no_such_cursor(name: str) -> InvalidParameterError:
    """Return the error for a cursor whose capture does not exist."""
    return InvalidParameterError(
        f"`{name}` belongs to no capture of this list",
        hint=f"Start with {name}=0, then use the {name} of each response",
    )


async def _to_answer(
    sources: Sources, listing: Listing, page: UnionPage, place: Place, wanted: Wanted
) -> Answer:
    works = await to_works(sources, listing, page.aweme_ids, listed=page.listed)
    shown = len(page.aweme_ids)
    document = to_list_document(
        works,
        next_cursor={listing.cursor_name: place.after(shown, as_of=page.sequence)},
        has_more=place.offset + shown < page.union_count,
        platform_has_more=page.platform_has_more,
        pagination_mode=LOCAL_CURSOR,
        history=to_history(page),
    )
    told = marked(
        document | listing.more, data_provider=page.data_provider, is_demo=sources.is_demo
    )
    videos = tuple(("video_page", name) for name in page.aweme_ids)
    return Answer(told, listing.entities + videos, _until(page, place, wanted))


def _is_due(
    sources: Sources, place: Place, page: UnionPage | None, wanted: Wanted, *, now: datetime
) -> bool:
    """Return True if a new first screen must be read; never while paging."""
    if place.sequence is not None:
        return False
    if page is None:
        return True
    ttl_s = sources.settings.negative_ttl if page.union_count == 0 else wanted.ttl_s
    return ttl_s is not None and not is_fresh(page.last_observed_at, now=now, ttl_s=ttl_s)


def _until(page: UnionPage, place: Place, wanted: Wanted) -> datetime | None:
    if place.sequence is not None or wanted.ttl_s is None or page.last_observed_at is None:
        return None
    return serves_until(page.last_observed_at, wanted.ttl_s)


_KEYS: dict[Order, Callable[[Video], int]] = {
    "public": lambda _video: 0,
    "likes": lambda video: -(video.statistics.digg_count or 0),
    "newest": lambda video: -(video.create_time or 0),
}
