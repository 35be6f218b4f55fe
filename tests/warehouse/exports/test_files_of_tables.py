"""Whatever stands in a table, a file of it holds the same, and runs nothing when it is opened."""

import csv
import io
import json
import zipfile
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.exports.export_table import ExportColumn, ExportRow, ExportTable, to_table
from warehouse.exports.table_files import (
    ExportMethod,
    csv_parts,
    to_csv,
    to_json,
    to_parquet,
    to_xlsx,
)
from warehouse.records.errors import InvalidParameterError

COLUMNS = (
    ExportColumn("aweme_id", "text"), ExportColumn("likes", "whole"), ExportColumn("score", "real"),
    ExportColumn("exact", "flag"), ExportColumn("seen", "time"), ExportColumn("day", "date"),
    ExportColumn("tags", "texts"),
)  # fmt: skip
ROW: ExportRow = (
    "7361729694329545668", 12, 0.5, True,
    datetime(2026, 11, 1, 12, tzinfo=UTC), date(2026, 11, 1), ["a", "中"],
)  # fmt: skip
METHOD = ExportMethod(
    (("exported_at", "2026-11-01"), ("is_demo_data", "true")),
    coverage=ExportTable("coverage", (ExportColumn("surface", "text"),), (("music_list",),)),
)


def table_of(*rows: ExportRow, columns: tuple[ExportColumn, ...] = COLUMNS) -> ExportTable:
    return ExportTable("videos", columns, rows)


def read_csv(body: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(body.decode("utf-8"), newline="")))


def test_csv_has_a_heading_and_one_line_per_row() -> None:
    assert read_csv(to_csv(table_of(ROW), for_spreadsheets=False)) == [
        [column.name for column in COLUMNS],
        ["7361729694329545668", "12", "0.5", "True", "2026-11-01T12:00:00Z", "2026-11-01",
         '["a","中"]'],
    ]  # fmt: skip


def test_only_a_file_for_spreadsheets_has_a_byte_order_mark() -> None:
    assert to_csv(table_of(ROW), for_spreadsheets=True) == b"\xef\xbb\xbf" + to_csv(
        table_of(ROW), for_spreadsheets=False
    )


TEXTS = st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]))))
ONE_TEXT = (ExportColumn("desc", "text"),)


def texts_of(body: bytes) -> list[str]:
    rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
    return [row[0] if row else "" for row in rows][1:]


@given(TEXTS)
def test_a_csv_file_for_programs_holds_every_text_as_it_is(rows: list[tuple[str]]) -> None:
    body = to_csv(table_of(*rows, columns=ONE_TEXT), for_spreadsheets=False)
    assert texts_of(body) == [row[0] for row in rows]


@given(TEXTS)
def test_no_cell_for_a_spreadsheet_begins_as_a_formula_and_the_text_comes_back(
    rows: list[tuple[str]],
) -> None:
    found = texts_of(to_csv(table_of(*rows, columns=ONE_TEXT), for_spreadsheets=True))
    assert [text for text in found if text.startswith(tuple("=+-@\t\r\n＝＋－＠"))] == []
    assert [text.removeprefix("'") for text in found] == [row[0].removeprefix("'") for row in rows]


def test_a_long_table_comes_in_parts_that_make_the_whole() -> None:
    rows = [(str(number),) for number in range(2500)]
    table = table_of(*rows, columns=(ExportColumn("n", "text"),))
    parts = list(csv_parts(table.columns, iter(rows), for_spreadsheets=True))
    assert len(parts) == 3
    assert b"".join(parts) == to_csv(table, for_spreadsheets=True)


def test_a_workbook_holds_ids_as_text_and_no_formula_or_link() -> None:
    hostile = ("=1+1", 1, None, False, None, None, ["https://an.example"])
    book = zipfile.ZipFile(io.BytesIO(to_xlsx(table_of(ROW, hostile), METHOD)))
    sheets = b"".join(book.read(name) for name in book.namelist() if "worksheets/sheet" in name)
    texts = book.read("xl/sharedStrings.xml").decode()
    assert "<f>" not in sheets.decode()
    assert "hyperlink" not in sheets.decode()
    assert all(text in texts for text in ("7361729694329545668", "=1+1", "is_demo_data"))
    assert 'name="method_and_coverage"' in book.read("xl/workbook.xml").decode()


def test_the_same_table_makes_the_same_files() -> None:
    table = table_of(ROW)
    for make in (to_xlsx, to_parquet, to_json):
        assert make(table, METHOD) == make(table, METHOD)


def test_a_sheet_that_is_too_long_is_refused() -> None:
    table = table_of(*[("1",)] * 1_048_576, columns=(ExportColumn("n", "text"),))
    with pytest.raises(InvalidParameterError, match="1,048,576 rows"):
        to_xlsx(table, METHOD)


def test_parquet_has_types_and_how_it_came_about() -> None:
    found = pq.read_table(io.BytesIO(to_parquet(table_of(ROW, (None,) * 7), METHOD)))
    assert [str(kind) for kind in found.schema.types[:4]] == ["string", "int64", "double", "bool"]
    assert tuple(found.to_pylist()[0].values()) == ROW
    assert found.schema.metadata[b"sametrack.is_demo_data"] == b"true"


def test_json_tells_rows_method_and_coverage() -> None:
    document = json.loads(to_json(table_of(ROW), METHOD))
    assert document["rows"][0]["seen"] == "2026-11-01T12:00:00Z"
    assert document["rows"][0]["tags"] == ["a", "中"]
    assert document["coverage"] == [{"surface": "music_list"}]


def test_a_result_keeps_equal_names_apart_and_sums_whole() -> None:
    found = pa.table([pa.array([1]), pa.array([2]).cast(pa.decimal128(38, 0))], names=["n", "n"])
    table = to_table("answer", found)
    assert [(column.name, column.kind) for column in table.columns] == [
        ("n", "whole"),
        ("n_2", "whole"),
    ]
    assert table.rows == ((1, 2),)
