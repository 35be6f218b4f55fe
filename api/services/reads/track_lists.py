"""Lists of videos under a music id and under a hashtag.

Defines how a first screen of each is read and what an empty one means. Posts are in `posts.py`.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from functools import partial

from api.schemas.lists import CursorList
from api.services.reads.documents import to_cursor_list
from api.services.reads.lists import FreshFirstScreen, ListSource
from api.services.reads.sources import Sources
from pipelines.captures.list_walk import ListWalk
from pipelines.captures.session import Captures
from warehouse.queries.lists import ListOrder
from warehouse.records.errors import (
    InvalidMusicInputError,
    InvalidParameterError,
    ProviderUnsupportedError,
    SametrackError,
    UnresolvedIdError,
    UpstreamError,
)
from warehouse.records.videos import is_of_other_hashtag, is_of_other_music

HASHTAG_ORDERS: tuple[ListOrder, ...] = ("public", "likes", "newest")
"""By `sort_type`."""


def music_list_source(sources: Sources, music_id: str, *, now: datetime) -> ListSource[CursorList]:
    """Return the list of videos under a music id."""
    unknown = InvalidMusicInputError(f"Music id {music_id} was not found on the platform")

    async def read() -> FreshFirstScreen:
        async with sources.music() as captures:
            walk = await captures.walk_music(music_id, limit=1)
            return await _first_screen(captures, walk, lambda: captures.track(music_id), unknown)

    return ListSource(
        sources=sources,
        surfaces=("music_list", "trends_list", "music_page", "music_app"),
        entity_id=music_id,
        cursor_name="cursor",
        to_answer=to_cursor_list,
        read_first_screen=read,
        refuse_unknown=partial(_refuse, sources, "music_info", music_id, unknown, now),
        is_foreign=partial(is_of_other_music, music_id=music_id),
    )


def hashtag_list_source(sources: Sources, ch_id: str, *, now: datetime) -> ListSource[CursorList]:
    """Return the list of videos under a hashtag."""
    unknown = InvalidParameterError(
        f"Hashtag {ch_id} was not found on the platform", hint="Use a ch_id of a video's hashtags"
    )

    async def read() -> FreshFirstScreen:
        async with sources.music() as captures:
            walk = await captures.walk_hashtag(ch_id, limit=1, pages=1)
            return await _first_screen(captures, walk, lambda: captures.hashtag(ch_id), unknown)

    return ListSource(
        sources=sources,
        surfaces=("hashtag_list", "hashtag_page"),
        entity_id=ch_id,
        cursor_name="cursor",
        to_answer=to_cursor_list,
        read_first_screen=read,
        refuse_unknown=partial(_refuse, sources, "hashtag_info", ch_id, unknown, now),
        is_foreign=partial(is_of_other_hashtag, ch_id=ch_id),
    )


async def _first_screen(
    captures: Captures,
    walk: ListWalk,
    ask: Callable[[], Awaitable[object]],
    unknown: SametrackError,
) -> FreshFirstScreen:
    """Return a first screen; if it is empty, check that the entity exists.

    Raises:
        UpstreamError: The platform refused the first screen.
        SametrackError: `unknown`, if the platform does not know the entity.
    """
    if walk.error is not None:
        raise walk.error
    if not walk.videos:
        # a list may really be empty, so an unknown answer is no refusal
        with suppress(UpstreamError, ProviderUnsupportedError):
            await _check_exists(ask, unknown)
    return FreshFirstScreen(walk=walk, is_fallback=captures.used_fallback)


async def _check_exists(ask: Callable[[], Awaitable[object]], unknown: SametrackError) -> None:
    try:
        await ask()
    except (InvalidMusicInputError, UnresolvedIdError) as error:
        raise unknown from error


async def _refuse(
    sources: Sources, surface: str, entity_id: str, unknown: SametrackError, now: datetime
) -> None:
    """Raise if the platform recently reported that the entity does not exist."""
    for outcome in (InvalidMusicInputError.type, UnresolvedIdError.type):
        if await sources.had_lately(outcome, (surface,), entity_id, now=now):
            raise unknown
