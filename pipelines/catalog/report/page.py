"""The page of a report: key figures, all tracks, and the details of those with most videos."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from pipelines.catalog.report.messages import page_text
from pipelines.catalog.report.tables import CatalogTables
from pipelines.catalog.service import CatalogStatus
from pipelines.documents.html_pages import PageTemplates, rounded_number
from pipelines.documents.messages import LANGUAGES
from warehouse.exports.export_table import ExportTable
from warehouse.records.values import Row

if TYPE_CHECKING:
    import pyarrow as pa

MOST_DETAILS = 200
"""Tracks with details on the page: a browser shows some ten thousand rows without delay."""
MOST_VIDEOS = 10


def render_catalog_page(
    status: CatalogStatus,
    tables: CatalogTables,
    sheet: ExportTable | None,
    *,
    language: str,
    is_demo: bool,
) -> str:
    """Return the page as one HTML file; `sheet`: the error sheet of the newest scan."""
    texts = partial(page_text, language=language)
    rows = tables.track_rows()
    read = [row for row in rows if row["music_id"] is not None]
    detailed = sorted(read, key=lambda row: -(row["confirmed_video_count"] or 0))[:MOST_DETAILS]
    keys = [row["track_key"] for row in detailed]
    return _PAGES.render(
        "report.html.j2",
        style="report.css",
        running=(status.catalog.name, texts("catalogue")),
        html_language=LANGUAGES[language],
        text=texts,
        name=status.catalog.name,
        read_at=status.read_at,
        is_demo=is_demo,
        rows=rows,
        totals=_totals(rows, read),
        detailed=detailed,
        is_cut=len(detailed) < len(read),
        music_ids=_by_track(tables.music_ids, keys, limit=None),
        videos=_by_track(tables.videos, keys, limit=MOST_VIDEOS),
        matches=_by_track(tables.matches, keys, limit=MOST_VIDEOS),
        sheet=() if sheet is None else sheet.rows,
        failed=[row for row in rows if row["error"] is not None],
    )


def _totals(rows: Sequence[Row], read: Sequence[Row]) -> list[tuple[str, int | None]]:
    """Return the key figures. A video of two tracks counts for each."""
    return [
        ("tracks", len(rows)),
        ("with_result", len(read)),
        ("music_ids", _sum(read, "music_id_count")),
        ("videos", _sum(read, "confirmed_video_count")),
        ("variants", _sum(read, "variant_video_count")),
        ("new", _sum(read, "new_video_count")),
    ]


def _sum(rows: Sequence[Row], name: str) -> int | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) if known else None


def _by_track(
    table: "pa.Table", keys: Collection[str], *, limit: int | None
) -> dict[str, list[Row]]:
    """Return the rows of these tracks by track, in their order, at most `limit` of each."""
    import pyarrow as pa  # noqa: PLC0415 -- loaded with the tables
    import pyarrow.compute as pc  # noqa: PLC0415 -- as above

    wanted = table.filter(pc.is_in(table["track_key"], pa.array(keys, type=pa.string())))
    found: dict[str, list[Row]] = defaultdict(list)
    for row in wanted.to_pylist():
        rows = found[row["track_key"]]
        if limit is None or len(rows) < limit:
            rows.append(row)
    return {key: found[key] for key in keys}


def _day(value: datetime | None) -> str:
    return "—" if value is None else f"{value:%Y-%m-%d}"


def _moment(value: datetime | None) -> str:
    return "—" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


_PAGES = PageTemplates(
    "pipelines.catalog.report", filters={"number": rounded_number, "day": _day, "moment": _moment}
)
