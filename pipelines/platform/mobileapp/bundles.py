"""Packs what was read of the app into one archived body, and parses such a body. Pure.

A body holds the trees as the device dumped them and the name of their layout, so that a better
layout reads an old body better. The app shows the handle of an account, not its id: the id comes
from a public surface, and a video without it has no author here.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import orjson
from pydantic import BaseModel, ValidationError

from pipelines.platform.mobileapp.screens import (
    App,
    Layout,
    Tree,
    TreeError,
    parse_tree,
    read_track,
    read_video,
)
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.videos import Author, Music, Track, Video, VideoDetail, VideoPage

CONTENT_TYPE = "application/json"
PATH = "/app"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One video as it was read: the dump of its screen, and that of its share panel."""

    aweme_id: str
    work: str
    share: str


class _AnyBody(BaseModel):
    layout: str


class _TrackBody(_AnyBody):
    track: str


class _PageBody(_AnyBody):
    items: tuple[Item, ...]
    cursor: int
    has_more: bool


class _VideoBody(_AnyBody):
    item: Item
    music_id: str
    account: Author | None = None


def pack_track(dump: str, *, layout: str) -> bytes:
    """Return the body of a track's page."""
    return orjson.dumps({"layout": layout, "track": dump})


def pack_page(items: Sequence[Item], *, layout: str, cursor: int, has_more: bool) -> bytes:
    """Return the body of some videos of a track; `cursor` is the place after the last of them."""
    videos = [asdict(item) for item in items]
    return orjson.dumps({"layout": layout, "items": videos, "cursor": cursor, "has_more": has_more})


def pack_video(item: Item, *, layout: str, music_id: str, account: Author | None = None) -> bytes:
    """Return the body of one video, of the track whose page led to it."""
    body = {
        "layout": layout,
        "item": asdict(item),
        "music_id": music_id,
        "account": None if account is None else asdict(account),
    }
    return orjson.dumps(body)


def parse_app_track(body: bytes, *, music_id: str, app: App, context: ParseContext) -> Track:
    """Parse the page of a track.

    Raises:
        StructureChangedError: The body is not ours, or its layout is not known any more.
    """
    bundle, layout = _opened(_TrackBody, body, app, context)
    page = read_track(_tree(bundle.track, context), layout)
    return Track(
        music_id=music_id,
        surface=context.surface,
        observed_at=context.observed_at,
        title=page.title,
        author=page.author,
    )


def parse_app_page(body: bytes, *, app: App, context: ParseContext) -> VideoPage:
    """Parse some videos of a track, in the order shown. No screen names the music id of a video.

    Raises:
        StructureChangedError: As for a track.
    """
    bundle, layout = _opened(_PageBody, body, app, context)
    videos = tuple(_video(item, layout, context) for item in bundle.items)
    return VideoPage(videos=videos, cursor=bundle.cursor, has_more=bundle.has_more)


def parse_app_video(body: bytes, *, app: App, context: ParseContext) -> VideoDetail:
    """Parse one video with the counts that the app shows; its sound is not available here.

    Its music id is that of the track whose page led to it. If no public page shows the video, that
    is the only statement about its sound.

    Raises:
        StructureChangedError: As for a track.
    """
    bundle, layout = _opened(_VideoBody, body, app, context)
    video = _video(bundle.item, layout, context)
    return VideoDetail(
        video=replace(video, music=Music(music_id=bundle.music_id), author=bundle.account)
    )


def _opened[T: _AnyBody](
    kind: type[T], body: bytes, app: App, context: ParseContext
) -> tuple[T, Layout]:
    try:
        bundle = kind.model_validate_json(body)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
        raise refusal_error(
            "not_json" if first["type"] == "json_invalid" else "structure",
            "the body does not come from the app",
            surface=context.surface,
            reason=f"{'.'.join(map(str, first['loc'])) or '$'}: {first['type']}",
        ) from exc
    layout = app.layout_named(bundle.layout)
    if layout is None:
        raise refusal_error(
            "structure",
            "the layout of this body is not known",
            surface=context.surface,
            reason=bundle.layout,
        )
    return bundle, layout


def _tree(dump: str, context: ParseContext) -> Tree:
    try:
        return parse_tree(dump)
    except TreeError as exc:
        raise refusal_error(
            "structure", "it is no accessibility tree", surface=context.surface, reason=str(exc)
        ) from exc


def _video(item: Item, layout: Layout, context: ParseContext) -> Video:
    screen = read_video(_tree(item.work, context), layout)
    return Video(
        aweme_id=item.aweme_id,
        surface=context.surface,
        observed_at=context.observed_at,
        desc=screen.caption,
        share_url=context.link_of(item.aweme_id),
        statistics=screen.statistics,
        is_exact=screen.is_exact,
    )
