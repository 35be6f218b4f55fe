"""Write a report: one page, one workbook, and a Parquet file for each table."""

from collections.abc import Collection, Iterator
from datetime import datetime
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
from warehouse.exports.table_files import ExportMethod, to_parquet, to_workbook, write_table
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
    facts = _facts(engine, status)
    jobs = _newest_jobs(status)
    sheet = read_job_sheets(engine, jobs)
    written: list[Path] = []
    if "html" in formats:
        page = render_catalog_page(
            status,
            tables,
            read_job_sheets(engine, jobs[:1], language="zh" if language == "zh" else "en"),
            language=language,
            is_demo=is_demo_world(engine.lake.world),
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


def _newest_jobs(status: CatalogStatus) -> list[str]:
    """Return the jobs of the tracks' results, the newest first."""
    read = [one for one in status.tracks if one.result_at is not None and one.result_job_id]
    read.sort(key=lambda one: one.result_at or status.read_at, reverse=True)
    return list(dict.fromkeys(one.result_job_id for one in read if one.result_job_id))


def _facts(engine: Engine, status: CatalogStatus) -> tuple[tuple[str, str], ...]:
    return (
        ("catalogue", status.catalog.name),
        ("track_count", str(len(status.tracks))),
        ("read_at", _text(status.read_at)),
        ("world", engine.lake.world),
        ("is_demo_data", str(is_demo_world(engine.lake.world)).lower()),
        ("method", METHOD_NOTE),
        ("coverage_note", COVERAGE_NOTE),
        ("changes", "new and missing: compared with the result before the newest one"),
    )


def _text(moment: datetime) -> str:
    return to_utc_text(moment, timespec="seconds")


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
        write_table(path, "parquet", noun, _batches(table), method, for_spreadsheets=False)
        yield path


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield the batches behind an empty one, which carries the columns."""
    yield pa.RecordBatch.from_pylist([], schema=table.schema)
    yield from table.to_batches()
