"""What processes share about captures: erased accounts, reads under way, and recent observations.

Erased accounts are not requested, and are removed from records. Of several processes that need the
same, one reads the source and the others wait for its result. Reading is in `recording.py`.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from operator import is_
from typing import Any
from uuid import uuid4

from pipelines.captures.capture import Capture, CaptureKind, CaptureRequest
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.sources.table import CapturedValue
from warehouse.control import ControlStore
from warehouse.control import captures as shared_captures
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake import record_rows
from warehouse.queries import captures
from warehouse.queries.erasure import read_marks
from warehouse.queries.results import read_latest_videos
from warehouse.records import errors
from warehouse.records.charts import ChartPage
from warehouse.records.erasure import ERASED_REASON, ErasureMarks
from warehouse.records.errors import SametrackError, UnresolvedIdError
from warehouse.records.search import SearchPage
from warehouse.records.times import observed_now
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import Account, Track, Unavailability, Video, VideoPage

# Keeps erased accounts out of captures: they are not requested, and are removed from records.
#
# Here: requests, records, and the erasure marks as this process last read them. Not here: erasing.

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
            self._marks = await asyncio.to_thread(read_marks, self.engine)
        return self._marks


def refuse_erased(request: CaptureRequest, marks: ErasureMarks) -> Unavailability | None:
    """Return the result for a request about erased data; None if the source is to be read.

    Raises:
        UnresolvedIdError: The request is about an erased account.
    """
    if not marks.by_salt or not marks.hold(request.entity_id):
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


CAPTURE_LEASE_S = 12.0  # how long a dead process can block others
LEASE_POLL_S = 0.05
_UNKNOWN: Mapping[str, type[errors.SametrackError]] = {
    error.type: error for error in (errors.InvalidMusicInputError, errors.UnresolvedIdError)
}


@dataclass(eq=False)
class CaptureLease:
    """Lease of a capture by this process; `capture` is what came of it."""

    name: str
    owner: str = field(default_factory=lambda: uuid4().hex)
    capture: Capture[Any] | None = None

    @property
    def capture_id(self) -> str | None:
        """Id of the capture for waiting processes; None if it was cancelled."""
        if self.capture is None or self.capture.outcome == "cancelled":
            return None
        return self.capture.capture_id


@dataclass(frozen=True, eq=False)
class CaptureSharing:
    """Capture leases of one process. `flush` writes its pending captures."""

    control: ControlStore
    engine: Engine
    flush: Callable[[], Awaitable[None]]
    _: KW_ONLY
    clock: Clock = MACHINE_CLOCK

    async def take(self, request: CaptureRequest) -> CaptureLease | str:
        """Acquire the lease, or wait and return the id of another process's capture.

        Raises:
            WarehouseError: The control store cannot be read.
        """
        lease = CaptureLease(hashlib.sha256(request.key.encode("utf-8", "replace")).hexdigest())
        while True:
            claiming = asyncio.ensure_future(
                asyncio.to_thread(
                    shared_captures.claim,
                    self.control,
                    lease.name,
                    lease.owner,
                    ttl_s=CAPTURE_LEASE_S,
                )
            )
            try:
                turn = await asyncio.shield(claiming)
            except asyncio.CancelledError:
                # Released at once, if the store grants it to us meanwhile.
                if (await claiming).is_ours:
                    await asyncio.to_thread(
                        shared_captures.publish, self.control, lease.name, lease.owner, None
                    )
                raise
            if turn.is_ours:
                return lease
            capture_id = await self._wait(lease.name, turn.owner)
            if capture_id is not None:
                return capture_id

    async def renew(self, lease: CaptureLease) -> None:
        """Renew a lease until cancelled: the rate limit may delay a read for long."""
        while True:
            await self.clock.sleep(CAPTURE_LEASE_S / 3)
            # A renewal that fails is tried again before the lease is over. If all fail, it expires,
            # and another process reads the same once more.
            with suppress(errors.WarehouseError):
                await asyncio.to_thread(
                    shared_captures.renew,
                    self.control,
                    lease.name,
                    lease.owner,
                    ttl_s=CAPTURE_LEASE_S,
                )

    async def give_back(self, lease: CaptureLease) -> None:
        """Release a lease; if others wait, the capture is written first.

        Raises:
            WarehouseError: The capture could not be written.
        """
        if await asyncio.to_thread(shared_captures.finish, self.control, lease.name, lease.owner):
            return
        capture_id = None
        try:
            await self.flush()
            capture_id = lease.capture_id
        finally:
            await asyncio.to_thread(
                shared_captures.publish, self.control, lease.name, lease.owner, capture_id
            )

    async def recall(self, request: CaptureRequest, capture_id: str) -> Capture[Any] | None:
        """Return the result of another process's capture; None if it cannot be restored.

        Raises:
            SametrackError: The refusal that the capture recorded.
        """

        def restore() -> Capture[Any] | None:
            self.engine.refresh()
            row = captures.read_capture(self.engine, capture_id)
            value = None if row is None else restore_value(self.engine, request, row)
            if row is None or value is None:
                return None
            return Capture(
                request=request,
                surface=row["surface"],
                observed_at=row["observed_at"],
                value=value,
                is_shared=True,
                capture_id=None,
            )

        return await asyncio.to_thread(restore)

    async def _wait(self, name: str, owner: str) -> str | None:
        while True:
            await self.clock.sleep(LEASE_POLL_S)
            over = await asyncio.to_thread(shared_captures.check, self.control, name, owner)
            if over.is_over:
                return over.capture_id


def restore_value(
    engine: Engine, request: CaptureRequest, capture: ReadOnlyRow
) -> CapturedValue | None:
    """Return the record of a capture; None if its rows do not contain all of it.

    Raises:
        SametrackError: The refusal that the capture recorded.
    """
    if capture["outcome"] == "unavailable":
        return record_rows.unavailability_from_row(capture)
    if capture["outcome"] == errors.SubstitutionError.type and request.kind == "list":
        page = _list(engine, capture)
        if page.is_substituted:  # its foreign rows were observed; a refused body has none
            return page
    if capture["outcome"] != "ok":
        raise_refusal(capture)
        return None
    if request.kind == "list":
        return _list(engine, capture)
    table = _TABLES[request.kind]
    rows = captures.read_observations(engine, table, [capture["capture_id"]]).get(
        capture["capture_id"], []
    )
    return _from_rows(engine, request.kind, capture, rows) if rows else None


def raise_refusal(capture: ReadOnlyRow) -> None:
    """Raise the refusal of a capture, unless it does not predict the next attempt."""
    outcome, surface = capture["outcome"], capture["surface"]
    detail = "a concurrent request for the same data was refused"
    if outcome in _UNKNOWN:
        raise _UNKNOWN[outcome](f"{capture['entity_id']}: a concurrent request found no such item")
    kind = upstream_errors().get(outcome)
    # Nothing was asked then; this process may be allowed to.
    if kind is not None and kind is not errors.RefusedLatelyError:
        raise kind(detail, surface=surface, reason=capture["reason"], status=capture["http_status"])


def upstream_errors() -> dict[str, type[errors.UpstreamError]]:
    """Return the upstream error classes by type."""
    return {errors.UpstreamError.type: errors.UpstreamError} | {
        error.type: error for error in errors.UpstreamError.__subclasses__()
    }


_TABLES: Mapping[CaptureKind, captures.ObservationTable] = {
    "track": "tracks",
    "account": "accounts",
    "hashtag": "hashtags",
    "work": "videos",
    "search": "search_pages",
    "issues": "chart_issues",
    "songs": "chart_songs",
}
"""The table that has the record of a capture, by the kind of its request; other kinds are not
shared."""


def _from_rows(
    engine: Engine, kind: CaptureKind, capture: ReadOnlyRow, rows: list[Row]
) -> CapturedValue:
    first = rows[0]
    value: CapturedValue
    match kind:
        case "track":
            value = record_rows.track_from_row(first)
        case "account":
            value = record_rows.account_from_row(first)
        case "hashtag":
            value = record_rows.hashtag_from_row(first)
        case "work":  # without URLs of its sound: those are never stored
            value = record_rows.video_from_row(first)
        case "search":
            value = record_rows.search_page_from_row(
                first, captures.read_page_videos(engine, capture["capture_id"])
            )
        case "issues":
            value = record_rows.chart_index_from_rows(rows)
        case _:
            value = ChartPage(
                songs=tuple(record_rows.chart_song_from_row(row) for row in rows),
                surface=first["surface"],
                observed_at=first["observed_at"],
                page=capture["cursor_in"] or 1,
                volid=first["volid"],
                chart_date=first["chart_date"],
            )
    return value


def _list(engine: Engine, capture: ReadOnlyRow) -> VideoPage:
    capture_id = capture["capture_id"]
    videos = captures.read_page_videos(engine, capture_id)
    listed = {video.aweme_id for video in videos}
    rows = captures.read_observations(engine, "videos", [capture_id]).get(capture_id, [])
    return VideoPage(
        videos=videos,
        foreign=tuple(
            record_rows.video_from_row(row) for row in rows if row["aweme_id"] not in listed
        ),
        cursor=capture["cursor_out"],
        has_more=capture["has_more"],
    )


# Fresh observations: when one expires, and lookups of recent video details in one query.


def fresh_until(observed_at: datetime | None, ttl_s: float) -> datetime | None:
    """Return when an observation expires; None if there is none."""
    return None if observed_at is None else observed_at + timedelta(seconds=ttl_s)


def is_fresh(observed_at: datetime | None, *, now: datetime, ttl_s: float) -> bool:
    """Return True if an observation is younger than `ttl_s`.

    One slightly later than `now` was made meanwhile and is fresh; one much later is from before the
    clock was set back, and is not.
    """
    return observed_at is not None and abs((now - observed_at).total_seconds()) < ttl_s


BATCH_WINDOW_S = 0.005  # little beside the query itself, enough for lookups of one moment


@dataclass(eq=False)
class RecentDetails:
    """Looks up videos with a complete observation that is fresh enough.

    A query costs tens of milliseconds whatever its size, so concurrent lookups share one. It also
    includes the videos that lists have shown, since their details are usually needed next.
    """

    engine: Engine
    _shown: set[str] = field(default_factory=set, init=False)
    _known: dict[str, Video | None] = field(default_factory=dict, init=False)
    _asked: dict[str, asyncio.Future[None]] = field(default_factory=dict, init=False)
    _looking: asyncio.Task[None] | None = field(default=None, init=False)

    def expect(self, aweme_ids: Iterable[str]) -> None:
        """Include these videos in the next query."""
        self._shown.update(aweme_ids)

    async def find(self, aweme_id: str, *, max_age_s: float) -> Video | None:
        """Return the newest complete observation of a video; None if none is fresh enough."""
        if aweme_id not in self._known:
            await self._ask(aweme_id)
        video = self._known.get(aweme_id)
        if video is None or not video.statistics_complete:
            return None
        is_young = is_fresh(video.observed_at, now=observed_now(), ttl_s=max_age_s)
        return video if is_young else None

    async def _ask(self, aweme_id: str) -> None:
        answer = self._asked.get(aweme_id)
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            self._asked[aweme_id] = answer
        if self._looking is None:
            # A separate task: the first caller may be cancelled while others still wait.
            self._looking = asyncio.create_task(self._answer_all())
        # Shielded: others wait for the same future, and must not be cancelled with this caller.
        await asyncio.shield(answer)

    async def _answer_all(self) -> None:
        await asyncio.sleep(BATCH_WINDOW_S)
        # Who asks from now on starts the next batch.
        asked, self._asked, self._looking = self._asked, {}, None
        aweme_ids = (self._shown | set(asked)) - self._known.keys()
        try:
            videos = await asyncio.to_thread(read_latest_videos, self.engine, sorted(aweme_ids))
        except SametrackError as error:
            for answer in asked.values():
                answer.set_exception(error)
                answer.exception()  # waiting callers raise it; there may be none left
            return
        self._known.update({aweme_id: videos.get(aweme_id) for aweme_id in aweme_ids})
        for answer in asked.values():
            answer.set_result(None)
