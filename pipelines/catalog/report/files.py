"""Write a report: one page, one workbook, and a Parquet file for each table."""

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa

from pipelines.catalog.report.page import render_catalog_page
from pipelines.catalog.report.tables import CatalogTables, read_catalog_tables
from pipelines.catalog.service import CatalogStatus
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.method_sheet import COVERAGE_NOTE, METHOD_NOTE, read_job_sheets
from warehouse.exports.single_file import write_table
from warehouse.exports.table_files import ExportMethod, to_parquet, to_workbook
from warehouse.records.times import to_utc_text
from warehouse.records.worlds import is_demo_world

CatalogReportFormat = Literal["html", "xlsx", "parquet"]
REPORT_FORMATS: tuple[CatalogReportFormat, ...] = get_args(CatalogReportFormat)
MAX_WORKBOOK_VIDEOS = 200_000
"""More videos are in the Parquet file alone: a workbook of them would take gigabytes of memory."""


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
    tables: CatalogTables, facts: tuple[tuple[str, str], ...], sheet: ExportTable | None
) -> bytes:
    sheets: list[ExportTable] = [
        tables.tracks,
        to_table("music_ids", tables.music_ids),
        to_table("matches", tables.matches),
    ]
    if tables.videos.num_rows <= MAX_WORKBOOK_VIDEOS:
        sheets.append(to_table("videos", tables.videos))
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
