"""Tables of a response, and the file of one: typed columns, rows of plain values, a method sheet.

Pure functions. Ids stay text. Not here: file formats (`warehouse/exports`), calling the operation
(`source_reader.py`), the columns of a video (`warehouse/exports/document_columns.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

import orjson

from api.responses.errors import NotFoundError
from api.services.exports.file_names import FILE_CONTENTS, to_file_name
from api.services.exports.table_view import WHOLE_TABLE, TableView
from pipelines.documents.column_messages import code_words, column_heading, fact_heading
from pipelines.documents.messages import NOT_EXHAUSTIVE, Message
from warehouse.exports.document_columns import VIDEO_COLUMNS, DocumentColumn, document_columns
from warehouse.exports.error_sheet import (
    SheetLanguage,
    fill_error_sheet,
    is_scan_result,
    to_sheet_table,
)
from warehouse.exports.export_table import ExportColumn, ExportTable
from warehouse.exports.table_files import (
    MEDIA_TYPES,
    SHEET_NAMES,
    ExportMethod,
    TableFormat,
    to_file,
)
from warehouse.records.values import ReadOnlyDocument

TableName = Literal[
    "videos",
    "accounts",
    "variants",
    "versions",
    "search_related",
    "coverage",
    "comparisons",
    "chart",
    "metrics",
    "series",
    "track_usage",
    "track_scans",
    "catalog",
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


def build_table(
    name: TableName,
    data: ReadOnlyDocument,
    *,
    view: TableView = WHOLE_TABLE,
    language: SheetLanguage | None = None,
) -> ExportTable:
    """Build a table from the `data` of a response.

    Args:
        name: Name of the table.
        data: The `data` of the response.
        view: Which rows and columns it has.
        language: Language of its headings; None: the names of the columns.

    Raises:
        NotFoundError: The response has no such table.
        InvalidParameterError: The table has no column that the view names.
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
    documents = view.rows(columns, documents)
    # Every export carries the demo mark, row by row: rows are copied from file to file.
    columns = (*view.chosen(columns), DocumentColumn("is_demo_data", "flag"))
    is_demo = bool(data.get("is_demo_data", root.get("is_demo_data")))
    marked = ({**document, "is_demo_data": is_demo} for document in documents)
    if language is None:
        rows = tuple(tuple(column.value(row) for column in columns) for row in marked)
        return ExportTable(name, tuple(column.export_column for column in columns), rows)
    rows = tuple(
        tuple(code_words(column.name, column.value(row), language) for column in columns)
        for row in marked
    )
    headings = tuple(
        ExportColumn(column.name, column.kind, column_heading(column.name, column.kind, language))
        for column in columns
    )
    return ExportTable(name, headings, rows, _contents(name, root).text(language).capitalize())


def _contents_name(table: TableName, root: ReadOnlyDocument) -> str:
    """Return what a file holds: the videos of a scan are a ranking."""
    return "ranking" if table == "videos" and "confirmed_count" in root else table


def _contents(table: TableName, root: ReadOnlyDocument) -> Message:
    return FILE_CONTENTS[_contents_name(table, root)]


type _FindRows = Callable[[ReadOnlyDocument], Iterable[ReadOnlyDocument]]
TABLES: Mapping[TableName, tuple[tuple[DocumentColumn, ...], _FindRows]] = {
    "videos": (
        (
            *document_columns("rank:whole"),
            *VIDEO_COLUMNS,
            *document_columns("is_viral:flag link_type:text"),
            *_SOURCE,
            *_EVIDENCE,
            # only of variants, if the ranking includes them
            *document_columns("variant_kind:text"),
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
    "versions": (
        (
            *document_columns("version_score:real"),
            *VIDEO_COLUMNS,
            *_SOURCE,
            *document_columns("comparison_id:text:evidence.comparison_id"),
        ),
        lambda root: (root.get("versions") or {"aweme_list": ()})["aweme_list"],
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
            "comparison_id:text verdict:text reason:text observation:text relation:text "
            "shared_part:text version_score:real segment:text "
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
    "track_usage": (
        document_columns(
            "day:text use_count:whole use_count_exact:flag use_count_step:whole "
            "use_count_observed_at:time previous_date:text uses_gained:whole"
        ),
        lambda root: root["usage"]["points"],
    ),
    "track_scans": (
        document_columns(
            "concluded_at:time job_id:text confirmed_video_count:whole music_id_count:whole "
            "digg_count:whole new_video_count:whole gone_video_count:whole "
            "new_music_id_count:whole risen_video_count:whole fallen_video_count:whole"
        ),
        lambda root: root["scans"],
    ),
    "catalog": (
        document_columns(
            "title:text artist:text:figures.artist input:text state:text music_id:text "
            "confirmed_video_count:whole:figures.confirmed_video_count "
            "account_count:whole:figures.account_count "
            "music_id_count:whole:figures.music_id_count "
            "music_id_estimate:real:figures.music_id_estimate "
            "music_id_lower:real:figures.music_id_lower "
            "music_id_upper:real:figures.music_id_upper "
            "variant_video_count:whole:figures.variant_video_count "
            "digg_count:whole:figures.digg_count "
            "last_result_at:time:figures.last_result_at newest_job_id:text:figures.newest_job_id "
            "error:text:error.detail priority:whole"
        ),
        lambda root: root["tracks"],
    ),
}


@dataclass(frozen=True, slots=True)
class ExportFile:
    """An exported file."""

    body: bytes
    media_type: str
    name: str


def build_file(
    envelope: ReadOnlyDocument,
    *,
    source: str,
    table: TableName,
    form: TableFormat,
    bom: bool,
    view: TableView = WHOLE_TABLE,
    language: SheetLanguage | None = None,
    title: str | None = None,
) -> ExportFile:
    """Build the file of one table of a response.

    `language` is that of the words for readers, `title` the subject for the name of the file if the
    response does not say it.

    Raises:
        NotFoundError: The response has no such table.
        InvalidParameterError: The table has no column that the view names.
    """
    data = envelope["data"]
    root = data.get("result") or data
    is_read_by_people = form == "xlsx" or (form == "csv" and bom)
    words = language if is_read_by_people else None
    export = build_table(table, data, view=view, language=words)
    is_demo = any(row[-1] for row in export.rows) or bool(data.get("is_demo_data"))

    # The method sheet: where the rows come from, what was requested, what could not be read.
    facts = {
        "exported_at": f"{envelope['time']} {envelope['time_zone']}",
        "source": source,
        "is_demo_data": is_demo,
        "rows": len(export.rows),
        **{name: root[name] for name in _FACTS if name in root},
        **_parameter_facts(data, envelope, view, is_a_fact_each=words is not None),
        "coverage_note": NOT_EXHAUSTIVE.text(words or "en"),
    }
    texts = tuple(
        (
            name if words is None else fact_heading(name, words),
            value if isinstance(value, str) else orjson.dumps(value).decode(),
        )
        for name, value in facts.items()
        if value is not None or words is None
    )
    coverage = None
    if table != "coverage":
        with suppress(NotFoundError):
            coverage = build_table("coverage", data, language=words)
    error_sheet = None
    if is_scan_result(root):
        error_sheet = to_sheet_table(
            fill_error_sheet(root, language=words or "en"), has_headings=words is not None
        )
    sheets = SHEET_NAMES
    if words is not None:
        sheets = (_METHOD_SHEET.text(words), _LIMITS_SHEET.text(words))
    method = ExportMethod(texts, coverage, error_sheet, sheets)

    body = to_file(export, method, form, for_spreadsheets=bom)
    zone = ZoneInfo(str(envelope["time_zone"]))
    name = to_file_name(
        title or subject_of(root, table),
        _contents_name(table, root),
        day_of(root, datetime.fromtimestamp(envelope["time_stamp"], UTC), zone),
        form,
        is_demo=is_demo,
        language=language or "en",
    )
    return ExportFile(body, MEDIA_TYPES[form], name)


_METHOD_SHEET = Message("Method and coverage", "方法与覆盖情况")
_LIMITS_SHEET = Message("Limits of this data", "数据局限")


def _parameter_facts(
    data: ReadOnlyDocument, envelope: ReadOnlyDocument, view: TableView, *, is_a_fact_each: bool
) -> dict[str, object]:
    """Return the parameters of the scan as this file shows its result, and its view.

    For people each parameter is a fact of its own, with its value as it was given.
    """
    # A view of a ranking has its own order, number and filter, which its envelope echoes.
    asked = envelope.get("params", {})
    own = data.get("parameters")
    parameters = dict(asked) if own is None else {name: asked.get(name, own[name]) for name in own}
    shown = {name: value for name, value in view.facts() if value is not None}
    if not is_a_fact_each:
        return {"parameters": parameters, **({"view": shown} if shown else {})}
    shown.pop("columns", None)  # the table itself shows them
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in {**parameters, **shown}.items()
        if value is not None
    }


def subject_of(root: ReadOnlyDocument, table: str) -> str:
    """Return what a response is about: the title of a track, the name of an account or a song."""
    music = root.get("music") or {}
    videos = root.get("aweme_list") or [{}]
    author = videos[0].get("author") or {}
    names = (
        root.get("keyword"),
        music.get("title"),
        root.get("music_id"),
        root.get("name"),
        root.get("nickname"),
        # Lists have no subject of their own: posts are of one account.
        author.get("nickname") if len({_account(video) for video in videos}) == 1 else None,
    )
    return next((str(name) for name in names if name), "Sametrack" if table != "chart" else "")


def _account(video: ReadOnlyDocument) -> object:
    return (video.get("author") or {}).get("sec_uid")


def day_of(root: ReadOnlyDocument, moment: datetime, zone: tzinfo) -> str:
    """Return the day of the data in a time zone: of a result, when it was made, else `moment`."""
    created_at = root.get("created_at")
    made_at = datetime.fromisoformat(created_at) if isinstance(created_at, str) else moment
    return f"{made_at.astimezone(zone):%Y-%m-%d}"
