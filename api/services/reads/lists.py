"""Video lists over time: first screens merged into a union, and pages over that union.

Defines how the first screens of a music id and of a hashtag are read, when a new one is due, and
which page is returned. Posts are in `posts.py`; the order of a union and the meaning of a cursor
are in `warehouse.queries.lists`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync

from api.schemas.lists import CursorList
from api.services.reads import documents
from api.services.reads.sources import FALLBACK_PROVIDER, Deadline, Sources
from pipelines.captures.session import Captures
from pipelines.captures.stored_captures import fresh_until, is_fresh
from pipelines.captures.walks import ListWalk
from pipelines.documents.result_types import VideoDocument
from pipelines.documents.videos import to_video_document
from pipelines.platform.parsers.lists import foreign_rows_error
from warehouse.queries.lists import (
    ListHistory,
    ListOrder,
    PagePosition,
    UnionPage,
    parse_cursor,
    read_union_page,
    sort_members,
)
from warehouse.queries.videos import read_listed_videos
from warehouse.records import errors
from warehouse.records.videos import Video, VideoPage, is_of_other_hashtag, is_of_other_music

HASHTAG_ORDERS: tuple[ListOrder, ...] = ("public", "likes", "newest")
"""By `sort_type`."""


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
class ListSource[Data]:
    """A list that can be read, and the answer that its operation makes of a page.

    Attributes:
        sources: The configured sources.
        surfaces: Surfaces that show the list; the first one is requested.
        entity_id: Id of the entity that the list belongs to.
        cursor_name: Name of the operation's cursor parameter.
        read_first_screen: Reads a new first screen; raises if the entity does not exist.
        raise_if_unknown: Raises if the platform recently reported that the entity does not exist.
        to_data: Builds the `data` of this operation.
        is_foreign: Says whether a video states another entity than the list's.
    """

    sources: Sources
    surfaces: tuple[str, ...]
    entity_id: str
    cursor_name: str
    read_first_screen: Callable[[], Awaitable[FreshFirstScreen]]
    raise_if_unknown: Callable[[], Awaitable[None]]
    to_data: Callable[[documents.ListPage], Data]
    is_foreign: Callable[[Video], bool]

    async def read(
        self, request: ListPageRequest, *, now: datetime, deadline: Deadline
    ) -> documents.ReadResult[Data]:
        """Return a page of the union of the list.

        Raises:
            InvalidParameterError: No response has had this cursor.
            UpstreamError: The platform refused the first screen, or most of the stored one belongs
                to other entities.
        """
        try:
            place = parse_cursor(request.cursor)
        except ValueError as error:
            raise unknown_cursor_error(self.cursor_name) from error
        page = None if request.refresh else await self.read_page(place, request)
        needs_first_screen = request.refresh or (place.is_newest and page is None)
        if place.is_newest and page is not None:  # never while paging
            is_empty = page.union_count == 0
            ttl_s = self.sources.settings.negative_ttl if is_empty else request.ttl_s
            observed_at = page.last_observed_at
            needs_first_screen = ttl_s is not None and not is_fresh(
                observed_at, now=now, ttl_s=ttl_s
            )
        if needs_first_screen:
            async with deadline.guard(self.surfaces[0]):
                screen = await self.read_first_screen()
            if screen.is_fallback:
                demo_page = to_fallback_page(screen.walk, place.offset, request)
                return documents.ReadResult(self.to_data(demo_page), is_cacheable=False)
            page = await self.read_page(place, request)
        if page is None:
            raise unknown_cursor_error(self.cursor_name)
        if page.union_count == 0:
            await self.raise_if_unknown()
        is_first = place.is_newest and place.offset == 0
        try:
            videos = await self.to_video_documents(
                page.aweme_ids, listed=page.listed, is_first=is_first
            )
        except errors.SubstitutionError:
            if needs_first_screen:
                raise
            # Pages of videos that were read since show that most of the stored first screen belongs
            # to other entities, so it is read again.
            again = replace(request, refresh=True)
            return await self.read(again, now=now, deadline=deadline)
        count = len(page.aweme_ids)
        document = self.to_data(
            documents.ListPage(
                videos=videos,
                next_cursor=place.after(count, as_of=page.sequence, at=page.at),
                has_more=place.offset + count < page.union_count,
                platform_has_more=page.platform_has_more,
                pagination_mode=documents.LOCAL_CURSOR,
                history=page,
                data_provider=page.data_provider,
                is_demo=self.sources.is_demo,
            )
        )
        until = None
        if place.is_newest and request.ttl_s is not None:
            until = fresh_until(page.last_observed_at, request.ttl_s)
        details = (("video_page", aweme_id) for aweme_id in page.aweme_ids)
        entities = ((self.surfaces[0], self.entity_id), *details)
        return documents.ReadResult(document, entities, until)

    async def read_page(self, place: PagePosition, request: ListPageRequest) -> UnionPage | None:
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
                count=request.count,
                order=request.order,
            )
        )

    async def to_video_documents(
        self,
        aweme_ids: Sequence[str],
        *,
        listed: Mapping[str, Video] | None = None,
        is_first: bool,
    ) -> list[VideoDocument]:
        """Return the records of a page in its order, without those of another entity.

        A row that did not state its account, hashtag or music id was taken for a member; the page
        of the video, read later, may name another one. Earlier releases stored rows that named
        another one, too. They are left out here but keep their places, so that other pages of a
        walk do not move.

        Args:
            aweme_ids: The members on the page.
            listed: The records that are already loaded.
            is_first: The page is where pagination begins.

        Raises:
            SubstitutionError: Most of the first page is of other entities.
        """
        loaded = dict(listed or {})
        missing = [aweme_id for aweme_id in aweme_ids if aweme_id not in loaded]
        if missing:
            loaded |= await run_sync(read_listed_videos, self.sources.engine, missing)
        videos = [loaded[aweme_id] for aweme_id in aweme_ids if aweme_id in loaded]
        own = tuple(video for video in videos if not self.is_foreign(video))
        foreign = tuple(video for video in videos if self.is_foreign(video))
        page = VideoPage(videos=own, foreign=foreign, cursor=None, has_more=None)
        if is_first and page.is_substituted:
            raise foreign_rows_error(page, surface=self.surfaces[0])
        return [to_video_document(video) for video in own]


def to_fallback_page(walk: ListWalk, offset: int, request: ListPageRequest) -> documents.ListPage:
    """Return a page of demo data in place of a refused one. Its cursor is an offset."""
    videos = {video.aweme_id: video for video in walk.videos}
    values: dict[str, int | None] = {}
    if request.order != "public":
        values = {name: _sort_value(video, request.order) for name, video in videos.items()}
    ids = sort_members(videos, values)
    page_videos = [videos[name] for name in ids[offset : offset + request.count]]
    history = ListHistory(
        first_screen_count=len(videos),
        union_count=len(videos),
        snapshot_count=0,
        distinct_snapshot_count=0,
        first_observed_at=None,
        last_observed_at=None,
    )
    return documents.ListPage(
        videos=[to_video_document(video) for video in page_videos],
        next_cursor=offset + len(page_videos),
        has_more=offset + len(page_videos) < len(videos),
        platform_has_more=walk.has_more,
        pagination_mode=documents.LOCAL_CURSOR,
        history=history,
        data_provider=FALLBACK_PROVIDER,
        is_demo=True,
    )


def unknown_cursor_error(name: str) -> errors.InvalidParameterError:
    """Return the error for a cursor whose capture does not exist."""
    return errors.InvalidParameterError(
        f"`{name}` belongs to no capture of this list",
        hint=f"Start with {name}=0, then use the {name} of each response",
    )


def _sort_value(video: Video, order: ListOrder) -> int | None:
    if order == "likes":
        return video.statistics.digg_count
    return None if video.birth is None else int(video.birth.at.timestamp())


def music_list_source(sources: Sources, music_id: str, *, now: datetime) -> ListSource[CursorList]:
    """Return the list of videos under a music id."""
    unknown = partial(
        errors.InvalidMusicInputError, f"Music id {music_id} was not found on the platform"
    )
    return ListSource(
        sources=sources,
        surfaces=("music_list", "trends_list", "music_page", "music_app"),
        entity_id=music_id,
        cursor_name="cursor",
        to_data=documents.to_cursor_list,
        read_first_screen=partial(
            _read_first_screen,
            sources,
            lambda captures: captures.walk_music(music_id, limit=1),
            lambda captures: captures.track(music_id),
            unknown,
        ),
        raise_if_unknown=partial(_raise_if_unknown, sources, "music_info", music_id, unknown, now),
        is_foreign=partial(is_of_other_music, music_id=music_id),
    )


def hashtag_list_source(sources: Sources, ch_id: str, *, now: datetime) -> ListSource[CursorList]:
    """Return the list of videos under a hashtag."""
    unknown = partial(
        errors.InvalidParameterError,
        f"Hashtag {ch_id} was not found on the platform",
        hint="Use a ch_id of a video's hashtags",
    )
    return ListSource(
        sources=sources,
        surfaces=("hashtag_list", "hashtag_page"),
        entity_id=ch_id,
        cursor_name="cursor",
        to_data=documents.to_cursor_list,
        read_first_screen=partial(
            _read_first_screen,
            sources,
            lambda captures: captures.walk_hashtag(ch_id, limit=1, pages=1),
            lambda captures: captures.hashtag(ch_id),
            unknown,
        ),
        raise_if_unknown=partial(_raise_if_unknown, sources, "hashtag_info", ch_id, unknown, now),
        is_foreign=partial(is_of_other_hashtag, ch_id=ch_id),
    )


async def _read_first_screen(
    sources: Sources,
    walk_list: Callable[[Captures], Awaitable[ListWalk]],
    read_entity: Callable[[Captures], Awaitable[object]],
    unknown: Callable[[], errors.SametrackError],
) -> FreshFirstScreen:
    """Read a first screen; if it is empty, check that the entity exists.

    Raises:
        UpstreamError: The platform refused the first screen.
        SametrackError: `unknown`, if the platform does not know the entity.
    """
    async with sources.open("music") as captures:
        walk = await walk_list(captures)
        if walk.error is not None:
            raise walk.error
        if not walk.videos:
            try:
                await read_entity(captures)
            except (errors.InvalidMusicInputError, errors.UnresolvedIdError) as error:
                raise unknown() from error
            except (errors.UpstreamError, errors.ProviderUnsupportedError):
                pass  # the list may really be empty, and a failed check does not show otherwise
        return FreshFirstScreen(walk=walk, is_fallback=captures.fallback_count > 0)


async def _raise_if_unknown(
    sources: Sources,
    surface: str,
    entity_id: str,
    unknown: Callable[[], errors.SametrackError],
    now: datetime,
) -> None:
    """Raise if the platform recently reported that the entity does not exist."""
    for outcome in (errors.InvalidMusicInputError.type, errors.UnresolvedIdError.type):
        if await sources.had_lately(outcome, (surface,), entity_id, now=now):
            raise unknown()
