"""Tables of a response, and the file of one: typed columns, rows of plain values, a method sheet.

Pure functions. Ids stay text. Not here: file formats (`warehouse/exports`), calling the operation
(`source_reader.py`).
"""

from collections.abc import Callable, Iterable, Mapping
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
    "videos", "accounts", "variants", "search_related", "coverage", "comparisons", "chart",
    "metrics", "series",
]  # fmt: skip
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
    "music_id", "keyword", "algorithm", "data_provider", "created_at", "confirmed_count",
    "returned_count", "requested_count", "count_satisfied", "candidate_pool_size",
    "unique_account_count", "coverage_complete", "node_count", "collected_count",
    "not_collected_count", "requested_end_date", "end_date_cut", "issues_refreshed",
)  # fmt: skip
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
    places, find = _TABLES[name]
    try:
        documents = list(find(root))
    except (KeyError, TypeError) as exc:
        raise NotFoundError(
            f"The response has no table {name!r}",
            hint="A job has no tables until it is completed",
        ) from exc
    places = (*places, ColumnPath(ExportColumn("is_demo_data", "flag"), "is_demo_data"))
    marked = [{**document, "is_demo_data": _is_demo(data, root)} for document in documents]
    rows = tuple(tuple(_value(row, place) for place in places) for row in marked)
    return ExportTable(name, tuple(place.column for place in places), rows)


def _is_demo(data: ReadOnlyDocument, root: ReadOnlyDocument) -> bool:
    """Return the demo mark, which every export must carry."""
    return bool(data.get("is_demo_data", root.get("is_demo_data")))


def _value(row: ReadOnlyDocument, place: ColumnPath) -> object:
    found: object = row
    for step in place.path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    if found is None:
        return None
    kind = place.column.kind
    if kind == "time" and isinstance(found, int | float | str):
        return _moment(found)
    if kind == "text":
        return found if isinstance(found, str) else str(found)
    return float(found) if kind == "real" and isinstance(found, int | float) else found


def _moment(value: float | str) -> datetime:
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    return datetime.fromisoformat(value).astimezone(UTC)


def _column_paths(text: str) -> tuple[ColumnPath, ...]:
    """Parse `name:kind` or `name:kind:path`, separated by spaces."""
    parts = (entry.split(":") for entry in text.split())
    return tuple(
        ColumnPath(ExportColumn(name, kind), "".join(path) or name)  # type: ignore[arg-type]  # kinds are literals below
        for name, kind, *path in parts
    )


def _songs(root: ReadOnlyDocument) -> Iterable[ReadOnlyDocument]:
    """Yield each song with its node. A node without songs is a row, too: its `reason` says why."""
    for snapshot in root["snapshots"]:
        for song in snapshot["songs"] or [{}]:
            yield {**snapshot, **song}


def _metrics_row(root: ReadOnlyDocument) -> Iterable[ReadOnlyDocument]:
    _ = root["analyzed_count"]
    yield root


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
        _songs,
    ),
    "metrics": (
        _column_paths(
            "sec_user_id:text nickname:text follower_count:whole total_favorited:whole days:whole "
            "window_start:time window_end:time analyzed_count:whole average_digg_count:real "
            "median_digg_count:real top_aweme_id:text:top_video.aweme_id statistics_complete:flag"
        ),
        _metrics_row,
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
    found = build_table(table, envelope["data"])
    method = _method(envelope, found, source)
    body = to_file(found, method, form, for_spreadsheets=bom)
    stamp = str(envelope["time"]).replace("-", "").replace(":", "").replace(" ", "-")
    demo = "demo-" if dict(method.facts)["is_demo_data"] == "true" else ""
    return ExportFile(body, MEDIA_TYPES[form], f"sametrack-{demo}{table}-{stamp}.{form}")


def _method(envelope: ReadOnlyDocument, table: ExportTable, source: str) -> ExportMethod:
    data = envelope["data"]
    root = data.get("result") or data
    is_demo = any(row[-1] for row in table.rows) or bool(data.get("is_demo_data"))
    facts = {
        "exported_at": f"{envelope['time']} {envelope['time_zone']}",
        "source": source,
        "is_demo_data": is_demo,
        "rows": len(table.rows),
        **{name: root[name] for name in _FACTS if name in root},
        "parameters": data.get("parameters", envelope.get("params", {})),
        "coverage_note": EXPORT_COVERAGE_NOTE,
    }
    told = tuple((name, _to_text(value)) for name, value in facts.items())
    return ExportMethod(told, _coverage(data, table), _error_sheet(root))


def _coverage(data: ReadOnlyDocument, table: ExportTable) -> ExportTable | None:
    try:
        return None if table.name == "coverage" else build_table("coverage", data)
    except NotFoundError:
        return None


def _error_sheet(root: ReadOnlyDocument) -> ExportTable | None:
    """Return the error sheet of a scan; other responses have none."""
    return to_sheet_table(fill_error_sheet(root)) if is_scan_result(root) else None


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
