"""Tables of a response, and the file of one: typed columns, rows of plain values, a method sheet.

Pure functions. Ids stay text. Not here: file formats (`warehouse/exports`), calling the operation
(`source_reader.py`), the columns of a video (`warehouse/exports/document_columns.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import orjson

from api.responses.errors import NotFoundError
from warehouse.exports.document_columns import VIDEO_COLUMNS, DocumentColumn, document_columns
from warehouse.exports.error_sheet import fill_error_sheet, is_scan_result, to_sheet_table
from warehouse.exports.export_table import ExportTable
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
_EVIDENCE = document_columns(
    "verdict:text:evidence.verdict score:real:evidence.score "
    "chroma_distance:real:evidence.chroma_distance mfcc_distance:real:evidence.mfcc_distance "
    "overlap_s:real:evidence.overlap_s speed:real:evidence.speed "
    "semitones:real:evidence.semitones comparison_id:text:evidence.comparison_id"
)
_SOURCE = document_columns("source_music_id:text source_music_title:text source_music_url:text")
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


def build_table(name: TableName, data: ReadOnlyDocument) -> ExportTable:
    """Build a table from the `data` of a response.

    Raises:
        NotFoundError: The response has no such table.
    """
    root = data.get("result") or data
    columns, find_rows = TABLES[name]
    try:
        documents = list(find_rows(root))
    except (KeyError, TypeError) as exc:
        raise NotFoundError(
            f"The response has no table {name!r}",
            hint="A job has no tables until it is completed",
        ) from exc
    # Every export carries the demo mark, row by row: rows are copied from file to file.
    columns = (*columns, DocumentColumn("is_demo_data", "flag"))
    is_demo = bool(data.get("is_demo_data", root.get("is_demo_data")))
    marked = ({**document, "is_demo_data": is_demo} for document in documents)
    rows = tuple(tuple(column.value(row) for column in columns) for row in marked)
    return ExportTable(name, tuple(column.export_column for column in columns), rows)


type _FindRows = Callable[[ReadOnlyDocument], Iterable[ReadOnlyDocument]]
TABLES: Mapping[TableName, tuple[tuple[DocumentColumn, ...], _FindRows]] = {
    "videos": (
        (
            *document_columns("rank:whole"),
            *VIDEO_COLUMNS,
            *document_columns("is_viral:flag link_type:text"),
            *_SOURCE,
            *_EVIDENCE,
        ),
        lambda root: root["aweme_list"],
    ),
    "accounts": (
        document_columns(
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
        (
            *document_columns("rank:whole variant_kind:text"),
            *VIDEO_COLUMNS,
            *_SOURCE,
            *_EVIDENCE,
        ),
        lambda root: root["variants"]["aweme_list"],
    ),
    "search_related": (
        (
            *document_columns("search_relevance_level:text"),
            *VIDEO_COLUMNS,
            *document_columns("duplicate_with_returned_ranking:flag"),
        ),
        lambda root: root["search_related"]["aweme_list"],
    ),
    "coverage": (
        document_columns(
            "surface:text requests:whole pages:whole items:whole new_items:whole stop_reason:text "
            "foreign_rows:whole"
        ),
        lambda root: root["coverage"]["sources"],
    ),
    "comparisons": (
        document_columns(
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
        document_columns(
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
        document_columns(
            "sec_user_id:text nickname:text follower_count:whole total_favorited:whole days:whole "
            "window_start:time window_end:time analyzed_count:whole average_digg_count:real "
            "median_digg_count:real top_aweme_id:text:top_video.aweme_id statistics_complete:flag"
        ),
        # One row. Other responses lack the field, which raises the `KeyError` of a missing table.
        lambda root: [{**root, "analyzed_count": root["analyzed_count"]}],
    ),
    "series": (
        document_columns(
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
