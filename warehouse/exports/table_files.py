"""A table as the bytes of a file: CSV, JSON, XLSX, Parquet. Ids stay text.

CSV is for programs: every text is as it was read. CSV for spreadsheets, which begins with a byte
order mark, has an apostrophe before what a spreadsheet would run as a formula; XLSX needs none.

What a format cannot hold is text in it. JSON: whole numbers beyond 64 bits, `nan` and `inf`. XLSX:
whole numbers beyond 2^53, `nan`, `inf` and times before 1900. A column of Parquet is text if it has
such a value for its type.

`to_file` returns the bytes of a table in memory; `write_table` writes a stored table of any size,
batch by batch if the format allows it. Tables are selected in `extracts`.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Literal

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from warehouse.exports import export_table
from warehouse.exports.atomic_files import atomic_path, write_atomically
from warehouse.records.errors import InvalidParameterError
from warehouse.records.times import as_utc, to_utc_text

TableFormat = Literal["csv", "xlsx", "parquet", "json"]
"""Formats of exports, downloads and answers of queries. `to_file` makes them all."""
MEDIA_TYPES: Mapping[TableFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
FORMAT_NAMES: Mapping[TableFormat, str] = {
    "csv": "CSV",
    "xlsx": "Excel (XLSX)",
    "parquet": "Parquet",
    "json": "JSON",
}
TEXT_FORMATS: frozenset[TableFormat] = frozenset({"csv", "json"})  # a terminal can show these
BYTE_ORDER_MARK = "\ufeff"
MAX_SHEET_ROWS = 1_048_575  # rows of a sheet below the header
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBERS = frozenset({int, float, bool})
LARGEST_EXACT = 2**53 - 1
"""The largest whole number that every reader of JSON and of a sheet keeps."""
_LARGEST = 2**63 - 1
_FIRST_SHEET_YEAR = 1900
_CELL_CHARS = 32_767  # longest text of a cell
_SHEET_NAME_CHARS = 31
_WIDE = 60
_WIDTH_SAMPLE_ROWS = 50
_LINES_PER_PART = 1000


SHEET_NAMES = ("method_and_coverage", "Limits of this data")


@dataclass(frozen=True, slots=True)
class ExportMethod:
    """How a table was obtained; exported next to it. `sheets` names both in a workbook."""

    facts: tuple[tuple[str, str], ...]
    coverage: export_table.ExportTable | None = None
    error_sheet: export_table.ExportTable | None = None
    sheets: tuple[str, str] = SHEET_NAMES


def to_file(
    table: export_table.ExportTable,
    method: ExportMethod,
    form: TableFormat,
    *,
    for_spreadsheets: bool = False,
) -> bytes:
    """Return the file of a table. CSV has no method; only CSV has a form `for_spreadsheets`.

    Raises:
        InvalidParameterError: XLSX, and the table has more rows than a sheet allows.
    """
    if form == "csv":
        return to_csv(table, for_spreadsheets=for_spreadsheets)
    make = {"json": to_json, "xlsx": to_xlsx, "parquet": to_parquet}[form]
    return make(table, method)


def to_csv(table: export_table.ExportTable, *, for_spreadsheets: bool) -> bytes:
    """Return CSV, exact or for spreadsheets."""
    return b"".join(csv_parts(table.columns, table.rows, for_spreadsheets=for_spreadsheets))


def csv_parts(
    columns: Sequence[export_table.ExportColumn],
    rows: Iterable[export_table.ExportRow],
    *,
    for_spreadsheets: bool,
) -> Iterator[bytes]:
    """Yield CSV in parts, for tables that are too large for memory.

    For spreadsheets it has a byte order mark, and an apostrophe before a formula.
    """

    def cell_of(value: object) -> object:
        if value is None or type(value) in _NUMBERS:
            return value  # the common case
        cell = _plain(value)
        is_formula = for_spreadsheets and isinstance(cell, str) and cell.startswith(_FORMULA)
        return f"'{cell}" if is_formula else cell

    sheet = io.StringIO(BYTE_ORDER_MARK if for_spreadsheets else "", newline="")
    sheet.seek(0, io.SEEK_END)
    writer = csv.writer(sheet, lineterminator="\r\n")
    headings = (column.heading if for_spreadsheets else "" for column in columns)
    writer.writerow(
        [cell_of(words or column.name) for words, column in zip(headings, columns, strict=True)]
    )
    # The text is written to memory and emptied after each part.
    for number, row in enumerate(rows, start=1):
        writer.writerow([cell_of(value) for value in row])
        if number % _LINES_PER_PART == 0:
            yield sheet.getvalue().encode()
            sheet.seek(0)
            sheet.truncate()
    yield sheet.getvalue().encode()


def to_json(table: export_table.ExportTable, method: ExportMethod) -> bytes:
    """Return rows as JSON objects, with the method."""
    document: dict[str, object] = {
        "table": table.name,
        "method": dict(method.facts),
        "rows": _objects(table),
    }
    if method.coverage is not None:
        document["coverage"] = _objects(method.coverage)
    if method.error_sheet is not None:
        document["error_sheet"] = _objects(method.error_sheet)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def to_xlsx(table: export_table.ExportTable, method: ExportMethod) -> bytes:
    """Return a workbook: the table, a sheet with method and coverage, and the limits of the data.

    Raises:
        InvalidParameterError: The table has more rows than a sheet allows.
    """
    return to_workbook([table], method)


def to_workbook(tables: Sequence[export_table.ExportTable], method: ExportMethod) -> bytes:
    """Return a workbook: a sheet per table, one with method and coverage, last the error sheet.

    Raises:
        InvalidParameterError: A table has more rows than a sheet allows.
    """
    longest = max((len(table.rows) for table in tables), default=0)
    if longest > MAX_SHEET_ROWS:
        raise InvalidParameterError(
            f"{longest:,} rows do not fit a sheet of at most {MAX_SHEET_ROWS:,}",
            hint="use CSV or Parquet",
        )
    file = io.BytesIO()
    options = {
        "in_memory": True,
        # Text stays text, whatever it looks like: a title may begin with `=` or `https://`.
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "remove_timezone": True,
    }
    with xlsxwriter.Workbook(file, options) as book:
        # A fixed date keeps the file reproducible; the method sheet has the real one.
        book.set_properties({"created": datetime(2000, 1, 1)})  # noqa: DTZ001  # as XLSX has it
        bold = book.add_format({"bold": True})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for table in tables:
            sheet = book.add_worksheet((table.heading or table.name)[:_SHEET_NAME_CHARS])
            sheet.freeze_panes(1, 0)
            _fill(sheet, table, bold=bold, moment=moment)
        # How the rows were obtained: facts, and below them the coverage of the jobs.
        method_name, limits_name = method.sheets
        sheet = book.add_worksheet(method_name)
        sheet.set_column(0, 0, 30)
        sheet.set_column(1, 6, 40)
        for down, (name, value) in enumerate(method.facts):
            sheet.write_string(down, 0, name, bold)
            sheet.write_string(down, 1, value[:_CELL_CHARS])
        if method.coverage is not None:
            first_row = len(method.facts) + 1
            _fill(sheet, method.coverage, bold=bold, moment=moment, first_row=first_row)
        if method.error_sheet is not None:
            limits = book.add_worksheet(limits_name)
            _fill(limits, method.error_sheet, bold=bold, moment=moment)
    return file.getvalue()


def _fill(
    sheet: Worksheet,
    table: export_table.ExportTable,
    *,
    bold: Format,
    moment: Format,
    first_row: int = 0,
) -> None:
    for at, column in enumerate(table.columns):
        words = column.heading or column.name
        sheet.write_string(first_row, at, words, bold)
        # A table below others has the widths of the sheet that it is in.
        if first_row == 0:
            sample = [row[at] for row in table.rows[:_WIDTH_SAMPLE_ROWS]]
            longest = max((len(str(value)) for value in sample if value is not None), default=0)
            sheet.set_column(at, at, min(_WIDE, max(len(words), longest) + 2))
    for down, row in enumerate(table.rows, start=first_row + 1):
        for at, value in enumerate(row):
            _write_cell(sheet, down, at, value, moment=moment)


def _write_cell(sheet: Worksheet, down: int, at: int, value: object, *, moment: Format) -> None:
    """Write a cell by the type of its value: text that begins with `=` is text.

    A sheet rounds whole numbers beyond 2^53, so they are text too.
    """
    fits = (
        abs(value) <= LARGEST_EXACT
        if isinstance(value, int)
        else isinstance(value, float) and isfinite(value)
    )
    if isinstance(value, bool):
        sheet.write_boolean(down, at, value)
    elif isinstance(value, datetime) and value.year >= _FIRST_SHEET_YEAR:
        sheet.write_datetime(down, at, as_utc(value), moment)
    elif isinstance(value, int | float) and fits:
        sheet.write_number(down, at, value)
    elif value is not None:
        sheet.write_string(down, at, str(_plain(value))[:_CELL_CHARS])


def to_parquet(table: export_table.ExportTable, method: ExportMethod) -> bytes:
    """Return typed columns; the method is in the file's metadata."""
    types = {
        "whole": pa.int64(),
        "real": pa.float64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "date": pa.date32(),
        "texts": pa.list_(pa.string()),
    }
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = []
    for values, column in zip(columns, table.columns, strict=True):
        # The column is text if its type cannot hold one of its values.
        array = None
        if column.kind != "text":
            with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                array = pa.array(values, type=types[column.kind])
        if array is None:
            plain = (_plain(value) for value in values)
            texts = [None if value is None else str(value) for value in plain]
            array = pa.array(texts, type=pa.string())
        arrays.append(array)
    schema = pa.schema(
        [(column.name, array.type) for column, array in zip(table.columns, arrays, strict=True)],
        metadata={f"sametrack.{name}": value for name, value in method.facts},
    )
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _objects(table: export_table.ExportTable) -> list[dict[str, object]]:
    names = [column.name for column in table.columns]
    return [
        {name: json_value(value) for name, value in zip(names, row, strict=True)}
        for row in table.rows
    ]


def json_value(value: object, *, largest: int = _LARGEST) -> object:
    """Return a value as JSON has it; what JSON lacks is text, and nested values stay nested.

    A whole number beyond `largest` is text, a time is formatted like in every API response.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if -largest <= value <= largest else str(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [json_value(each, largest=largest) for each in value]
    if isinstance(value, dict):
        return {str(name): json_value(each, largest=largest) for name, each in value.items()}
    return _plain(value)


def _plain(value: object) -> object:
    """Return the value of a cell: text, number, boolean or None."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return to_utc_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        # No cell holds a list, so it is JSON, from which every reader can restore it.
        return orjson.dumps(json_value(value)).decode()
    return value if value is None or isinstance(value, int | float) else str(value)


def write_table(
    path: Path,
    form: TableFormat,
    name: str,
    batches: Iterator[pa.RecordBatch],
    method: ExportMethod,
    *,
    for_spreadsheets: bool,
) -> int:
    """Write the file of a table atomically; returns its row count.

    Parquet and CSV are written batch by batch. The first batch carries the columns.

    Raises:
        InvalidParameterError: The file cannot be written there, or has too many rows for a sheet.
        WarehouseUnavailableError: The lake cannot be read.
    """
    first = next(batches)
    batches = chain([first], batches)
    count = 0
    if form == "parquet":
        facts = {f"sametrack.{fact}": value for fact, value in method.facts}
        schema = first.schema.with_metadata(facts)
        with (
            atomic_path(path) as draft,
            pq.ParquetWriter(draft, schema, compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_batch(batch.replace_schema_metadata(facts))
                count += batch.num_rows
        return count
    columns = export_table.columns_of(first.schema)
    if form != "csv":
        # JSON and XLSX are written in memory.
        rows = tuple(export_table.rows_of(batches))
        write_atomically(
            path, [to_file(export_table.ExportTable(name, columns, rows), method, form)]
        )
        return len(rows)

    def counted_rows() -> Iterator[export_table.ExportRow]:
        nonlocal count
        for count, row in enumerate(export_table.rows_of(batches), start=1):  # noqa: B007  # the enclosing count
            yield row

    write_atomically(path, csv_parts(columns, counted_rows(), for_spreadsheets=for_spreadsheets))
    return count
