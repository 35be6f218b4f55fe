"""Posts of an account, by the platform's own cursor or by a cursor over observed posts.

Decides which of the two, when a page is read, and which part of it is returned.
"""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Protocol

from anyio.to_thread import run_sync

from api.schemas.lists import PostList
from api.services.reads import documents, lists
from api.services.reads.sources import Deadline, Sources
from api.services.reads.users import fetch_profile, known_profile, raise_if_unknown
from pipelines.captures.session import Captures
from pipelines.captures.stored_captures import fresh_until, is_fresh
from pipelines.captures.walks import EMPTY_PAGES_IN_A_ROW, ListWalk
from warehouse.queries.lists import (
    CapturedPage,
    ListOrder,
    PagePosition,
    parse_page_cursor,
    read_captured_page,
)
from warehouse.records import errors
from warehouse.records.videos import is_of_other_account

SURFACES = ("user_posts", "user_page")
CURSOR = "max_cursor"
ORDERS: tuple[ListOrder, ...] = ("newest", "likes")
"""By `sort_type`."""


async def read_posts(
    sources: Sources,
    sec_user_id: str,
    wanted: lists.ListPageRequest,
    *,
    now: datetime,
    deadline: Deadline,
) -> documents.ReadResult[PostList]:
    """Return a page of the posts of an account.

    Raises:
        UnresolvedIdError: The account does not exist.
        InvalidParameterError: The cursor belongs to no capture.
        UpstreamError: The platform refused the posts.
    """
    listing = _list_source(sources, sec_user_id, now=now)
    page = replace(wanted, ttl_s=sources.settings.posts_ttl)
    if sources.pages_posts_locally:
        return await listing.read(page, now=now, deadline=deadline)
    return await _by_platform_cursor(listing, page, now=now, deadline=deadline)


async def find_posts(
    sources: Sources,
    captures: Captures,
    sec_user_id: str,
    *,
    cursor: int,
    now: datetime,
    order: ListOrder = "public",
    refresh: bool = False,
) -> CapturedPage | ListWalk:
    """Return a page of posts by the platform's own cursor, from the store if it is fresh.

    `refresh`: from the platform, however fresh the stored one is. Empty pages in the middle are
    passed over.

    A `ListWalk` is demo data returned as a fallback; it is not stored.

    Raises:
        UpstreamError: The platform refused the page.
    """
    stored_page = partial(_stored, sources, sec_user_id, order=order)

    async def fresh_page(*, cursor: int) -> CapturedPage | None:
        page = await stored_page(cursor=cursor)
        ttl_s = sources.settings.posts_ttl
        return page if page and is_fresh(page.observed_at, now=now, ttl_s=ttl_s) else None

    fresh = None if refresh else await _pass_over_empty(fresh_page, cursor)
    if fresh is not None:
        return fresh
    walk = await captures.walk_user_posts(sec_user_id, cursor=cursor)
    if walk.error is not None:
        raise walk.error
    if captures.fallback_count:
        return walk
    await captures.flush()
    read = await _pass_over_empty(stored_page, cursor)
    if read is None:
        raise errors.WarehouseUnavailableError(
            "The posts that were just read could not be loaded from the store"
        )
    return read


class _ReadPage(Protocol):
    """Reads the stored page at a cursor of the platform; None if there is none."""

    async def __call__(self, *, cursor: int) -> CapturedPage | None: ...


async def _pass_over_empty(read: _ReadPage, cursor: int) -> CapturedPage | None:
    """Return the stored page at a cursor, or the next one with posts if empty ones lead to it.

    None if one of them is not stored.
    """
    page = await read(cursor=cursor)
    for _ in range(EMPTY_PAGES_IN_A_ROW):
        if page is None or page.aweme_ids or not page.has_more or page.cursor is None:
            return page
        if page.cursor == page.cursor_in:
            return page
        page = await read(cursor=page.cursor)
    return page


async def _by_platform_cursor(
    listing: lists.ListSource[PostList],
    wanted: lists.ListPageRequest,
    *,
    now: datetime,
    deadline: Deadline,
) -> documents.ReadResult[PostList]:
    """Return pages as the platform cuts them; a page with more than `count` videos is split.

    `sort_type` sorts each platform page separately, because later pages are not known yet. So
    paging shows each video once, in the platform's order from page to page.
    """
    sources = listing.sources
    try:
        place = parse_page_cursor(wanted.cursor)
    except ValueError as error:
        raise lists.unknown_cursor_error(CURSOR) from error
    if place is not None:
        page: CapturedPage | ListWalk | None = await _stored(
            sources, listing.entity_id, sequence=place.sequence, at=place.at, order=wanted.order
        )
        if page is None:
            raise lists.unknown_cursor_error(CURSOR)
    else:
        async with deadline.guard(SURFACES[0]), sources.open("users") as captures:
            page = await find_posts(
                sources,
                captures,
                listing.entity_id,
                cursor=wanted.cursor,
                now=now,
                order=wanted.order,
                refresh=wanted.refresh,
            )
            is_empty = not (page.videos if isinstance(page, ListWalk) else page.aweme_ids)
            if is_empty and wanted.cursor == 0:
                await _raise_if_unknown(sources, captures, listing.entity_id, now=now)
    if isinstance(page, ListWalk):
        return _fallback_page(listing, page, wanted)
    try:
        return await _to_result(listing, page, place or PagePosition(page.sequence, 0), wanted)
    except errors.SubstitutionError:
        if wanted.refresh or page.observed_at >= now:
            raise
        # Details have shown what the stored page was, so it is read again.
        again = replace(wanted, refresh=True)
        return await _by_platform_cursor(listing, again, now=now, deadline=deadline)


async def _to_result(
    listing: lists.ListSource[PostList],
    page: CapturedPage,
    place: PagePosition,
    wanted: lists.ListPageRequest,
) -> documents.ReadResult[PostList]:
    newest = PagePosition(None, 0)
    union = await listing.read_page(
        newest, lists.ListPageRequest(cursor=0, count=0, order="public")
    )
    if union is None:
        raise lists.unknown_cursor_error(CURSOR)
    ids = page.aweme_ids[place.offset : place.offset + wanted.count]
    is_cut = place.offset + wanted.count < len(page.aweme_ids)
    following = page.cursor if page.cursor is not None else page.cursor_in
    # with an unchanged cursor the platform would only repeat the page
    goes_on = bool(page.has_more and page.aweme_ids) and following != page.cursor_in
    document = listing.to_data(
        documents.ListPage(
            videos=await listing.to_video_documents(ids, is_first=wanted.cursor == page.cursor_in),
            next_cursor=place.after_in_page(len(ids), sequence=page.sequence, at=page.at)
            if is_cut
            else following,
            has_more=is_cut or goes_on,
            platform_has_more=page.has_more,
            pagination_mode=documents.PLATFORM_CURSOR,
            history=union,
            data_provider=page.data_provider,
            is_demo=listing.sources.is_demo,
        )
    )
    entities = ((SURFACES[0], listing.entity_id), *(("video_page", name) for name in ids))
    until = fresh_until(page.observed_at, listing.sources.settings.posts_ttl)
    return documents.ReadResult(document, entities, until)


def _fallback_page(
    listing: lists.ListSource[PostList], walk: ListWalk, wanted: lists.ListPageRequest
) -> documents.ReadResult[PostList]:
    """Return demo data. Its own cursor is an offset, so the next page starts where this one
    ends.
    """
    first = lists.to_fallback_page(walk, 0, wanted)
    page = replace(
        first,
        next_cursor=wanted.cursor + len(first.videos),
        has_more=first.has_more or bool(walk.has_more),
        pagination_mode=documents.PLATFORM_CURSOR,
    )
    return documents.ReadResult(listing.to_data(page), is_cacheable=False)


def _list_source(
    sources: Sources, sec_user_id: str, *, now: datetime
) -> lists.ListSource[PostList]:
    async def read() -> lists.FreshFirstScreen:
        async with sources.open("users") as captures:
            walk = await captures.walk_user_posts(sec_user_id)
            if walk.error is not None:
                raise walk.error
            if not walk.videos:
                await _raise_if_unknown(sources, captures, sec_user_id, now=now)
            return lists.FreshFirstScreen(walk=walk, is_fallback=captures.fallback_count > 0)

    return lists.ListSource(
        sources=sources,
        surfaces=SURFACES,
        entity_id=sec_user_id,
        cursor_name=CURSOR,
        read_first_screen=read,
        raise_if_unknown=partial(raise_if_unknown, sources, sec_user_id, now=now),
        to_data=partial(
            documents.to_post_list, local_cursor_mode=sources.settings.local_cursor_mode
        ),
        is_foreign=partial(is_of_other_account, sec_uid=sec_user_id),
    )


async def _raise_if_unknown(
    sources: Sources, captures: Captures, sec_user_id: str, *, now: datetime
) -> None:
    """Check whether an account without posts exists at all.

    Raises:
        UnresolvedIdError: The account does not exist.
    """
    try:
        if await known_profile(sources, sec_user_id, now=now) is None:
            await fetch_profile(sources, captures, sec_user_id)
    except (errors.UpstreamError, errors.ProviderUnsupportedError):
        return  # an account may have no posts; an unknown answer is no refusal


async def _stored(
    sources: Sources,
    sec_user_id: str,
    *,
    order: ListOrder,
    cursor: int | None = None,
    sequence: int | None = None,
    at: datetime | None = None,
) -> CapturedPage | None:
    return await run_sync(
        partial(
            read_captured_page,
            sources.engine,
            surfaces=SURFACES,
            entity_id=sec_user_id,
            cursor=cursor,
            sequence=sequence,
            at=at,
            order=order,
        )
    )
