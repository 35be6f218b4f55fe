"""Conversion between pages of searches and charts and rows of the lake.

Records that are rows of their own are in `record_rows`.
"""

from collections.abc import Sequence
from dataclasses import fields

from warehouse.records.charts import ChartIndex, ChartIssue, ChartPage, ChartSong
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import Video

_ISSUE = ("volid", "surface", "observed_at", "name", "chart_date", "scheduled_at")
SONG_COLUMNS = tuple(field.name for field in fields(ChartSong))


def search_page_row(page: SearchPage, *, term: str, place: SearchPosition) -> Row:
    """Return the row of `raw.search_pages`; its provenance columns come from the capture."""
    return {
        "term": term,
        "cursor": place.cursor,
        "search_id": place.search_id,
        "backtrace": place.backtrace,
        "next_cursor": page.next_position.cursor,
        "next_search_id": page.next_position.search_id,
        "next_backtrace": page.next_position.backtrace,
        "has_more": page.has_more,
        "nil_type": page.nil_type,
        "item_count": len(page.videos),
        "skipped_cards": page.skipped_cards,
        "is_cut": page.is_cut,
    }


def search_page_from_row(row: ReadOnlyRow, videos: Sequence[Video]) -> SearchPage:
    """Build a page from a row of `raw.search_pages` and the videos it showed."""
    return SearchPage(
        videos=tuple(videos),
        next_position=SearchPosition(
            cursor=row["next_cursor"],
            search_id=row["next_search_id"],
            backtrace=row["next_backtrace"],
        ),
        has_more=row["has_more"],
        nil_type=row["nil_type"],
        skipped_cards=row["skipped_cards"],
        is_cut=bool(row["is_cut"]),
    )


def chart_issue_rows(index: ChartIndex) -> list[Row]:
    """Return rows of `raw.chart_issues` without their provenance columns."""
    return [
        {
            **{name: getattr(issue, name) for name in _ISSUE},
            "is_latest": issue.volid == index.latest_volid,
        }
        for issue in index.issues
    ]


def chart_index_from_rows(rows: Sequence[ReadOnlyRow]) -> ChartIndex:
    """Build the list of issues from rows of `raw.chart_issues`, in the order of the rows."""
    latest = next((row["volid"] for row in rows if row["is_latest"]), None)
    issues = tuple(ChartIssue(**{name: row[name] for name in _ISSUE}) for row in rows)
    return ChartIndex(issues=issues, latest_volid=latest)


def chart_song_rows(page: ChartPage, *, volid: str | None) -> list[Row]:
    """Return rows of `raw.chart_songs` without their provenance columns.

    `volid` is the requested issue.
    """
    return [
        {
            **{name: getattr(song, name) for name in SONG_COLUMNS},
            "volid": page.volid or volid,
            "chart_date": page.chart_date,
            "surface": page.surface,
            "observed_at": page.observed_at,
        }
        for song in page.songs
    ]


def chart_song_from_row(row: ReadOnlyRow) -> ChartSong:
    """Build a song from a row of `raw.chart_songs`."""
    return ChartSong(**{name: row[name] for name in SONG_COLUMNS})
