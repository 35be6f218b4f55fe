"""A part of a spreadsheet that would fill the memory is refused before it is unpacked."""

import io
import struct
import zipfile

import pytest

from pipelines.catalog.sources.tables import MAX_PART_BYTES, read_first_sheet
from tests.catalog.test_large_tables import CELL, MAIN, spreadsheet
from warehouse.records.errors import InvalidParameterError

SHEET = f'<worksheet xmlns="{MAIN}"><sheetData><row>{CELL.format("12345")}</row></sheetData>'


def padded(bytes_in_all: int) -> bytes:
    """A small table in a sheet of so many bytes, packed."""
    end = "</worksheet>"
    blank = " " * (bytes_in_all - len(SHEET) - len(end))
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(spreadsheet(SHEET + blank + end))) as plain,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as small_store,
    ):
        for name in plain.namelist():
            small_store.writestr(name, plain.read(name))
    return packed.getvalue()


def test_a_sheet_of_more_than_the_allowed_size_is_refused_by_its_name() -> None:
    data = padded(MAX_PART_BYTES + 1)
    assert len(data) < MAX_PART_BYTES / 10
    with pytest.raises(InvalidParameterError) as met:
        read_first_sheet(data, name="songs.xlsx")
    assert "xl/worksheets/sheet1.xml has more than 16 MB when unpacked" in met.value.detail


def test_a_part_that_is_larger_than_it_says_is_not_unpacked_further() -> None:
    data = bytearray(padded(MAX_PART_BYTES + 1))
    size, claimed = struct.pack("<I", MAX_PART_BYTES + 1), struct.pack("<I", 500)
    assert data.count(size) == 2  # before the part, and in the directory
    with pytest.raises(InvalidParameterError, match="Bad CRC-32"):
        read_first_sheet(bytes(data.replace(size, claimed)), name="songs.xlsx")


def test_all_parts_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.catalog.sources.tables.MAX_PARTS_BYTES", 2 << 20)
    with pytest.raises(InvalidParameterError, match="it has more than 2 MB when unpacked"):
        read_first_sheet(padded(3 << 20), name="songs.xlsx")


def test_a_sheet_of_exactly_the_allowed_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.catalog.sources.tables.MAX_PART_BYTES", 4096)
    assert list(read_first_sheet(padded(4096), name="songs.xlsx")) == [(1, ["12345"])]
    with pytest.raises(InvalidParameterError, match="when unpacked"):
        read_first_sheet(padded(4097), name="songs.xlsx")
