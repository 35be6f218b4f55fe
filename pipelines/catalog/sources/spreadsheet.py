"""Read the cells of the first sheet of an XLSX file as text.

An XLSX file is a ZIP archive of XML parts, of which four matter here; a library for the rest of
the format would be the only use of it. Formulas are not evaluated: their stored values are read.
A date is a number with a format: it is read as ISO 8601.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import IO
from xml.etree import ElementTree as ET

from warehouse.records.errors import InvalidParameterError

MAX_PART_BYTES = 16 * 1024 * 1024
MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_CELLS = 400_000
"""Filled cells of a table. Memory for a whole table is a hundred bytes a cell."""
MAX_CHARS = 8_000_000
MAX_DEPTH = 50
_MAX_FORMAT_CHARS = 1_000
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CONTENT = frozenset(_MAIN + name for name in ("c", "v", "is", "t", "r", "xf"))
"""Elements that are read with the one around them: cells with their row, formats in their list."""
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_LINKED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DATE_FORMATS = frozenset({"14", "15", "16", "17", "22"})
"""Numbers of the date formats that every workbook has without declaring them."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a format that are literal text, a colour or a language."""
_DAY_0 = datetime(1899, 12, 30, tzinfo=UTC)
_DAY_S = 86_400
_CELL = re.compile(r"([A-Z]{1,3})[0-9]+")


def limited_rows(rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield numbered rows as long as there are not more than a catalogue may have.

    Raises:
        ValueError: There are.
    """
    cells = chars = 0
    for count, (number, values) in enumerate(rows, 1):
        filled = [value for value in values if value]
        cells += len(filled)
        chars += sum(map(len, filled))
        if count > MAX_ROWS or cells > MAX_CELLS or chars > MAX_CHARS:
            raise ValueError(
                f"it has more than {MAX_ROWS:,} rows, {MAX_CELLS:,} filled cells "
                f"or {MAX_CHARS:,} characters"
            )
        yield number, values


def _counted[Item](items: Iterable[Item], limit: int, what: str) -> Iterator[Item]:
    for count, item in enumerate(items, 1):
        if count > limit:
            raise ValueError(f"it has more than {limit:,} {what}")
        yield item


def read_first_sheet(data: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of the first sheet with their numbers; blank rows may be absent.

    Raises:
        InvalidParameterError: The file is no XLSX file, or is too large when unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            cells = _CellReader(_shared_texts(archive), _date_styles(archive), _epoch(archive))
            found = _elements(archive, _first_sheet(archive), f"{_MAIN}row")
            rows = list(limited_rows(_rows(found, cells)))
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


def _elements(archive: zipfile.ZipFile, name: str, tag: str) -> Iterator[ET.Element]:
    """Yield the elements of a kind in one part, each only while it is looked at.

    Neither the size of the part, nor its depth, nor entities can exhaust the memory.
    """
    if archive.getinfo(name).file_size > MAX_PART_BYTES:
        raise ValueError(f"{name} has more than {MAX_PART_BYTES >> 20} MB when unpacked")
    open_elements: list[ET.Element] = []
    with archive.open(name) as packed:
        for event, element in ET.iterparse(_Declared(packed, name), ("start", "end")):  # noqa: S314 -- declarations are refused by `_Declared`
            if event == "start":
                open_elements.append(element)
                if len(open_elements) > MAX_DEPTH:
                    raise ValueError(f"{name} has more than {MAX_DEPTH} elements in each other")
                continue
            open_elements.pop()
            if element.tag == tag:
                yield element
            if element.tag in _CONTENT:
                continue  # read with the element around it
            element.clear()
            if open_elements:
                open_elements[-1].remove(element)


class _Declared:
    """A part as it is unpacked; raises where it declares a document type."""

    def __init__(self, packed: IO[bytes], name: str) -> None:
        self._packed = packed
        self._name = name
        self._before = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        text = self._packed.read(size)
        seen = self._before + text
        if b"<!DOCTYPE" in seen or b"<!ENTITY" in seen:  # no spreadsheet program writes one
            raise ValueError(f"{self._name} declares a document type")
        self._before = seen[-len("<!DOCTYPE") :]
        return text


def _first_sheet(archive: zipfile.ZipFile) -> str:
    sheets = _elements(archive, "xl/workbook.xml", f"{_MAIN}sheet")
    linked = next((sheet.get(_LINKED) for sheet in sheets), None)
    if linked is None:
        raise ValueError("it has no sheet")
    for relation in _elements(archive, "xl/_rels/workbook.xml.rels", _RELATION):
        if relation.get("Id") == linked:
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise ValueError("its sheet is missing")


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    items = _elements(archive, "xl/sharedStrings.xml", f"{_MAIN}si")
    return [_text(item) for item in _counted(items, MAX_CELLS, "texts")]


def _text(item: ET.Element) -> str:
    """Return the text of a cell, without the readings of Chinese or Japanese characters."""
    runs = [*item.findall(f"{_MAIN}t"), *item.findall(f"{_MAIN}r/{_MAIN}t")]
    return "".join(run.text or "" for run in runs)


def _date_styles(archive: zipfile.ZipFile) -> frozenset[str]:
    """Return the numbers of the cell styles that show a number as a date."""
    if "xl/styles.xml" not in archive.namelist():
        return frozenset()
    dates = set(_DATE_FORMATS)
    for form in _elements(archive, "xl/styles.xml", f"{_MAIN}numFmt"):
        code = _NOT_SHOWN.sub("", form.get("formatCode", "")[:_MAX_FORMAT_CHARS].lower())
        if "y" in code or "d" in code:
            dates.add(form.get("numFmtId", ""))
    for group in _elements(archive, "xl/styles.xml", f"{_MAIN}cellXfs"):
        cells = group.findall(f"{_MAIN}xf")
        return frozenset(str(at) for at, one in enumerate(cells) if one.get("numFmtId") in dates)
    return frozenset()


def _epoch(archive: zipfile.ZipFile) -> datetime:
    """Return day 0 of the workbook. Files of old Macs count from 1904."""
    settings = next(_elements(archive, "xl/workbook.xml", f"{_MAIN}workbookPr"), None)
    counts_from_1904 = settings is not None and settings.get("date1904") in {"1", "true"}
    return datetime(1904, 1, 1, tzinfo=UTC) if counts_from_1904 else _DAY_0


def _rows(rows: Iterator[ET.Element], cells: "_CellReader") -> Iterator[tuple[int, list[str]]]:
    number = 0
    for row in rows:
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
