"""The report of a catalogue: its tables, a page, a workbook, and a Parquet file for each table.

What is unknown is empty in a table, never 0.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.catalog.rules import state_of
from pipelines.catalog.service import CatalogStatus
from pipelines.documents.html_pages import PageTemplates, rounded_number
from pipelines.documents.messages import FIGURES, LANGUAGES, Message
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports import export_table
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.method_sheet import COVERAGE_NOTE, METHOD_NOTE, read_job_sheets
from warehouse.exports.table_files import ExportMethod, to_parquet, to_workbook, write_table
from warehouse.home import is_demo_world
from warehouse.queries import catalogs
from warehouse.queries.catalogs import read_catalog_matches
from warehouse.records.times import to_utc_text
from warehouse.records.values import Row

CatalogReportFormat = Literal["html", "xlsx", "parquet"]
REPORT_FORMATS: tuple[CatalogReportFormat, ...] = get_args(CatalogReportFormat)
MAX_WORKBOOK_VIDEOS = 200_000
"""More videos are in the Parquet file alone: a workbook of them would take gigabytes of memory."""
MOST_DETAILS = 200
"""Tracks with details on the page: a browser shows some ten thousand rows without delay."""
MOST_VIDEOS = 10

_TRACK_COLUMNS: tuple[tuple[str, export_table.ExportKind], ...] = (
    ("track_key", "text"),
    ("input", "text"),
    ("label", "text"),
    ("priority", "whole"),
    ("state", "text"),
    ("music_id", "text"),
    ("result_job_id", "text"),
    ("result_at", "time"),
    ("error", "text"),
)
_INPUT_COLUMNS = export_table.ExportColumn("columns", "text")

TEXTS: Mapping[str, Message] = {
    "catalogue": Message("Catalogue", "曲目目录"),
    "demo": Message(
        "Demo data: nothing here comes from the public platform.",
        "演示数据：内容并非来自公开平台。",
    ),
    "basis": Message(
        "What guests can see, never a full list of the platform.",
        "仅含访客可见的公开数据，并非平台的完整列表。",
    ),
    "tracks": Message("tracks", "曲目"),
    "with_result": Message("with a result", "已有结果"),
    "music_ids": Message("music ids with the recording", "使用同一录音的音乐 ID"),
    "videos": FIGURES["confirmed_count"],
    "variants": Message("variants", "变体"),
    "new": Message("new since the result before", "较上次结果新增"),
    "new_flag": Message("new", "新"),
    "missing": Message("no longer found", "不再出现"),
    "overview": Message("Tracks", "曲目"),
    "track": Message("track", "曲目"),
    "state": Message("state", "状态"),
    "result_at": Message("result", "结果时间"),
    "likes": FIGURES["digg_count"],
    "comments": FIGURES["comment_count"],
    "collects": FIGURES["collect_count"],
    "shares": FIGURES["share_count"],
    "estimated_ids": Message("ids, estimated", "ID 估计值"),
    "estimated_videos": Message("videos, estimated", "作品估计值"),
    "id_count": Message("music ids", "音乐 ID"),
    "video_count": Message("videos", "作品"),
    "overview_note": Message(
        "Videos are confirmed ones. Estimates are what a guest could reach, with their 95 % "
        "interval. New and no longer found: compared with the result before the newest one.",
        "作品仅计已确认的。估计值为访客可见范围内的数量，附 95% 区间。"
        "新与不再出现均相对于上一次结果。",
    ),
    "no_estimate": Message("cannot be estimated", "无法估计"),
    "details": Message("Music ids and videos of each track", "各曲目的音乐 ID 与作品"),
    "details_cut": Message(
        "The first tracks by confirmed videos; all are in the tables next to this page.",
        "仅列出已确认作品最多的曲目，全部内容见同目录的数据表。",
    ),
    "matches": Message("Found by scans of other tracks", "由其他曲目的扫描发现"),
    "fetched_for": Message("scan of", "来自扫描"),
    "is_confirmed": Message("own scan", "本曲目扫描"),
    "sheet": Message("What the data can and cannot say", "数据能说明什么、不能说明什么"),
    "sheet_note": Message(
        "Error sheet (TES-D) of the newest scan; the workbook has those of the 20 newest.",
        "最近一次扫描的误差说明表（TES-D）；工作簿中含最近 20 次扫描的表。",
    ),
    "most_liked": Message("Most liked videos", "点赞最多的作品"),
    "music_id": Message("music id", "音乐 ID"),
    "born": Message("created", "创建时间"),
    "kind": Message("kind", "类型"),
    "uploader": Message("uploader", "上传者"),
    "evidence": Message("evidence", "匹配依据"),
    "copy_of": Message("older music id", "更早的音乐 ID"),
    "video": Message("video", "作品"),
    "account": Message("account", "账号"),
    "score": Message("score", "得分"),
    "failed": Message("Tracks that could not be scanned", "扫描失败的曲目"),
    "error": Message("reason", "原因"),
    "own_id": Message("the track's own", "曲目自身"),
    "original_sound": Message("original sound of a user", "用户原声"),
    "library": Message("official music", "官方音乐"),
    "audio": Message("confirmed by audio", "音频确认"),
    "name": Message("same name, not compared", "名称相同，未比对"),
    "confirmed": Message("confirmed", "已确认"),
    "variant": Message("variant", "变体"),
    "running": Message("running", "进行中"),
    "fresh": Message("fresh", "最新"),
    "stale": Message("stale", "已过期"),
    "never_read": Message("not run yet", "尚未运行"),
}

_PAGES = PageTemplates(
    "pipelines.catalog.report",
    filters={
        "number": rounded_number,
        "day": lambda value: "—" if value is None else f"{value:%Y-%m-%d}",
        "moment": lambda value: "—" if value is None else f"{value:%Y-%m-%d %H:%M} UTC",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTables:
    """The tables of a report: tracks as rows, the larger ones as they were read."""

    tracks: export_table.ExportTable
    music_ids: pa.Table
    videos: pa.Table
    matches: pa.Table

    def track_rows(self) -> list[Row]:
        """Return the tracks as rows by column name."""
        names = [column.name for column in self.tracks.columns]
        return [dict(zip(names, row, strict=True)) for row in self.tracks.rows]


def write_catalog_report(
    folder: Path,
    engine: Engine,
    status: CatalogStatus,
    *,
    language: str = "en",
    formats: Collection[CatalogReportFormat] = REPORT_FORMATS,
) -> list[Path]:
    """Write the files of a report into a folder, each atomically; return their paths.

    Raises:
        InvalidParameterError: A file cannot be written there.
        WarehouseUnavailableError: The lake cannot be read.
    """
    tables = read_catalog_tables(engine, status)
    is_demo = is_demo_world(engine.lake.world)
    facts = (
        ("catalogue", status.catalog.name),
        ("track_count", str(len(status.tracks))),
        ("read_at", to_utc_text(status.read_at, timespec="seconds")),
        ("world", engine.lake.world),
        ("is_demo_data", str(is_demo).lower()),
        ("method", METHOD_NOTE),
        ("coverage_note", COVERAGE_NOTE),
        ("changes", "new and missing: compared with the result before the newest one"),
    )
    # The jobs of the tracks' results, the newest first; tracks may share a job.
    results = [
        (track.result_at, track.result_job_id)
        for track in status.tracks
        if track.result_at is not None and track.result_job_id
    ]
    results.sort(key=lambda result: result[0], reverse=True)
    jobs = list(dict.fromkeys(job_id for _, job_id in results))
    sheet = read_job_sheets(engine, jobs)
    written: list[Path] = []
    # The page has the error sheet of the newest scan, in its language; the other files have the
    # sheets of several scans.
    if "html" in formats:
        page = render_catalog_page(
            status,
            tables,
            read_job_sheets(engine, jobs[:1], language="zh" if language == "zh" else "en"),
            language=language,
            is_demo=is_demo,
        )
        written.append(folder / f"{status.catalog.name}.html")
        write_atomically(written[-1], [page.encode()])
    if "xlsx" in formats:
        written.append(folder / f"{status.catalog.name}.xlsx")
        write_atomically(written[-1], [_workbook(tables, facts, sheet)])
    if "parquet" in formats:
        written += _write_parquet(
            folder, status.catalog.name, tables, ExportMethod(facts, error_sheet=sheet)
        )
    return written


def _workbook(
    tables: CatalogTables,
    facts: tuple[tuple[str, str], ...],
    sheet: export_table.ExportTable | None,
) -> bytes:
    sheets: list[export_table.ExportTable] = [
        tables.tracks,
        export_table.to_table("music_ids", tables.music_ids),
        export_table.to_table("matches", tables.matches),
    ]
    if tables.videos.num_rows <= MAX_WORKBOOK_VIDEOS:
        sheets.append(export_table.to_table("videos", tables.videos))
    else:
        count = tables.videos.num_rows
        facts = (*facts, ("left_out", f"{count:,} videos are too many: see the Parquet file"))
    return to_workbook(sheets, ExportMethod(facts, error_sheet=sheet))


def _write_parquet(
    folder: Path, name: str, tables: CatalogTables, method: ExportMethod
) -> Iterator[Path]:
    path = folder / f"{name}-tracks.parquet"
    write_atomically(path, [to_parquet(tables.tracks, method)])
    yield path
    for noun, table in (
        ("music_ids", tables.music_ids),
        ("videos", tables.videos),
        ("matches", tables.matches),
    ):
        path = folder / f"{name}-{noun}.parquet"
        # An empty batch comes first: it carries the columns of a table without rows.
        empty = pa.RecordBatch.from_pylist([], schema=table.schema)
        batches = chain([empty], table.to_batches())
        write_table(path, "parquet", noun, batches, method, for_spreadsheets=False)
        yield path


def read_catalog_tables(engine: Engine, status: CatalogStatus) -> CatalogTables:
    """Read the tables. Tracks without a result are rows of the first one alone.

    Raises:
        WarehouseUnavailableError: The lake cannot be read.
    """
    queries = [
        catalogs.CatalogQueryTrack(
            key=track.given.key,
            label=track.given.label,
            music_id=track.music_id,
            result_job_id=track.result_job_id,
            previous_job_id=track.previous_job_id,
        )
        for track in status.tracks
        if track.music_id is not None
    ]
    results = catalogs.read_catalog_tracks(engine, queries)
    results_by_key: dict[str, Row] = {row["track_key"]: row for row in results.to_pylist()}
    result_columns = export_table.columns_of(results.schema)[1:]  # behind the key
    rows: list[tuple[object, ...]] = []
    for track in status.tracks:
        imported, result = track.given, results_by_key.get(track.given.key, {})
        rows.append(
            (
                imported.key,
                imported.input,
                imported.label,
                imported.priority,
                state_of(track, status.catalog.settings, status.read_at),
                track.music_id,
                track.result_job_id,
                track.result_at,
                None if track.error is None else str(track.error.get("detail")),
                *(result.get(column.name) for column in result_columns),
                orjson.dumps(dict(imported.columns)).decode(),
            )
        )
    track_columns = [export_table.ExportColumn(name, kind) for name, kind in _TRACK_COLUMNS]
    return CatalogTables(
        tracks=export_table.ExportTable(
            "tracks", [*track_columns, *result_columns, _INPUT_COLUMNS], rows
        ),
        music_ids=catalogs.read_catalog_music_ids(engine, queries),
        videos=catalogs.read_catalog_videos(engine, queries),
        matches=read_catalog_matches(
            engine,
            [track.key for track in queries],
            [track.label for track in queries],
            [track.music_id for track in queries],
        ),
    )


def render_catalog_page(
    status: CatalogStatus,
    tables: CatalogTables,
    sheet: export_table.ExportTable | None,
    *,
    language: str,
    is_demo: bool,
) -> str:
    """Return the page as one HTML file; `sheet`: the error sheet of the newest scan."""
    texts = partial(page_text, language=language)
    rows = tables.track_rows()
    results = [row for row in rows if row["music_id"] is not None]
    detailed = sorted(results, key=lambda row: -(row["confirmed_video_count"] or 0))[:MOST_DETAILS]
    keys = [row["track_key"] for row in detailed]

    def total(name: str) -> int | None:
        counts = [row[name] for row in results if row[name] is not None]
        return sum(counts) if counts else None

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
        # A video of two tracks counts for each.
        totals=[
            ("tracks", len(rows)),
            ("with_result", len(results)),
            ("music_ids", total("music_id_count")),
            ("videos", total("confirmed_video_count")),
            ("variants", total("variant_video_count")),
            ("new", total("new_video_count")),
        ],
        detailed=detailed,
        is_cut=len(detailed) < len(results),
        music_ids=_by_track(tables.music_ids, keys, limit=None),
        videos=_by_track(tables.videos, keys, limit=MOST_VIDEOS),
        matches=_by_track(tables.matches, keys, limit=MOST_VIDEOS),
        sheet=() if sheet is None else sheet.rows,
        failed=[row for row in rows if row["error"] is not None],
    )


def _by_track(table: pa.Table, keys: Collection[str], *, limit: int | None) -> dict[str, list[Row]]:
    """Return the rows of these tracks by track, in their order, at most `limit` of each."""
    of_tracks = table.filter(pc.is_in(table["track_key"], pa.array(keys, type=pa.string())))
    by_track: dict[str, list[Row]] = {key: [] for key in keys}
    for row in of_tracks.to_pylist():
        rows = by_track[row["track_key"]]
        if limit is None or len(rows) < limit:
            rows.append(row)
    return by_track


def page_text(name: str | None, *, language: str) -> str:
    """Return a text of the page: an unknown name unchanged, a dash for None."""
    if name is None:
        return "—"
    return TEXTS[name].text(language) if name in TEXTS else name
