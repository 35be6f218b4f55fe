"""A table as a file: CSV, JSON, XLSX, Parquet. Ids stay text, no cell is ever a formula.

Pure: values in, bytes out. The libraries are loaded when the first file of their kind is made.
Not here: which tables there are.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson

from api.export.tables import Column, Table

Form = Literal["csv", "xlsx", "parquet", "json"]
MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
BYTE_ORDER_MARK = "\ufeff"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_CELL_CHARS = 32_767  # the longest text that a cell holds
_WIDE = 60


@dataclass(frozen=True, slots=True)
class Method:
    """How a table came about: what goes on a sheet beside it."""

    facts: tuple[tuple[str, str], ...]
    coverage: Table | None = None


def to_csv(table: Table, *, with_mark: bool) -> bytes:
    """Comma-separated; text that a spreadsheet would run as a formula begins with an apostrophe."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows:
        writer.writerow([_cell(value) for value in row])
    return ((BYTE_ORDER_MARK if with_mark else "") + sheet.getvalue()).encode()


def to_json(table: Table, method: Method) -> bytes:
    """Rows as objects, with how they came about."""
    names = [column.name for column in table.columns]
    rows = [
        {name: _plain(value) for name, value in zip(names, row, strict=True)} for row in table.rows
    ]
    document: dict[str, Any] = {"table": table.name, "method": dict(method.facts), "rows": rows}
    if method.coverage is not None:
        document["coverage"] = [
            dict(zip((column.name for column in method.coverage.columns), row, strict=True))
            for row in method.coverage.rows
        ]
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def to_xlsx(table: Table, method: Method) -> bytes:
    """A workbook: the table, and a sheet on method and coverage."""
    import xlsxwriter  # noqa: PLC0415  # 60 ms that only this file needs

    file = io.BytesIO()
    rules = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "remove_timezone": True,
    }
    with xlsxwriter.Workbook(file, rules) as book:
        bold = book.add_format({"bold": True})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        sheet = book.add_worksheet(table.name)
        sheet.freeze_panes(1, 0)
        _fill(sheet, table, bold=bold, moment=moment)
        notes = book.add_worksheet("method_and_coverage")
        notes.set_column(0, 0, 30)
        notes.set_column(1, 6, 40)
        for at, (name, value) in enumerate(method.facts):
            notes.write_string(at, 0, name, bold)
            notes.write_string(at, 1, value[:_CELL_CHARS])
        if method.coverage is not None:
            _fill(notes, method.coverage, bold=bold, moment=moment, first_row=len(method.facts) + 1)
    return file.getvalue()


def to_parquet(table: Table, method: Method) -> bytes:
    """Typed columns; how the table came about is in the file's metadata."""
    import pyarrow as pa  # noqa: PLC0415  # 100 ms that only this file needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    kinds = {
        "text": pa.string(), "whole": pa.int64(), "real": pa.float64(), "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    schema = pa.schema(
        [(column.name, kinds[column.kind]) for column in table.columns],
        metadata={f"sametrack.{name}": value for name, value in method.facts},
    )
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pa.array(values, type=field.type) for values, field in zip(columns, schema, strict=True)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _fill(sheet: Any, table: Table, *, bold: Any, moment: Any, first_row: int = 0) -> None:
    for at, column in enumerate(table.columns):
        sheet.write_string(first_row, at, column.name, bold)
        if first_row == 0:
            sheet.set_column(at, at, _width(column, [row[at] for row in table.rows]))
    for down, row in enumerate(table.rows, start=first_row + 1):
        for at, value in enumerate(row):
            _write(sheet, down, at, value, moment=moment)


def _write(sheet: Any, down: int, at: int, value: object, *, moment: Any) -> None:
    """By its type, never by its looks: a text that begins with `=` is a text."""
    if isinstance(value, bool):
        sheet.write_boolean(down, at, value)
    elif isinstance(value, datetime):
        sheet.write_datetime(down, at, value, moment)
    elif isinstance(value, int | float):
        sheet.write_number(down, at, value)
    elif value is not None:
        sheet.write_string(down, at, str(value)[:_CELL_CHARS])


def _width(column: Column, values: Sequence[object]) -> int:
    longest = max((len(str(value)) for value in values[:50] if value is not None), default=0)
    return min(_WIDE, max(len(column.name), longest) + 2)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return _plain(value)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return value
