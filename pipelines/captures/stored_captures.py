"""What the lake has already: captures of other processes, and recent observations of videos.

Of several processes that need the same, one reads the source and the others restore the result from
its rows (`CaptureSharing` in `recording.py`).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipelines.captures.capture import CaptureKind, CaptureRequest
from pipelines.platform.sources.table import CapturedValue
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake import record_rows
from warehouse.queries import captures
from warehouse.queries.results import read_latest_videos
from warehouse.records import errors
from warehouse.records.charts import ChartPage
from warehouse.records.times import observed_now
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import Video, VideoPage

_UNKNOWN: Mapping[str, type[errors.SametrackError]] = {
    error.type: error for error in (errors.InvalidMusicInputError, errors.UnresolvedIdError)
}


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
    includes `expected` videos: those that lists have shown, since their details are usually needed
    next.
    """

    engine: Engine
    expected: set[str] = field(default_factory=set, init=False)
    _known: dict[str, Video | None] = field(default_factory=dict, init=False)
    _asked: dict[str, asyncio.Future[None]] = field(default_factory=dict, init=False)
    _looking: asyncio.Task[None] | None = field(default=None, init=False)

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
        aweme_ids = (self.expected | set(asked)) - self._known.keys()
        try:
            videos = await asyncio.to_thread(read_latest_videos, self.engine, sorted(aweme_ids))
        except errors.SametrackError as error:
            for answer in asked.values():
                answer.set_exception(error)
                answer.exception()  # waiting callers raise it; there may be none left
            return
        self._known.update({aweme_id: videos.get(aweme_id) for aweme_id in aweme_ids})
        for answer in asked.values():
            answer.set_result(None)
