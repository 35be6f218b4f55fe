"""Keeps erased accounts out of captures: they are not requested, and are removed from records.

Here: requests, records, and the erasure marks as this process last read them. Not here: erasing.
"""

import asyncio
from dataclasses import KW_ONLY, dataclass, field, replace
from operator import is_

from pipelines.captures.capture import CaptureRequest
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.sources.table import CapturedValue
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records.erasure import ERASED_REASON, ErasureMarks
from warehouse.records.errors import UnresolvedIdError
from warehouse.records.search import SearchPage
from warehouse.records.videos import Account, Track, Unavailability, Video, VideoPage

RELOAD_INTERVAL_S = 1.0
_HINT = "an erased account stays erased; its data is not collected again"


@dataclass(eq=False)
class ErasureMarksCache:
    """The erasure marks of the world, reloaded at most every `RELOAD_INTERVAL_S` seconds."""

    engine: Engine
    _: KW_ONLY
    clock: Clock = MACHINE_CLOCK
    _marks: ErasureMarks = field(default_factory=ErasureMarks, init=False)
    _read_at: float = field(default=float("-inf"), init=False)

    async def marks(self) -> ErasureMarks:
        """Return the current marks."""
        if self.clock.monotonic() - self._read_at >= RELOAD_INTERVAL_S:
            self._read_at = self.clock.monotonic()
            self._marks = await asyncio.to_thread(read_erasure_marks, self.engine)
        return self._marks


def refuse_erased(request: CaptureRequest, marks: ErasureMarks) -> Unavailability | None:
    """Return the result for a request about erased data; None if the source is to be read.

    Raises:
        UnresolvedIdError: The request is about an erased account.
    """
    if not marks.hold(request.entity_id):
        return None
    if request.kind == "work":
        return Unavailability(reason=ERASED_REASON)
    raise erased_account_error()


def erased_account_error() -> UnresolvedIdError:
    """Return the error for a request about an erased account."""
    return UnresolvedIdError("this account was erased from this warehouse", hint=_HINT)


def without_erased[T: CapturedValue](value: T, marks: ErasureMarks) -> T:
    """Return a record without data of erased accounts; the same object if it has none.

    Raises:
        UnresolvedIdError: The record is an erased account itself.
    """
    if not marks.by_salt:
        return value
    remaining: CapturedValue = value
    match value:
        case VideoPage():
            kept, foreign = _kept(value.videos, marks), _kept(value.foreign, marks)
            is_same = kept is value.videos and foreign is value.foreign
            remaining = value if is_same else replace(value, videos=kept, foreign=foreign)
        case SearchPage():
            kept = _kept(value.videos, marks)
            remaining = value if kept is value.videos else replace(value, videos=kept)
        case Video() if _is_erased(value, marks):
            remaining = Unavailability(reason=ERASED_REASON)
        case Video():
            remaining = _without_name(value, marks)
        case Track() if marks.hold(value.source_aweme_id) or marks.hold_title(value.title):
            title = None if _names_uploader(value) else value.title
            source = None if marks.hold(value.source_aweme_id) else value.source_aweme_id
            remaining = replace(
                value, source_aweme_id=source, owner_nickname=None, author=None, title=title
            )
        case Account() if marks.hold(value.sec_uid, value.uid):
            raise erased_account_error()
        case _:
            pass
    return remaining  # type: ignore[return-value]  # an unavailable video replaces the video


def _kept(videos: tuple[Video, ...], marks: ErasureMarks) -> tuple[Video, ...]:
    """Return the videos without data of erased accounts; the same tuple if there is none."""
    kept = tuple(_without_name(video, marks) for video in videos if not _is_erased(video, marks))
    is_same = len(kept) == len(videos) and all(map(is_, kept, videos))
    return videos if is_same else kept


def _is_erased(video: Video, marks: ErasureMarks) -> bool:
    if marks.hold(video.aweme_id):
        return True
    return video.author is not None and marks.hold(video.author.sec_uid, video.author.uid)


def _without_name(video: Video, marks: ErasureMarks) -> Video:
    """Return a video without the names of its sound if they are those of an erased account."""
    music = video.music
    if music is None or not marks.hold_title(music.title):
        return video
    return replace(video, music=replace(music, title=None, author=None))


def _names_uploader(track: Track) -> bool:
    """Return True if the title names an account: as it is called today, or was once."""
    title, names = track.title or "", (track.author, track.owner_nickname)
    return title.startswith("@") or any(f"@{name}" in title for name in names if name)
