"""Posts of an account, by the platform's own cursor or by a cursor over observed posts.

Decides which of the two, when a page is read, and which part of it is returned.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync

from api.services.reads.deadline import Deadline
from api.services.reads.lists import (
    Listing,
    Seen,
    Shown,
    Wanted,
    no_such_cursor,
    read_list,
    read_page,
    to_history,
    to_stand_in,
    to_works,
)
from api.services.reads.read_result import Answer, marked
from api.services.reads.sources import Sources
from api.services.reads.users import fetch_profile, known_profile, refuse_unknown
from pipelines.captures.freshness import is_fresh, serves_until
from pipelines.captures.list_walk import Walk
from pipelines.captures.session import Captures
from pipelines.documents.lists import PLATFORM_CURSOR, to_list_document, with_author
from pipelines.reads.cursors import Place, read_place_in_page
from warehouse.queries.accounts import read_profile
from warehouse.queries.lists.pages import CapturedPage, read_captured_page
from warehouse.queries.lists.union import Order
from warehouse.records.errors import (
    ProviderUnsupportedError,
    UpstreamError,
    WarehouseUnavailableError,
)
from warehouse.records.videos import Account

SURFACES = ("user_posts", "user_page")
CURSOR = "max_cursor"
ORDERS: tuple[Order, ...] = ("newest", "likes")
"""By `sort_type`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostsWanted:
    """The requested page of posts."""

    sec_user_id: str
    max_cursor: int
    count: int
    order: Order


async def read_posts(
    sources: Sources, wanted: PostsWanted, *, now: datetime, deadline: Deadline
) -> Answer:
    """Return a page of the posts of an account.

    Raises:
        UnresolvedIdError: The account does not exist.
        InvalidParameterError: The cursor belongs to no capture.
        UpstreamError: The platform refused the posts.
    """
    listing = _listing(sources, wanted.sec_user_id, now=now)
    page = Wanted(
        cursor=wanted.max_cursor,
        count=wanted.count,
        order=wanted.order,
        ttl_s=sources.settings.posts_ttl,
    )
    if sources.pages_posts_locally:
        return await read_list(sources, listing, page, now=now, deadline=deadline)
    return await _by_platform_cursor(sources, listing, page, now=now, deadline=deadline)


async def find_posts(
    sources: Sources,
    captures: Captures,
    sec_user_id: str,
    *,
    cursor: int,
    now: datetime,
    order: Order = "public",
) -> CapturedPage | Walk:
    """Return a page of posts by the platform's own cursor, from the store if it is fresh.

    A `Walk` is demo data returned as a fallback; it is not stored.

    Raises:
        UpstreamError: The platform refused the page.
    """
    stored = await _stored(sources, sec_user_id, cursor=cursor, order=order)
    if stored is not None and is_fresh(
        stored.observed_at, now=now, ttl_s=sources.settings.posts_ttl
    ):
        return stored
    walk = await captures.walk_author(sec_user_id, cursor=cursor)
    if walk.error is not None:
        raise walk.error
    if captures.has_stand_ins:
        return walk
    await captures.flush()
    read = await _stored(sources, sec_user_id, cursor=cursor, order=order)
    if read is None:
        raise WarehouseUnavailableError(
            "The posts that were just read could not be loaded from the store"
        )
    return read


async def _by_platform_cursor(
    sources: Sources, listing: Listing, wanted: Wanted, *, now: datetime, deadline: Deadline
) -> Answer:
    """Return pages as the platform cuts them; a page with more than `count` videos is split.

    `sort_type` sorts each platform page separately, because later pages are not known yet. So
    paging shows each video once, in the platform's order from page to page.
    """
    place = read_place_in_page(wanted.cursor)
    if place is not None:
        page: CapturedPage | Walk | None = await _stored(
            sources, listing.entity_id, sequence=place.sequence, order=wanted.order
        )
        if page is None:
            raise no_such_cursor(CURSOR)
    else:
        async with deadline.guard(SURFACES[0]), sources.users() as captures:
            page = await find_posts(
                sources, captures, listing.entity_id, cursor=wanted.cursor, now=now,
                order=wanted.order,
            )  # fmt: skip
            is_empty = not (page.videos if isinstance(page, Walk) else page.aweme_ids)
            if is_empty and wanted.cursor == 0:
                await _refuse_unknown(sources, captures, listing.entity_id, now=now)
    if isinstance(page, Walk):
        return _stand_in(listing, page, wanted)
    return await _to_answer(sources, listing, page, place or Place(page.sequence, 0), wanted)


async def _to_answer(
    sources: Sources, listing: Listing, page: CapturedPage, place: Place, wanted: Wanted
) -> Answer:
    newest = Place(None, 0)
    union = await read_page(sources, listing, newest, Wanted(cursor=0, count=0, order="public"))
    if union is None:
        raise no_such_cursor(CURSOR)
    ids = page.aweme_ids[place.offset : place.offset + wanted.count]
    is_cut = place.offset + wanted.count < len(page.aweme_ids)
    following = page.cursor if page.cursor is not None else page.cursor_in
    # with an unchanged cursor the platform would only repeat the page
    goes_on = bool(page.has_more and page.aweme_ids) and following != page.cursor_in
    document = to_list_document(
        await to_works(sources, listing, ids),
        next_cursor={CURSOR: place.after(len(ids), as_of=page.sequence) if is_cut else following},
        has_more=is_cut or goes_on,
        platform_has_more=page.has_more,
        pagination_mode=PLATFORM_CURSOR,
        history=to_history(union),
    )
    told = marked(
        document | listing.more, data_provider=page.data_provider, is_demo=sources.is_demo
    )
    videos = tuple(("video_page", name) for name in ids)
    until = serves_until(page.observed_at, sources.settings.posts_ttl)
    return Answer(told, listing.entities + videos, until)


def _stand_in(listing: Listing, walk: Walk, wanted: Wanted) -> Answer:
    """Return demo data. Its own cursor is an offset, so the next page starts where this one
    ends.
    """
    answer = to_stand_in(listing, walk, 0, wanted)
    shown = len(answer.document["aweme_list"])
    has_more = answer.document["has_more"] or bool(walk.has_more)
    more = {
        CURSOR: wanted.cursor + shown,
        "has_more": has_more,
        "pagination_mode": PLATFORM_CURSOR,
    }
    return Answer(answer.document | more, is_kept=False)


def _listing(sources: Sources, sec_user_id: str, *, now: datetime) -> Listing:
    async def completion() -> Shown:
        known = await run_sync(read_profile, sources.engine, sec_user_id)
        nobody = Account(sec_uid=sec_user_id, surface="user_posts", observed_at=now)
        return partial(with_author, account=known[0] if known else nobody)

    async def read() -> Seen:
        async with sources.users() as captures:
            walk = await captures.walk_author(sec_user_id)
            if walk.error is not None:
                raise walk.error
            if not walk.videos:
                await _refuse_unknown(sources, captures, sec_user_id, now=now)
            return Seen(walk=walk, is_stand_in=captures.has_stand_ins)

    return Listing(
        surfaces=SURFACES,
        entity_id=sec_user_id,
        cursor_name=CURSOR,
        read_first_screen=read,
        refuse_unknown=partial(refuse_unknown, sources, sec_user_id, now=now),
        more={"local_cursor_mode": sources.settings.local_cursor_mode},
        completion=completion,
    )


async def _refuse_unknown(
    sources: Sources, captures: Captures, sec_user_id: str, *, now: datetime
) -> None:
    """Check whether an account without posts exists at all.

    Raises:
        UnresolvedIdError: The account does not exist.
    """
    try:
        if await known_profile(sources, sec_user_id, now=now) is None:
            await fetch_profile(sources, captures, sec_user_id)
    except (UpstreamError, ProviderUnsupportedError):
        return  # an account may have no posts; an unknown answer is no refusal


async def _stored(
    sources: Sources,
    sec_user_id: str,
    *,
    order: Order,
    cursor: int | None = None,
    sequence: int | None = None,
) -> CapturedPage | None:
    return await run_sync(
        partial(
            read_captured_page,
            sources.engine,
            surfaces=SURFACES,
            entity_id=sec_user_id,
            cursor=cursor,
            sequence=sequence,
            order=order,
        )
    )
