"""Read the cells of the first sheet of an XLSX file as text.

An XLSX file is a ZIP archive of XML parts, of which three matter here; a library for the rest of
the format would be the only use of it. Formulas are not evaluated: their stored values are read.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from warehouse.records.errors import InvalidParameterError

MAX_PART_BYTES = 200 * 1024 * 1024
MAX_COLUMNS = 200
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINKED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL = re.compile(r"([A-Z]{1,3})[0-9]+")


def read_first_sheet(data: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of the first sheet with their numbers; blank rows may be absent.

    Raises:
        InvalidParameterError: The file is no XLSX file, or is too large when unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            shared = _shared_texts(archive)
            rows = list(_rows(_part(archive, _first_sheet(archive)), shared))
    except (zipfile.BadZipFile, KeyError, ET.ParseError, ValueError, IndexError) as error:
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


def _rows(sheet: ET.Element, shared: list[str]) -> Iterator[tuple[int, list[str]]]:
    number = 0
    for row in sheet.iterfind(f"{_MAIN}sheetData/{_MAIN}row"):
        number = int(row.get("r") or number + 1)
        values: list[str] = []
        for cell in row.iterfind(f"{_MAIN}c"):
            place = _column(cell.get("r"), default=len(values))
            if place < MAX_COLUMNS:
                values += [""] * (place - len(values))
                values.append(_value(cell, shared))
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


def _value(cell: ET.Element, shared: list[str]) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        inline = cell.find(f"{_MAIN}is")
        return "" if inline is None else _text(inline)
    stored = cell.findtext(f"{_MAIN}v") or ""
    if kind == "s":
        return shared[int(stored)]
    return {"0": "no", "1": "yes"}.get(stored, stored) if kind == "b" else stored
