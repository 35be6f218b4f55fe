"""Tables of a response, and the file of one: typed columns, rows of plain values, a method sheet.

Pure functions. Ids stay text. Not here: file formats (`warehouse/exports`), calling the operation
(`source_reader.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import orjson

from api.responses.errors import NotFoundError
from warehouse.exports.error_sheet import fill_error_sheet, is_scan_result, to_sheet_table
from warehouse.exports.export_table import ExportColumn, ExportTable
from warehouse.exports.table_files import MEDIA_TYPES, ExportMethod, TableFormat, to_file
from warehouse.records.values import ReadOnlyDocument

TableName = Literal[
    "videos",
    "accounts",
    "variants",
    "search_related",
    "coverage",
    "comparisons",
    "chart",
    "metrics",
    "series",
]
# Columns as `name:kind` or `name:kind:path`, parsed by `_column_paths`.
_VIDEO = (
    "aweme_id:text desc:text nickname:text:author.nickname unique_id:text:author.unique_id "
    "sec_uid:text:author.sec_uid create_time:time digg_count:whole:statistics.digg_count "
    "comment_count:whole:statistics.comment_count collect_count:whole:statistics.collect_count "
    "share_count:whole:statistics.share_count hot_score:whole statistics_complete:flag "
    "music_id:text:music.id_str music_title:text:music.title share_url:text media_type:text "
    "observed_at:time first_observed_at:time created_at:time created_at_source:text "
    "music_created_at:time:music.created_at born_with:text:music.born_with.aweme_id"
)
_EVIDENCE = (
    "verdict:text:evidence.verdict score:real:evidence.score "
    "chroma_distance:real:evidence.chroma_distance mfcc_distance:real:evidence.mfcc_distance "
    "overlap_s:real:evidence.overlap_s speed:real:evidence.speed "
    "semitones:real:evidence.semitones comparison_id:text:evidence.comparison_id"
)
_SOURCE = "source_music_id:text source_music_title:text source_music_url:text"
_FACTS = (
    "music_id",
    "keyword",
    "algorithm",
    "data_provider",
    "created_at",
    "confirmed_count",
    "returned_count",
    "requested_count",
    "count_satisfied",
    "candidate_pool_size",
    "unique_account_count",
    "coverage_complete",
    "node_count",
    "collected_count",
    "not_collected_count",
    "requested_end_date",
    "end_date_cut",
    "issues_refreshed",
)
"""Fields of a response that its method sheet repeats, where the response has them."""
EXPORT_COVERAGE_NOTE = "Public pages as a guest sees them, never a full list of the platform."


@dataclass(frozen=True, slots=True)
class ColumnPath:
    """A column and the path to its value in a row's document."""

    column: ExportColumn
    path: str


def build_table(name: TableName, data: ReadOnlyDocument) -> ExportTable:
    """Build a table from the `data` of a response.

    Raises:
        NotFoundError: The response has no such table.
    """
    root = data.get("result") or data
    columns, find_rows = _TABLES[name]
    try:
        documents = list(find_rows(root))
    except (KeyError, TypeError) as exc:
        raise NotFoundError(
            f"The response has no table {name!r}",
            hint="A job has no tables until it is completed",
        ) from exc
    # Every export carries the demo mark, row by row: rows are copied from file to file.
    columns = (*columns, ColumnPath(ExportColumn("is_demo_data", "flag"), "is_demo_data"))
    is_demo = bool(data.get("is_demo_data", root.get("is_demo_data")))
    marked = ({**document, "is_demo_data": is_demo} for document in documents)
    rows = tuple(tuple(_cell(row, column) for column in columns) for row in marked)
    return ExportTable(name, tuple(column.column for column in columns), rows)


def _cell(row: ReadOnlyDocument, column: ColumnPath) -> object:
    """Return the value at the path of a column, as the kind of the column."""
    value: object = row
    for step in column.path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return None
    kind = column.column.kind
    # Times come as Unix seconds from the platform, and as text from this service.
    if kind == "time" and isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    if kind == "time" and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(UTC)
    if kind == "text":
        return value if isinstance(value, str) else str(value)
    return float(value) if kind == "real" and isinstance(value, int | float) else value


def _column_paths(text: str) -> tuple[ColumnPath, ...]:
    """Parse `name:kind` or `name:kind:path`, separated by spaces."""
    parts = (entry.split(":") for entry in text.split())
    return tuple(
        ColumnPath(ExportColumn(name, kind), "".join(path) or name)  # type: ignore[arg-type]  # kinds are literals below
        for name, kind, *path in parts
    )


_TABLES: dict[
    str, tuple[tuple[ColumnPath, ...], Callable[[ReadOnlyDocument], Iterable[ReadOnlyDocument]]]
] = {
    "videos": (
        _column_paths(f"rank:whole {_VIDEO} is_viral:flag link_type:text {_SOURCE} {_EVIDENCE}"),
        lambda root: root["aweme_list"],
    ),
    "accounts": (
        _column_paths(
            "sec_uid:text nickname:text unique_id:text follower_count:whole "
            "follower_count_source:text total_favorited:whole "
            "aweme_count:whole profile_complete:flag linked_video_count:whole "
            "linked_digg_count:whole linked_comment_count:whole linked_collect_count:whole "
            "linked_share_count:whole linked_statistics_complete:flag "
            "top_aweme_id:text:top_video.aweme_id top_desc:text:top_video.desc"
        ),
        lambda root: root["account_summary"]["accounts"],
    ),
    "variants": (
        _column_paths(f"rank:whole variant_kind:text {_VIDEO} {_SOURCE} {_EVIDENCE}"),
        lambda root: root["variants"]["aweme_list"],
    ),
    "search_related": (
        _column_paths(f"search_relevance_level:text {_VIDEO} duplicate_with_returned_ranking:flag"),
        lambda root: root["search_related"]["aweme_list"],
    ),
    "coverage": (
        _column_paths(
            "surface:text requests:whole pages:whole items:whole new_items:whole stop_reason:text "
            "foreign_rows:whole"
        ),
        lambda root: root["coverage"]["sources"],
    ),
    "comparisons": (
        _column_paths(
            "comparison_id:text verdict:text reason:text observation:text segment:text "
            "reference_kind:text reference_aweme_id:text reference_service_track_id:text "
            "candidate_aweme_id:text reference_music_id:text "
            "candidate_music_id:text score:real chroma_distance:real mfcc_distance:real "
            "overlap_s:real reference_start_s:real candidate_start_s:real peak_agreement:real "
            "speed:real semitones:real algorithm:text library_version:text reference_source:text"
        ),
        lambda root: root["comparisons"],
    ),
    "chart": (
        _column_paths(
            "target_date:text chart_date:text volid:text issue_name:text rank:whole title:text "
            "artist:text duration_s:whole:duration previous_rank:whole rank_change:whole "
            "is_new:flag song_key:text reason:text"
        ),
        # Each song with its node. A node without songs is a row, too: its `reason` says why.
        lambda root: (
            {**snapshot, **song}
            for snapshot in root["snapshots"]
            for song in snapshot["songs"] or [{}]
        ),
    ),
    "metrics": (
        _column_paths(
            "sec_user_id:text nickname:text follower_count:whole total_favorited:whole days:whole "
            "window_start:time window_end:time analyzed_count:whole average_digg_count:real "
            "median_digg_count:real top_aweme_id:text:top_video.aweme_id statistics_complete:flag"
        ),
        # One row. Other responses lack the field, which raises the `KeyError` of a missing table.
        lambda root: [{**root, "analyzed_count": root["analyzed_count"]}],
    ),
    "series": (
        _column_paths(
            "observed_at:time surface:text digg_count:whole comment_count:whole "
            "collect_count:whole share_count:whole follower_count:whole total_favorited:whole "
            "aweme_count:whole following_count:whole work_count:whole is_exact:flag"
        ),
        lambda root: root["points"],
    ),
}


@dataclass(frozen=True, slots=True)
class ExportFile:
    """An exported file."""

    body: bytes
    media_type: str
    name: str


def build_file(
    envelope: ReadOnlyDocument, *, source: str, table: TableName, form: TableFormat, bom: bool
) -> ExportFile:
    """Build the file of one table of a response.

    Raises:
        NotFoundError: The response has no such table.
    """
    data = envelope["data"]
    root = data.get("result") or data
    export = build_table(table, data)
    is_demo = any(row[-1] for row in export.rows) or bool(data.get("is_demo_data"))

    # The method sheet: where the rows come from, what was requested, what could not be read.
    facts = {
        "exported_at": f"{envelope['time']} {envelope['time_zone']}",
        "source": source,
        "is_demo_data": is_demo,
        "rows": len(export.rows),
        **{name: root[name] for name in _FACTS if name in root},
        "parameters": data.get("parameters", envelope.get("params", {})),
        "coverage_note": EXPORT_COVERAGE_NOTE,
    }
    texts = tuple(
        (name, value if isinstance(value, str) else orjson.dumps(value).decode())
        for name, value in facts.items()
    )
    coverage = None
    if table != "coverage":
        with suppress(NotFoundError):
            coverage = build_table("coverage", data)
    error_sheet = to_sheet_table(fill_error_sheet(root)) if is_scan_result(root) else None

    body = to_file(export, ExportMethod(texts, coverage, error_sheet), form, for_spreadsheets=bom)
    time = str(envelope["time"]).replace("-", "").replace(":", "").replace(" ", "-")
    prefix = "demo-" if is_demo else ""
    return ExportFile(body, MEDIA_TYPES[form], f"sametrack-{prefix}{table}-{time}.{form}")
