"""Read the cells of the first sheet of an XLSX file as text.

An XLSX file is a ZIP archive of XML parts, of which four matter here; a library for the rest of
the format would be the only use of it. Formulas are not evaluated: their stored values are read.
A date is a number with a format: it is read as ISO 8601.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from xml.etree import ElementTree as ET

from warehouse.records.errors import InvalidParameterError

MAX_PART_BYTES = 200 * 1024 * 1024
MAX_COLUMNS = 200
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINKED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DATE_FORMATS = frozenset({"14", "15", "16", "17", "22"})
"""Numbers of the date formats that every workbook has without declaring them."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a format that are literal text, a colour or a language."""
_DAY_0 = datetime(1899, 12, 30, tzinfo=UTC)
_DAY_S = 86_400
_CELL = re.compile(r"([A-Z]{1,3})[0-9]+")


def read_first_sheet(data: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of the first sheet with their numbers; blank rows may be absent.

    Raises:
        InvalidParameterError: The file is no XLSX file, or is too large when unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            cells = _CellReader(_shared_texts(archive), _date_styles(archive), _epoch(archive))
            rows = list(_rows(_part(archive, _first_sheet(archive)), cells))
    except (
        zipfile.BadZipFile,
        KeyError,
        ET.ParseError,
        ValueError,
        IndexError,
        OverflowError,
    ) as error:
        raise InvalidParameterError(
            f"{name} cannot be read as an XLSX file: {error}", hint="Save it as XLSX or CSV again"
        ) from error
    return iter(rows)


def _part(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """Return one part of the archive. Neither its size nor entities can exhaust the memory."""
    if archive.getinfo(name).file_size > MAX_PART_BYTES:
        raise ValueError(f"{name} is too large")
    text = archive.read(name)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:  # no spreadsheet program writes one
        raise ValueError(f"{name} declares a document type")
    return ET.fromstring(text)  # noqa: S314 -- declarations are refused above


def _first_sheet(archive: zipfile.ZipFile) -> str:
    sheet = _part(archive, "xl/workbook.xml").find(f"{_MAIN}sheets/{_MAIN}sheet")
    if sheet is None:
        raise ValueError("it has no sheet")
    for relation in _part(archive, "xl/_rels/workbook.xml.rels"):
        if relation.get("Id") == sheet.get(_LINKED):
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise ValueError("its sheet is missing")


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    return [_text(item) for item in _part(archive, "xl/sharedStrings.xml").findall(f"{_MAIN}si")]


def _text(item: ET.Element) -> str:
    """Return the text of a cell, without the readings of Chinese or Japanese characters."""
    runs = [*item.findall(f"{_MAIN}t"), *item.findall(f"{_MAIN}r/{_MAIN}t")]
    return "".join(run.text or "" for run in runs)


def _date_styles(archive: zipfile.ZipFile) -> frozenset[str]:
    """Return the numbers of the cell styles that show a number as a date."""
    if "xl/styles.xml" not in archive.namelist():
        return frozenset()
    styles = _part(archive, "xl/styles.xml")
    dates = set(_DATE_FORMATS)
    for form in styles.iterfind(f"{_MAIN}numFmts/{_MAIN}numFmt"):
        code = _NOT_SHOWN.sub("", form.get("formatCode", "").lower())
        if "y" in code or "d" in code:
            dates.add(form.get("numFmtId", ""))
    cells = styles.findall(f"{_MAIN}cellXfs/{_MAIN}xf")
    return frozenset(str(at) for at, one in enumerate(cells) if one.get("numFmtId") in dates)


def _epoch(archive: zipfile.ZipFile) -> datetime:
    """Return day 0 of the workbook. Files of old Macs count from 1904."""
    settings = _part(archive, "xl/workbook.xml").find(f"{_MAIN}workbookPr")
    counts_from_1904 = settings is not None and settings.get("date1904") in {"1", "true"}
    return datetime(1904, 1, 1, tzinfo=UTC) if counts_from_1904 else _DAY_0


def _rows(sheet: ET.Element, cells: "_CellReader") -> Iterator[tuple[int, list[str]]]:
    number = 0
    for row in sheet.iterfind(f"{_MAIN}sheetData/{_MAIN}row"):
        number = int(row.get("r") or number + 1)
        values: list[str] = []
        for cell in row.iterfind(f"{_MAIN}c"):
            place = _column(cell.get("r"), default=len(values))
            if place < MAX_COLUMNS:
                values += [""] * (place - len(values))
                values.append(cells.read(cell))
        yield number, values


def _column(reference: str | None, *, default: int) -> int:
    """Return the column of a cell such as `AB12`, from 0."""
    found = _CELL.fullmatch(reference or "")
    if found is None:
        return default
    place = 0
    for letter in found[1]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


@dataclass(frozen=True, slots=True)
class _CellReader:
    """Reads cells: their texts are stored together, and a style tells a date from a number."""

    shared: list[str]
    date_styles: frozenset[str]
    epoch: datetime

    def read(self, cell: ET.Element) -> str:
        """Return the value of a cell as text."""
        kind = cell.get("t")
        if kind == "inlineStr":
            inline = cell.find(f"{_MAIN}is")
            return "" if inline is None else _text(inline)
        stored = cell.findtext(f"{_MAIN}v") or ""
        if kind == "s":
            return self.shared[int(stored)]
        if kind == "b":
            return {"0": "no", "1": "yes"}.get(stored, stored)
        is_number = kind in {None, "n"} and stored != ""
        return self._date(stored) if is_number and cell.get("s") in self.date_styles else stored

    def _date(self, stored: str) -> str:
        moment = self.epoch + timedelta(seconds=round(float(stored) * _DAY_S))
        is_day = moment.time() == time()
        return moment.strftime("%Y-%m-%d" if is_day else "%Y-%m-%dT%H:%M:%S")
