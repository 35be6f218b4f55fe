"""Converts a batch of captures to rows of the lake, table by table. Pure.

Shared by captures and the replay of the archive, so that both store the same rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypedDict

from pipelines.captures.capture import Capture
from pipelines.platform.reading import CapturedValue
from warehouse.lake import record_rows
from warehouse.lake.record_rows import pack_bytes
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.values import Row
from warehouse.records.videos import Account, HashtagInfo, Track, Video, VideoDetail, VideoPage

TABLES = (
    "raw.payloads",
    "raw.capture_items",
    "raw.videos",
    "raw.tracks",
    "raw.accounts",
    "raw.hashtags",
    "raw.search_pages",
    "raw.chart_issues",
    "raw.chart_songs",
    "raw.captures",
)
"""In the order of writing: payloads first; the rows that make the others visible last."""

_KINDS = (
    ("music_", "music"),
    ("trends_", "music"),
    ("user_", "user"),
    ("hashtag_", "hashtag"),
    ("search_", "search"),
    ("chart_", "chart"),
    ("short_link", "link"),
)
"""By prefix of the surface's name; every other surface shows videos."""


class Origin(TypedDict):
    """Columns of every observation that say where it comes from."""

    capture_id: str | None
    job_id: str | None
    data_provider: str


def entity_key(surface: str, entity_id: str) -> str:
    """Return the key of a capture's entity for generation counters: `music:<id>` and the like."""
    kind = next((kind for prefix, kind in _KINDS if surface.startswith(prefix)), "video")
    return f"{kind}:{entity_id}"


def capture_tables(
    captures: Sequence[Capture[Any]],
    sequences: Sequence[int],
    *,
    data_provider: str,
    job_id: str | None,
    stored: Iterable[str] = (),
) -> dict[str, list[Row]]:
    """Return rows by table, in the order of `TABLES`.

    Args:
        captures: The captures of a batch.
        sequences: Their numbers, in the same order.
        data_provider: Name of the source.
        job_id: The job that they belong to.
        stored: Hashes of bodies that the lake has, which are left out.
    """
    tables: dict[str, list[Row]] = {name: [] for name in TABLES}
    known_bodies = set(stored)
    for capture, sequence in zip(captures, sequences, strict=True):
        origin = Origin(capture_id=capture.capture_id, job_id=job_id, data_provider=data_provider)
        sha256 = capture.payload_sha256
        if sha256 is not None and sha256 not in known_bodies:
            known_bodies.add(sha256)
            tables["raw.payloads"].append(
                {
                    "sha256": sha256,
                    "body": pack_bytes(capture.payload),
                    "size_bytes": len(capture.payload),
                    "content_type": capture.content_type,
                }
            )
        place = {
            "surface": capture.surface,
            "entity_id": capture.entity_id,
            "sequence": sequence,
        }
        if isinstance(capture.observed, VideoPage | SearchPage):
            tables["raw.capture_items"] += [
                {
                    "capture_id": capture.capture_id,
                    "position": position,
                    "aweme_id": video.aweme_id,
                    **place,
                }
                for position, video in enumerate(capture.observed.videos)
            ]
        for table, row in _observation_rows(capture, origin):
            tables[table].append(row)
        tables["raw.captures"].append(
            {
                **place,
                "outcome": capture.outcome,
                "reason": capture.reason,
                "notice": capture.notice,
                "detail_msg": capture.detail_msg,
                "http_status": capture.http_status,
                "request_count": capture.request_count,
                "cursor_in": capture.request.cursor,
                **_page_columns(capture.observed),
                "payload_sha256": sha256,
                "source_path": capture.source_path,
                "parser_version": capture.parser_version,
                "observed_at": capture.observed_at,
                **origin,
            }
        )
    return tables


def _observation_rows(capture: Capture[Any], origin: Origin) -> Iterator[tuple[str, Row]]:
    """Yield the table and the row of each record that a capture observed."""
    match capture.observed:
        case VideoPage(videos=videos, foreign=foreign):
            # Foreign rows are observed, too; they are no items of the list.
            yield from _video_rows((*videos, *foreign), origin)
        case SearchPage() as page:
            yield from _video_rows(page.videos, origin)
            place = capture.request.place or SearchPosition()
            row = record_rows.search_page_row(page, term=capture.entity_id, place=place)
            row |= {"surface": capture.surface, "observed_at": capture.observed_at}
            yield "raw.search_pages", {**row, **origin}
        case VideoDetail(video=video):
            yield from _video_rows((video,), origin)
        case Track() as track:
            yield "raw.tracks", record_rows.observation_row(track, **origin)
        case Account() as account:
            yield "raw.accounts", record_rows.observation_row(account, **origin)
        case HashtagInfo() as hashtag:
            yield "raw.hashtags", record_rows.observation_row(hashtag, **origin)
        case ChartIndex() as index:
            for row in record_rows.chart_issue_rows(index):
                yield "raw.chart_issues", {**row, **origin}
        case ChartPage() as page:
            for row in record_rows.chart_song_rows(page, volid=capture.request.volid):
                yield "raw.chart_songs", {**row, **origin}
        case _:  # a video that is not shown; pages of the music service are archived as bodies
            return


def _video_rows(videos: Iterable[Video], origin: Origin) -> Iterator[tuple[str, Row]]:
    """Yield each video of a page once; where it stood is in `raw.capture_items`."""
    seen: set[str] = set()
    for video in videos:
        if video.aweme_id not in seen:
            seen.add(video.aweme_id)
            yield "raw.videos", record_rows.video_row(video, **origin)


def _page_columns(value: CapturedValue | None) -> Row:
    """Return what a page says of itself; null for what is no page."""
    item_count = cursor_out = has_more = None
    match value:
        case VideoPage():
            item_count = len(value.videos) + len(value.foreign)
            cursor_out, has_more = value.cursor, value.has_more
        case SearchPage():
            item_count = len(value.videos)
            cursor_out, has_more = value.next_position.cursor, value.has_more
        case ChartIndex():
            item_count = len(value.issues)
        case ChartPage():
            item_count = len(value.songs)
        case _:
            pass
    return {"item_count": item_count, "cursor_out": cursor_out, "has_more": has_more}
