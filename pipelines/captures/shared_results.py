"""Restores the result of a concurrent capture from the lake: the record, or the refusal.

Here: from rows back to records. Which process reads and which waits is decided in `sharing.py`.
"""

from collections.abc import Callable, Mapping

from pipelines.captures.recording.observations import CaptureRequest
from pipelines.platform.reading import CapturedValue
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import (
    account_from_row,
    chart_index_from_rows,
    chart_song_from_row,
    hashtag_from_row,
    search_page_from_row,
    track_from_row,
    unavailable_video_from_row,
    video_from_row,
)
from warehouse.queries.captures import ObservationTable, read_observations, read_page_videos
from warehouse.records.charts import ChartPage
from warehouse.records.errors import (
    InvalidMusicInputError,
    RefusedLatelyError,
    SametrackError,
    SubstitutionError,
    UnresolvedIdError,
    UpstreamError,
)
from warehouse.records.search import SearchPage
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import VideoDetail, VideoPage

SharedCaptureRow = ReadOnlyRow
_UNKNOWN: Mapping[str, type[SametrackError]] = {
    error.type: error for error in (InvalidMusicInputError, UnresolvedIdError)
}


def restore_value(
    engine: Engine, question: CaptureRequest, capture: SharedCaptureRow
) -> CapturedValue | None:
    """Return the record of a capture; None if its rows do not contain all of it.

    Raises:
        SametrackError: The refusal that the capture recorded.
    """
    if capture["outcome"] == "unavailable":
        return unavailable_video_from_row(capture)
    if capture["outcome"] == SubstitutionError.type and question.kind == "list":
        page = _list(engine, capture)
        if page.is_substituted:  # its foreign rows were observed; a refused body has none
            return page
    if capture["outcome"] != "ok":
        raise_refusal(capture)
        return None
    return _RESTORERS[question.kind](engine, capture)


def raise_refusal(capture: SharedCaptureRow) -> None:
    """Raise the refusal of a capture, unless it does not predict the next attempt."""
    outcome, surface = capture["outcome"], capture["surface"]
    detail = "a concurrent request for the same data was refused"
    if outcome in _UNKNOWN:
        raise _UNKNOWN[outcome](f"{capture['entity_id']}: a concurrent request found no such item")
    kind = upstream_errors().get(outcome)
    # Nothing was asked then; this process may be allowed to.
    if kind is not None and kind is not RefusedLatelyError:
        raise kind(detail, surface=surface, reason=capture["reason"], status=capture["http_status"])


def upstream_errors() -> dict[str, type[UpstreamError]]:
    """Return the upstream error classes by type."""
    return {UpstreamError.type: UpstreamError} | {
        error.type: error for error in UpstreamError.__subclasses__()
    }


def _observed(
    table: ObservationTable, build: Callable[[Engine, SharedCaptureRow, list[Row]], CapturedValue]
) -> "RestoreValue":
    """Return what builds a record from a capture's rows of a table; None if there are none."""

    def restore(engine: Engine, capture: SharedCaptureRow) -> CapturedValue | None:
        capture_id = capture["capture_id"]
        rows = read_observations(engine, table, [capture_id]).get(capture_id, [])
        return build(engine, capture, rows) if rows else None

    return restore


def _single(
    table: ObservationTable, from_row: Callable[[SharedCaptureRow], CapturedValue]
) -> "RestoreValue":
    return _observed(table, lambda _engine, _capture, rows: from_row(rows[0]))


def _list(engine: Engine, capture: SharedCaptureRow) -> VideoPage:
    capture_id = capture["capture_id"]
    videos = read_page_videos(engine, capture_id)
    listed = {video.aweme_id for video in videos}
    rows = read_observations(engine, "videos", [capture_id]).get(capture_id, [])
    return VideoPage(
        videos=videos,
        foreign=tuple(video_from_row(row) for row in rows if row["aweme_id"] not in listed),
        cursor=capture["cursor_out"],
        has_more=capture["has_more"],
    )


def _search(engine: Engine, capture: SharedCaptureRow, rows: list[Row]) -> SearchPage:
    return search_page_from_row(rows[0], read_page_videos(engine, capture["capture_id"]))


def _songs(_engine: Engine, capture: SharedCaptureRow, rows: list[Row]) -> ChartPage:
    return ChartPage(
        songs=tuple(chart_song_from_row(row) for row in rows),
        surface=rows[0]["surface"],
        observed_at=rows[0]["observed_at"],
        page=capture["cursor_in"] or 1,
        volid=rows[0]["volid"],
        chart_date=rows[0]["chart_date"],
    )


type RestoreValue = Callable[[Engine, SharedCaptureRow], CapturedValue | None]
_RESTORERS: Mapping[str, RestoreValue] = {
    "track": _single("tracks", track_from_row),
    "account": _single("accounts", account_from_row),
    "hashtag": _single("hashtags", hashtag_from_row),
    # without URLs of its sound: those are never stored
    "work": _single("videos", lambda row: VideoDetail(video=video_from_row(row))),
    "list": _list,
    "search": _observed("search_pages", _search),
    "issues": _observed("chart_issues", lambda _, __, rows: chart_index_from_rows(rows)),
    "songs": _observed("chart_songs", _songs),
}
