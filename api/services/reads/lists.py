"""Video lists over time: first screens merged into a union, and pages over that union.

Decides when to read a new first screen and which page to return. `warehouse.queries.lists`
defines the order of a union, `pipelines.reads.cursors` the meaning of a cursor.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync

from api.services.reads.deadline import Deadline
from api.services.reads.documents import LOCAL_CURSOR, ListHistory, ListPage, ReadResult
from api.services.reads.sources import FALLBACK_PROVIDER, Sources
from pipelines.captures.list_walk import ListWalk
from pipelines.captures.recent_details import fresh_until, is_fresh
from pipelines.documents.video_types import VideoDocument
from pipelines.documents.videos import to_video_document
from pipelines.platform.parsers.lists import foreign_rows_error
from pipelines.reads.cursors import PagePosition, parse_cursor
from warehouse.queries.lists import ListOrder, UnionPage, read_union_page, sort_key
from warehouse.queries.videos import ListedVideo, VideoSortValues, read_listed_videos
from warehouse.records.errors import InvalidParameterError, SubstitutionError
from warehouse.records.videos import Video, VideoPage


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshFirstScreen:
    """A first screen that was just read. `is_fallback` marks demo data, which is not stored."""

    walk: ListWalk
    is_fallback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPageRequest:
    """The requested page. `ttl_s` None: any stored observation may be served."""

    cursor: int
    count: int
    order: ListOrder
    refresh: bool = False
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSource[Answer]:
    """A list that can be read, and the answer that its operation makes of a page.

    Attributes:
        sources: The configured sources.
        surfaces: Surfaces that show the list; the first one is requested.
        entity_id: Id of the entity that the list belongs to.
        cursor_name: Name of the operation's cursor parameter.
        read_first_screen: Reads a new first screen; raises if the entity does not exist.
        refuse_unknown: Raises if the platform recently reported that the entity does not exist.
        to_answer: Builds the `data` of this operation.
        is_foreign: Says whether a video states another entity than the list's.
    """

    sources: Sources
    surfaces: tuple[str, ...]
    entity_id: str
    cursor_name: str
    read_first_screen: Callable[[], Awaitable[FreshFirstScreen]]
    refuse_unknown: Callable[[], Awaitable[None]]
    to_answer: Callable[[ListPage], Answer]
    is_foreign: Callable[[Video], bool]

    @property
    def entities(self) -> tuple[tuple[str, str], ...]:
        """The captures that the pages depend on."""
        return ((self.surfaces[0], self.entity_id),)

    async def read(
        self, wanted: ListPageRequest, *, now: datetime, deadline: Deadline
    ) -> ReadResult[Answer]:
        """Return a page of the union of the list.

        Raises:
            InvalidParameterError: The cursor belongs to no capture.
            UpstreamError: The platform refused the first screen, or what is stored of the list is
                of other entities.
        """
        place = parse_place(parse_cursor, wanted.cursor, self.cursor_name)
        page = None if wanted.refresh else await self.read_page(place, wanted)
        is_read = wanted.refresh or self._is_due(place, page, wanted, now=now)
        if is_read:
            async with deadline.guard(self.surfaces[0]):
                seen = await self.read_first_screen()
            if seen.is_fallback:
                page_of_demo = to_fallback_page(seen.walk, place.offset, wanted)
                return ReadResult(self.to_answer(page_of_demo), is_cacheable=False)
            page = await self.read_page(place, wanted)
        if page is None:
            raise unknown_cursor_error(self.cursor_name)
        if page.union_count == 0:
            await self.refuse_unknown()
        try:
            return await self._answer_of(page, place, wanted)
        except SubstitutionError:
            if is_read:
                raise
            # Details have shown what the stored first screen was, so it is read again.
            again = replace(wanted, refresh=True)
            return await self.read(again, now=now, deadline=deadline)

    async def read_page(self, place: PagePosition, wanted: ListPageRequest) -> UnionPage | None:
        """Read a page from the store."""
        return await run_sync(
            partial(
                read_union_page,
                self.sources.engine,
                surfaces=self.surfaces,
                entity_id=self.entity_id,
                sequence=place.sequence,
                at=place.at,
                offset=place.offset,
                count=wanted.count,
                order=wanted.order,
            )
        )

    async def to_video_documents(
        self,
        aweme_ids: Sequence[str],
        *,
        listed: Mapping[str, ListedVideo] | None = None,
        is_first: bool,
    ) -> list[VideoDocument]:
        """Return the records of a page in its order, without those of another entity.

        A row that did not state its account, hashtag or music id became a member of the list; a
        detail that was read since may state another one. So do rows that an earlier release stored
        although they did. They keep their places, so that no page of a walk moves.

        Args:
            aweme_ids: The members on the page.
            listed: The records that are already loaded.
            is_first: The page is where pagination begins.

        Raises:
            SubstitutionError: Most of the first page is of other entities.
        """
        known = listed or {}
        missing = [name for name in aweme_ids if name not in known]
        if missing:
            known = {**known, **await run_sync(read_listed_videos, self.sources.engine, missing)}
        videos = [known[name] for name in aweme_ids if name in known]
        foreign = [entry.video for entry in videos if self.is_foreign(entry.video)]
        own = [entry for entry in videos if not self.is_foreign(entry.video)]
        if is_first and len(foreign) > len(own):
            page = VideoPage(
                videos=tuple(entry.video for entry in own),
                foreign=tuple(foreign),
                cursor=None,
                has_more=None,
            )
            raise foreign_rows_error(page, surface=self.surfaces[0])
        return [
            to_video_document(entry.video, first_observed_at=entry.first_observed_at)
            for entry in own
        ]

    async def _answer_of(
        self, page: UnionPage, place: PagePosition, wanted: ListPageRequest
    ) -> ReadResult[Answer]:
        shown = len(page.aweme_ids)
        document = self.to_answer(
            ListPage(
                videos=await self.to_video_documents(
                    page.aweme_ids,
                    listed=page.listed,
                    is_first=place.is_newest and place.offset == 0,
                ),
                next_cursor=place.after(shown, as_of=page.sequence, at=page.at),
                has_more=place.offset + shown < page.union_count,
                platform_has_more=page.platform_has_more,
                pagination_mode=LOCAL_CURSOR,
                history=to_history(page),
                data_provider=page.data_provider,
                is_demo=self.sources.is_demo,
            )
        )
        videos = tuple(("video_page", name) for name in page.aweme_ids)
        return ReadResult(document, self.entities + videos, _until(page, place, wanted))

    def _is_due(
        self, place: PagePosition, page: UnionPage | None, wanted: ListPageRequest, *, now: datetime
    ) -> bool:
        """Return True if a new first screen must be read; never while paging."""
        if not place.is_newest:
            return False
        if page is None:
            return True
        negative_ttl = self.sources.settings.negative_ttl
        ttl_s = negative_ttl if page.union_count == 0 else wanted.ttl_s
        return ttl_s is not None and not is_fresh(page.last_observed_at, now=now, ttl_s=ttl_s)


def to_history(page: UnionPage) -> ListHistory:
    """Return the observation history of a list without the page itself."""
    return ListHistory(**{name: getattr(page, name) for name in ListHistory.__dataclass_fields__})


def to_fallback_page(walk: ListWalk, offset: int, wanted: ListPageRequest) -> ListPage:
    """Return a page of demo data in place of a refused one. Its cursor is an offset."""
    works = sorted(walk.videos, key=lambda video: sort_key(wanted.order, _sort_values(video)))
    shown = works[offset : offset + wanted.count]
    nothing = ListHistory(
        first_screen_count=len(works), union_count=len(works), snapshot_count=0,
        distinct_snapshot_count=0, first_observed_at=None, last_observed_at=None,
    )  # fmt: skip
    return ListPage(
        videos=[to_video_document(video) for video in shown],
        next_cursor=offset + len(shown),
        has_more=offset + len(shown) < len(works),
        platform_has_more=walk.has_more,
        pagination_mode=LOCAL_CURSOR,
        history=nothing,
        data_provider=FALLBACK_PROVIDER,
        is_demo=True,
    )


def parse_place[Place](parse: Callable[[int], Place], cursor: int, name: str) -> Place:
    """Return the place of a cursor.

    Raises:
        InvalidParameterError: No answer can have contained it.
    """
    try:
        return parse(cursor)
    except ValueError as error:
        raise unknown_cursor_error(name) from error


def unknown_cursor_error(name: str) -> InvalidParameterError:
    """Return the error for a cursor whose capture does not exist."""
    return InvalidParameterError(
        f"`{name}` belongs to no capture of this list",
        hint=f"Start with {name}=0, then use the {name} of each response",
    )


def _until(page: UnionPage, place: PagePosition, wanted: ListPageRequest) -> datetime | None:
    if not place.is_newest or wanted.ttl_s is None or page.last_observed_at is None:
        return None
    return fresh_until(page.last_observed_at, wanted.ttl_s)


def _sort_values(video: Video) -> VideoSortValues:
    created = None if video.birth is None else int(video.birth.at.timestamp())
    return VideoSortValues(likes=video.statistics.digg_count, created=created)
