"""Tables that would fill the memory are refused before they do; large real ones are read."""

import io
import zipfile
from collections.abc import Callable

import pytest

from benchmarks.fuzz.bombs import SHEETS, TABLES
from pipelines.catalog.sources.tables import (
    MAX_CELLS,
    MAX_ROW_CHARS,
    MAX_ROWS,
    limited_rows,
    parse_table,
)
from warehouse.records.errors import InvalidParameterError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CELL = "<c t='inlineStr'><is><t>{}</t></is></c>"
CELL_ROW = f"<row>{CELL.format(12345)}</row>"


def spreadsheet(sheet: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/'
            '2006/relationships"><sheets><sheet name="a" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Target="worksheets/sheet1.xml" Type="http://schemas.'
            'openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Target="xl/workbook.xml" Type="http://schemas.openxmlformats.'
            'org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
        )
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return packed.getvalue()


def test_entities_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="declares a document type"):
        parse_table(SHEETS["entities"](), name="a.xlsx")


def test_a_column_beyond_all_is_left_out() -> None:
    assert parse_table(SHEETS["a column far away"](), name="a.xlsx") == []


@pytest.mark.parametrize("name", ["one cell of 8 MB", "commas", "columns", "rows in quotes"])
def test_a_hostile_table_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameterError, match=r"a\.csv"):
        parse_table(TABLES[name](), name="a.csv")


@pytest.mark.parametrize(
    "cells",
    [
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c>',
        '<row r="1"><c r="A1"><v>1</v></c><c r="xfd1048576"><v>1</v></c>',
        "<row>" + "<c/>" * 9_999 + "<c><v>1</v></c></row>" + "<row/>" * 999 + CELL_ROW,
    ],
    ids=["far", "far in one row", "without places"],
)
def test_cells_that_are_too_far_apart_are_refused(cells: str) -> None:
    cells = cells if cells.endswith("</row>") else f"{cells}</row>"
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    with pytest.raises(InvalidParameterError, match="too far apart"):
        parse_table(spreadsheet(sheet), name="a.xlsx")


def test_empty_cells_may_be_anywhere() -> None:
    far = '<row r="1048576"><c r="XFD1048576" s="0"/></row>'
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{CELL_ROW}{far}</sheetData></worksheet>'
    (line,) = parse_table(spreadsheet(sheet), name="a.xlsx")
    assert "12345" in line.values.values()


def test_a_long_sheet_is_read_row_by_row() -> None:
    rows = "".join(f"<row>{CELL.format(10_000 + number)}</row>" for number in range(3000))
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    lines = parse_table(spreadsheet(sheet), name="a.xlsx")
    assert [lines[0].number, lines[-1].number, len(lines)] == [1, 3000, 3000]
    assert "12999" in lines[-1].values.values()


@pytest.mark.parametrize(
    "rows",
    [
        lambda: ((number, ["1"]) for number in range(MAX_ROWS + 1)),
        lambda: ((number, ["1"] * 1000) for number in range(MAX_CELLS // 1000 + 1)),
        lambda: ((number, ["a" * 500_000]) for number in range(20)),
    ],
)
def test_a_table_has_a_most_of_rows_cells_and_characters(
    rows: Callable[[], list[tuple[int, list[str]]]],
) -> None:
    with pytest.raises(ValueError, match="it has more than"):
        list(limited_rows(rows()))


def test_a_quoted_value_may_span_lines_within_a_row() -> None:
    text = 'music_id,note\r\n123456,"one\ntwo\rthree"\r\n123457,b\n'
    lines = parse_table(text.encode(), name="a.csv")
    assert [(line.number, line.values["note"]) for line in lines] == [
        (2, "one\ntwo\rthree"),
        (5, "b"),
    ]


def test_a_long_line_of_text_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=f"{MAX_ROW_CHARS:,}"):
        parse_table(b"a" * (MAX_ROW_CHARS + 1), name="a.txt")
