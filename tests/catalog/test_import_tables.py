"""Files of an import: CSV, plain text and spreadsheets, with the numbers of their lines."""

import io
import json
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from pipelines.catalog.sources.tables import link_lines, parse_table, read_first_sheet, read_lines
from warehouse.records.errors import InvalidParameterError

ID = "7300000000000000001"
CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("table_cases.json").read_text(encoding="utf-8")
)
"""What both readers of tables, that of the service and that of the console, make of a text."""


def read(text: str, name: str = "songs.csv") -> list[tuple[int, dict[str, str]]]:
    return [(one.number, dict(one.values)) for one in parse_table(text.encode(), name=name)]


def spreadsheet(*rows: Sequence[Any], **options: Any) -> bytes:
    written = io.BytesIO()
    control_store = xlsxwriter.Workbook(written, {"in_memory": True, **options})
    sheet = control_store.add_worksheet()
    for number, row in enumerate(rows):
        for place, value in enumerate(row):
            sheet.write(number, place, value)
    control_store.close()
    return written.getvalue()


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_the_service_reads_a_table_as_the_console_does(case: dict[str, Any]) -> None:
    assert [[*line] for line in read(case["text"], case["name"])] == case["lines"]


def test_a_quotation_mark_without_an_end_swallows_no_lines() -> None:
    lines = [f"track,title,{ID}", f'{ID},"Heroes" (live)', f'{ID},"Boats', f"{ID},x", f"{ID},y"]
    with pytest.raises(InvalidParameterError, match=r"songs\.csv, line 3: a quotation mark"):
        read("\n".join(lines))
    closed = "\n".join((*lines[:2], f'{ID},12" mix', f'{ID},"a ""b"""'))
    titles = [row["title"] for _, row in read(closed)]
    assert titles == ["Heroes (live)", '12" mix', 'a "b"']


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encodings_of_spreadsheet_programs_are_read(encoding: str) -> None:
    data = f"链接,歌名\n{ID},纸船\n".encode(encoding)
    (found,) = parse_table(data, name="songs.csv")
    assert found.values == {"链接": ID, "歌名": "纸船"}


def test_import_refuses_a_file_that_is_not_utf_8() -> None:
    with pytest.raises(InvalidParameterError, match="not UTF-8"):
        parse_table("歌名,链接\n".encode("gb18030"), name="songs.csv")


def test_a_spreadsheet_is_read_like_the_same_table_in_text() -> None:
    rows: list[list[Any]] = [
        ["music_id", "title", "", "year"],
        [ID, "Paper & Boats", "", 1999],
        [],
        [ID, None, "x"],
    ]
    (first, second) = parse_table(spreadsheet(*rows), name="songs.xlsx")
    assert (first.number, dict(first.values)) == (
        2, {"music_id": ID, "title": "Paper & Boats", "year": "1999"},
    )  # fmt: skip
    assert (second.number, dict(second.values)) == (4, {"music_id": ID, "column_3": "x"})


def test_an_id_that_a_spreadsheet_holds_as_a_number_is_seen_to_be_rounded() -> None:
    ((_, row),) = read_first_sheet(spreadsheet([int(ID)]), name="songs.xlsx")
    assert "E+" in row[0]


@pytest.mark.parametrize("counts_from_1904", [False, True])
def test_dates_of_a_spreadsheet_are_read_as_dates(counts_from_1904: bool) -> None:
    written = io.BytesIO()
    options = {"in_memory": True, "date_1904": counts_from_1904}
    with xlsxwriter.Workbook(written, options) as control_store:
        sheet = control_store.add_worksheet()
        for place, (form, moment) in enumerate(
            [
                ("yyyy-mm-dd", datetime(1999, 12, 31)),  # noqa: DTZ001 -- a spreadsheet has no zone
                ('[$-407]d. mmm "im Jahr" yy', datetime(2026, 3, 1)),  # noqa: DTZ001 -- as above
                ("dd/mm/yyyy hh:mm", datetime(2026, 3, 1, 23, 59, 59)),  # noqa: DTZ001 -- as above
            ]
        ):
            sheet.write_datetime(0, place, moment, control_store.add_format({"num_format": form}))
        sheet.write_number(0, 3, 46_082, control_store.add_format({"num_format": '0.00 "days"'}))
        sheet.write_number(0, 4, 46_082)
    ((_, row),) = read_first_sheet(written.getvalue(), name="songs.xlsx")
    assert row == ["1999-12-31", "2026-03-01", "2026-03-01T23:59:59", "46082", "46082"]


def test_import_refuses_a_damaged_spreadsheet() -> None:
    with pytest.raises(InvalidParameterError, match="cannot be read as an XLSX file"):
        parse_table(b"PK\x03\x04 and nothing", name="songs.xlsx")


def changed(data: bytes, part: str, before: bytes, after: bytes) -> bytes:
    """The same spreadsheet with other text in one of its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as other:
        for name in archive.namelist():
            text = archive.read(name)
            if name == part:
                assert before in text
                text = text.replace(before, after, 1)
            other.writestr(name, text)
    return made.getvalue()


def test_a_spreadsheet_that_declares_entities_is_refused() -> None:
    declaring = changed(
        spreadsheet(["x"]), "xl/workbook.xml", b"?>", b'?><!DOCTYPE a [<!ENTITY b "c">]>'
    )
    with pytest.raises(InvalidParameterError, match="document type"):
        parse_table(declaring, name="songs.xlsx")


@pytest.mark.parametrize(
    ("part", "before", "after", "why"),
    [
        ("xl/workbook.xml", b"<sheet ", b"<other ", "it has no sheet"),
        ("xl/_rels/workbook.xml.rels", b'Id="rId1"', b'Id="rId9"', "format"),
        ("xl/worksheets/sheet1.xml", b"<sheetData>", b"<a>" * 200 + b"<sheetData>", "each other"),
        ("xl/worksheets/sheet1.xml", b"<v>0</v>", b"<v>7</v>", "index not found"),
    ],
)
def test_a_spreadsheet_that_cannot_be_read_says_what_is_wrong(
    part: str, before: bytes, after: bytes, why: str
) -> None:
    with pytest.raises(InvalidParameterError, match=why) as met:
        parse_table(changed(spreadsheet(["x"]), part, before, after), name="songs.xlsx")
    assert met.value.hint == "Save it as XLSX or CSV again"


def test_a_spreadsheet_with_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.catalog.sources.tables.MAX_CELLS", 2)
    with pytest.raises(InvalidParameterError, match=r"more than .* 2 filled cells"):
        parse_table(spreadsheet(["a", "b", "c"]), name="songs.xlsx")


def test_the_spreadsheets_of_other_programs_are_read() -> None:
    """Texts within cells, cells and rows without a place, an absolute part, yes or no."""
    sheet = "xl/worksheets/sheet1.xml"
    data = spreadsheet(["track", True], ["x", False])
    data = changed(data, sheet, b'r="A2" t="s"><v>1</v>', b't="inlineStr"><is><t>y</t></is>')
    data = changed(data, sheet, b'<row r="2"', b"<row")
    data = changed(data, "xl/_rels/workbook.xml.rels", b'"worksheets', b'"/xl/worksheets')
    data = changed(data, "xl/styles.xml", b"cellXfs", b"otherXfs")
    data = changed(data, "xl/styles.xml", b"/cellXfs", b"/otherXfs")
    assert list(read_first_sheet(data, name="songs.xlsx")) == [
        (1, ["track", "yes"]),
        (2, ["y", "no"]),
    ]
    empty = changed(data, sheet, b"<is><t>y</t></is>", b"")
    assert list(read_first_sheet(empty, name="songs.xlsx"))[1] == (2, ["", "no"])


@pytest.mark.parametrize("name", ["songs.xls", "songs.ods"])
def test_import_refuses_other_spreadsheet_formats_with_a_hint(name: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        parse_table(b"\xd0\xcf\x11\xe0", name=name)
    assert "XLSX" in str(caught.value.hint)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"songs\.csv does not exist"):
        read_lines(tmp_path / "songs.csv")


def test_arguments_are_lines_of_their_own() -> None:
    assert [(one.number, one.values) for one in link_lines([ID, "b"])] == [
        (1, {"track": ID}),
        (2, {"track": "b"}),
    ]
