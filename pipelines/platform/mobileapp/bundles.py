"""What was read of the app as one body that is kept, and that body as records again. Pure.

A body holds the trees as the device dumped them and the name of their layout, so that a better
layout reads an old body better. Accounts are known by their handle alone: the id comes from
elsewhere, and a video without it has no author here.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from pipelines.platform.mobileapp.layouts import App, Layout
from pipelines.platform.mobileapp.screens import TreeError, parse_tree, read_track, read_work
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
    """The body of a track's page."""
    return orjson.dumps({"layout": layout, "track": dump})


def pack_page(items: Sequence[Item], *, layout: str, cursor: int, has_more: bool) -> bytes:
    """The body of some videos of a track; `cursor` is the place after the last of them."""
    works = [asdict(item) for item in items]
    return orjson.dumps({"layout": layout, "items": works, "cursor": cursor, "has_more": has_more})


def pack_video(item: Item, *, layout: str, music_id: str, account: Author | None = None) -> bytes:
    """The body of one video, of the track that showed it."""
    told = None if account is None else asdict(account)
    return orjson.dumps(
        {"layout": layout, "item": asdict(item), "music_id": music_id, "account": told}
    )


def parse_app_track(body: bytes, *, music_id: str, app: App, seen: ParseContext) -> Track:
    """The track on its page.

    Raises:
        StructureChangedError: The body is none of ours, or its layout is not known any more.
    """
    said, layout = _opened(_TrackBody, body, app, seen)
    shown = read_track(_tree(said.track, seen), layout)
    return Track(
        music_id=music_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        title=shown.title,
        author=shown.author,
    )


def parse_app_page(body: bytes, *, app: App, seen: ParseContext) -> VideoPage:
    """Some videos of a track, in the order shown. No screen names the music id of a video.

    Raises:
        StructureChangedError: As for a track.
    """
    said, layout = _opened(_PageBody, body, app, seen)
    videos = tuple(_video(item, layout, seen) for item in said.items)
    return VideoPage(videos=videos, cursor=said.cursor, has_more=said.has_more)


def parse_app_video(body: bytes, *, app: App, seen: ParseContext) -> VideoDetail:
    """One video with the counts that the app shows; its sound is not available here.

    Its music id is that of the page of the track from which the app opened it: the only statement
    about its sound there is, where no public page shows the video.

    Raises:
        StructureChangedError: As for a track.
    """
    said, layout = _opened(_VideoBody, body, app, seen)
    video = _video(said.item, layout, seen)
    return VideoDetail(
        video=replace(video, music=Music(music_id=said.music_id), author=said.account)
    )


def _opened[T: _AnyBody](
    kind: type[T], body: bytes, app: App, seen: ParseContext
) -> tuple[T, Layout]:
    try:
        said = kind.model_validate_json(body)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
        raise refusal_error(
            "not_json" if first["type"] == "json_invalid" else "structure",
            "the body is none of the app",
            surface=seen.surface,
            reason=f"{'.'.join(map(str, first['loc'])) or '$'}: {first['type']}",
        ) from exc
    layout = app.layout_named(said.layout)
    if layout is None:
        raise refusal_error(
            "structure",
            "the layout of this body is not known",
            surface=seen.surface,
            reason=said.layout,
        )
    return said, layout


def _tree(dump: str, seen: ParseContext) -> Any:
    try:
        return parse_tree(dump)
    except TreeError as exc:
        raise refusal_error(
            "structure", "it is no accessibility tree", surface=seen.surface, reason=str(exc)
        ) from exc


def _video(item: Item, layout: Layout, seen: ParseContext) -> Video:
    shown = read_work(_tree(item.work, seen), layout)
    return Video(
        aweme_id=item.aweme_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        desc=shown.caption,
        share_url=seen.link_of(item.aweme_id),
        statistics=shown.statistics,
        is_exact=shown.is_exact,
    )
