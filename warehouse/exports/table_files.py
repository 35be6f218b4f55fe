"""A table as the bytes of a file: CSV, JSON, XLSX, Parquet. Ids stay text.

CSV is for programs: every text is as it was read. CSV for spreadsheets, which begins with a byte
order mark, has an apostrophe before what a spreadsheet would run as a formula; XLSX needs none.

What a format cannot hold is text in it. JSON: whole numbers beyond 64 bits, `nan` and `inf`. XLSX:
whole numbers beyond 2^53, `nan`, `inf` and times before 1900. A column of Parquet is text if it has
such a value for its type.

Tables are selected in `extracts`, files are written in `atomic_files`.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import isfinite
from typing import Literal

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from warehouse.exports.export_table import ExportColumn, ExportRow, ExportTable
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
    "csv": "CSV", "xlsx": "Excel (XLSX)", "parquet": "Parquet", "json": "JSON"
}  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class ExportMethod:
    """How a table was obtained; exported next to it."""

    facts: tuple[tuple[str, str], ...]
    coverage: ExportTable | None = None
    error_sheet: ExportTable | None = None


def to_file(
    table: ExportTable, method: ExportMethod, form: TableFormat, *, for_spreadsheets: bool = False
) -> bytes:
    """Return the file of a table. CSV has no method; only CSV has a form `for_spreadsheets`.

    Raises:
        InvalidParameterError: XLSX, and the table has more rows than a sheet allows.
    """
    if form == "csv":
        return to_csv(table, for_spreadsheets=for_spreadsheets)
    make = {"json": to_json, "xlsx": to_xlsx, "parquet": to_parquet}[form]
    return make(table, method)


def to_csv(table: ExportTable, *, for_spreadsheets: bool) -> bytes:
    """Return CSV, exact or for spreadsheets."""
    return b"".join(csv_parts(table.columns, table.rows, for_spreadsheets=for_spreadsheets))


def csv_parts(
    columns: Sequence[ExportColumn], rows: Iterable[ExportRow], *, for_spreadsheets: bool
) -> Iterator[bytes]:
    """Yield CSV in parts, for tables that are too large for memory.

    For spreadsheets it has a byte order mark, and an apostrophe before a formula.
    """
    cell_of = _spreadsheet_cell if for_spreadsheets else _cell
    sheet = io.StringIO(BYTE_ORDER_MARK if for_spreadsheets else "", newline="")
    sheet.seek(0, io.SEEK_END)
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow([cell_of(column.name) for column in columns])
    for number, row in enumerate(rows, start=1):
        writer.writerow([cell_of(value) for value in row])
        if number % _LINES_PER_PART == 0:
            yield sheet.getvalue().encode()
            sheet.seek(0)
            sheet.truncate()
    yield sheet.getvalue().encode()


def to_json(table: ExportTable, method: ExportMethod) -> bytes:
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


def to_xlsx(table: ExportTable, method: ExportMethod) -> bytes:
    """Return a workbook: the table, a sheet with method and coverage, and the error sheet.

    Raises:
        InvalidParameterError: The table has more rows than a sheet allows.
    """
    return to_workbook([table], method)


def to_workbook(tables: Sequence[ExportTable], method: ExportMethod) -> bytes:
    """Return a workbook: a sheet per table, and one with method and coverage.

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
    rules = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "remove_timezone": True,
    }
    with xlsxwriter.Workbook(file, rules) as book:
        book.set_properties({"created": datetime(2000, 1, 1)})  # noqa: DTZ001  # a fixed date keeps the file reproducible; the sheet has the real one
        bold = book.add_format({"bold": True})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for table in tables:
            sheet = book.add_worksheet(table.name[:_SHEET_NAME_CHARS])
            sheet.freeze_panes(1, 0)
            _fill(sheet, table, bold=bold, moment=moment)
        _describe(book.add_worksheet("method_and_coverage"), method, bold=bold, moment=moment)
        if method.error_sheet is not None:
            _fill(book.add_worksheet("error_sheet"), method.error_sheet, bold=bold, moment=moment)
    return file.getvalue()


def to_parquet(table: ExportTable, method: ExportMethod) -> bytes:
    """Return typed columns; the method is in the file's metadata."""
    kinds = {
        "text": pa.string(), "whole": pa.int64(), "real": pa.float64(), "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"), "date": pa.date32(),
        "texts": pa.list_(pa.string()),
    }  # fmt: skip
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        _array(values, kinds[column.kind])
        for values, column in zip(columns, table.columns, strict=True)
    ]
    schema = pa.schema(
        [(column.name, array.type) for column, array in zip(table.columns, arrays, strict=True)],
        metadata={f"sametrack.{name}": value for name, value in method.facts},
    )
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _array(values: Sequence[object], type_: pa.DataType) -> pa.Array:
    """Return a column; as text if the type cannot hold one of its values."""
    if type_ != pa.string():
        try:
            return pa.array(values, type=type_)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([_text(value) for value in values], type=pa.string())


def _text(value: object) -> str | None:
    shown = _plain(value)
    return shown if shown is None or isinstance(shown, str) else str(shown)


def _objects(table: ExportTable) -> list[dict[str, object]]:
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
        return [json_value(one, largest=largest) for one in value]
    if isinstance(value, dict):
        return {str(name): json_value(one, largest=largest) for name, one in value.items()}
    return _plain(value)


def _describe(sheet: Worksheet, method: ExportMethod, *, bold: Format, moment: Format) -> None:
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 6, 40)
    for at, (name, value) in enumerate(method.facts):
        sheet.write_string(at, 0, name, bold)
        sheet.write_string(at, 1, value[:_CELL_CHARS])
    if method.coverage is not None:
        _fill(sheet, method.coverage, bold=bold, moment=moment, first_row=len(method.facts) + 1)


def _fill(
    sheet: Worksheet, table: ExportTable, *, bold: Format, moment: Format, first_row: int = 0
) -> None:
    for at, column in enumerate(table.columns):
        sheet.write_string(first_row, at, column.name, bold)
        if first_row == 0:
            sheet.set_column(
                at, at, _width(column, [row[at] for row in table.rows[:_WIDTH_SAMPLE_ROWS]])
            )
    for down, row in enumerate(table.rows, start=first_row + 1):
        for at, value in enumerate(row):
            _write(sheet, down, at, value, moment=moment)


def _write(sheet: Worksheet, down: int, at: int, value: object, *, moment: Format) -> None:
    """Write a cell by the type of its value: text that begins with `=` is text."""
    if isinstance(value, bool):
        sheet.write_boolean(down, at, value)
    elif isinstance(value, datetime) and value.year >= _FIRST_SHEET_YEAR:
        sheet.write_datetime(down, at, as_utc(value), moment)
    elif isinstance(value, int | float) and _is_sheet_number(value):
        sheet.write_number(down, at, value)
    elif value is not None:
        sheet.write_string(down, at, str(_plain(value))[:_CELL_CHARS])


def _is_sheet_number(value: float) -> bool:
    """Return True if a cell can hold a number."""
    return isfinite(value) and not (isinstance(value, int) and abs(value) > LARGEST_EXACT)


def _width(column: ExportColumn, values: Sequence[object]) -> int:
    longest = max((len(str(value)) for value in values if value is not None), default=0)
    return min(_WIDE, max(len(column.name), longest) + 2)


def _cell(value: object) -> object:
    if value is None or type(value) in _NUMBERS:
        return value  # the common case
    return _plain(value)


def _spreadsheet_cell(value: object) -> object:
    cell = _cell(value)
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _plain(value: object) -> object:
    """Return the value of a cell: text, number, boolean or None."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return to_utc_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return orjson.dumps(json_value(value)).decode()
    return value if value is None or isinstance(value, int | float) else str(value)
